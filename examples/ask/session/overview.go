// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/find"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/view"
	"github.com/wildgraph/wildgraph/internal/display"
)

// once computes a value of type T for each state of the index. If a call is cancelled, the next one computes
// it.
func once[T any](ctx context.Context, d *Session, make func(context.Context) (T, error)) (T, error) {
	d.mu.Lock()
	made := d.made
	d.mu.Unlock()
	return memo.Of(made, reflect.TypeFor[T](), func() (T, error) { return make(ctx) })
}

// overview has the number of files by kind, and by field an example of a condition, "" if every one is long.
type overview struct {
	Files  int               `json:"files"`
	Kinds  map[string]int    `json:"kinds"`
	Fields map[string]string `json:"fields"`
}

// maxFields is the largest number of fields in an overview, longExample the length of a long condition in
// bytes.
const maxFields, longExample = 1000, 80

// About returns an overview of files, models and system for the page, as a JSON object; "files" counts the
// files that meet where, if it is set. For a field that no file has, the error lists the fields. It calls no
// model and indexes nothing.
func (d *Session) About(ctx context.Context, where *graphrag.Condition) (map[string]any, error) {
	s, err := once(ctx, d, d.count)
	if where != nil && err == nil {
		for _, name := range where.Names() {
			if _, ok := s.Fields[name]; !ok && len(s.Fields) < maxFields {
				have := strings.Join(slices.Sorted(maps.Keys(s.Fields)), ", ")
				return nil, fmt.Errorf("no file has the field %.80q; the fields are %.1000s", name, have)
			}
		}
		s.Files = len(d.list(d.where(where)))
	}
	_, skipped := d.Files()
	model := ""
	if d.o.Settings.ByModel() {
		model = display.OneLine(d.o.Settings.Model)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return map[string]any{
		"name": d.Title(), "docs": d.Docs(), "system": d.Name(), "model": model, "paid": d.Paid(), "graph": d.folder.System.Graph() != nil,
		"files": s.Files, "kinds": s.Kinds, "fields": s.Fields, "skipped": skipped, "read": d.checked.UTC().Truncate(time.Second),
	}, err
}

// Paid reports whether answering a question may call a model.
func (d *Session) Paid() bool { return d.o.Settings.Paid() }

// list returns the names of the files that meet a condition, in order.
func (d *Session) list(where *graphrag.Condition) []string {
	ids, _ := d.folder.System.List(context.Background()) // cannot fail: the index is in memory
	if where == nil {
		return ids
	}
	meets := where.Compile()
	return slices.DeleteFunc(ids, func(id string) bool { f, ok := d.fieldsOf(id); return !ok || !meets(f) })
}

// fieldsOf returns the fields of a file, if it is in the index and has text.
func (d *Session) fieldsOf(id string) (graphrag.Fields, bool) {
	chunks, _, _ := d.folder.System.Get(context.Background(), id)
	if len(chunks) == 0 {
		return nil, false
	}
	return chunks[0].Fields, true
}

func (d *Session) count(ctx context.Context) (overview, error) {
	ids := d.list(d.o.Where)
	s := overview{len(ids), map[string]int{}, map[string]string{}}
	for _, id := range ids {
		if err := ctx.Err(); err != nil {
			return s, err
		}
		f, _ := d.fieldsOf(id)
		for _, name := range slices.Sorted(maps.Keys(f)) {
			if _, ok := s.Fields[name]; !ok && len(s.Fields) < maxFields {
				s.Fields[name] = example(name, f[name])
			}
		}
		if kind, ok := f[load.FieldKind].(string); ok {
			s.Kinds[kind]++
		}
	}
	return s, nil
}

// example returns a condition that a field with this value meets, "" if the condition is long.
func example(name string, v any) string {
	c := graphrag.Equal(name, v)
	switch list, _ := v.([]string); v.(type) {
	case []string:
		if len(list) == 0 {
			return ""
		}
		c = graphrag.Has(name, list[0])
	case float64, time.Time:
		c = graphrag.Between(name, v, nil)
	}
	if s := c.String(); len(s) <= longExample {
		return s
	}
	return ""
}

// excerpt is the largest length, in bytes, of a quote and of the text on each side of it.
const excerpt = 4 << 10

// PDF opens a file of the index that is a PDF and meets a condition.
func (d *Session) PDF(file string, where *graphrag.Condition) (*os.File, error) {
	fields, ok := d.fieldsOf(file)
	if both := d.where(where); !ok || both != nil && !both.Compile()(fields) || !strings.EqualFold(filepath.Ext(file), ".pdf") {
		return nil, fmt.Errorf("%.200q is not a PDF of the index, or does not meet the condition", file)
	}
	dir := d.o.Docs
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		dir = filepath.Dir(dir)
	}
	return os.OpenInRoot(dir, filepath.FromSlash(file))
}

// Excerpt returns the text around a byte range of a file's indexed text, see [Source]. It reads only the index.
func (d *Session) Excerpt(file string, from, to int, where *graphrag.Condition) (Source, error) {
	fields, ok := d.fieldsOf(file)
	f, err := d.folder.File(file)
	if both := d.where(where); err != nil || !ok || both != nil && !both.Compile()(fields) {
		return Source{}, fmt.Errorf("%.200q is not in the index, or does not meet the condition", file)
	}
	if n := len(f.Document.Text); from < 0 || to < from || to > n {
		return Source{}, fmt.Errorf("%.200q has %d bytes of text: want 0 ≤ start ≤ end ≤ %[2]d", file, n)
	}
	return d.source(folder.Source{Doc: file, Place: f.Place(from), From: from, To: min(to, from+excerpt)}, excerpt, "\n"), nil
}

// pages returns the texts of the indexed files that meet a condition, and their names by path.
func (d *Session) pages(ctx context.Context, where *graphrag.Condition) (*find.Pages, map[string]string, error) {
	where = d.where(where)
	meets := func(graphrag.Fields) bool { return true }
	if where != nil {
		if _, err := d.folder.System.GraphFor(ctx, where); err != nil { // an unknown field in the condition
			return nil, nil, err
		}
		meets = where.Compile()
	}
	var chunks []graphrag.Chunk
	names := make(map[string]string)
	ids, err := d.folder.System.List(ctx)
	for _, id := range ids {
		of, _, failed := d.folder.System.Get(ctx, id)
		if err = errors.Join(err, failed); len(of) > 0 && meets(of[0].Fields) {
			chunks = append(chunks, of...)
			names[id], names[d.path(id)] = id, id
		}
	}
	return find.New(chunks), names, err
}

// Find returns lines that match a pattern (RE2, case ignored), the number of all matching lines, and the number
// of files that have any.
func (d *Session) Find(ctx context.Context, pattern string, where *graphrag.Condition) (lines []Passage, matching, files int, err error) {
	const mostLines = 50 // largest number of lines in a result
	pages, _, err := d.pages(ctx, where)
	if err != nil {
		return nil, 0, 0, err
	}
	r, err := pages.Find(ctx, pattern, mostLines)
	var hits []graphrag.Hit
	for _, l := range r.Lines {
		hits = append(hits, graphrag.Hit{Chunk: l.Chunk})
	}
	return d.passages(hits), r.Matching, r.Pages, err
}

// Read returns the passage at an offset in a file, in bytes, then the one after it and the one before it.
func (d *Session) Read(ctx context.Context, path string, from int, where *graphrag.Condition) ([]Passage, error) {
	pages, names, err := d.pages(ctx, where)
	if err != nil {
		return nil, err
	}
	name, ok := names[path]
	if !ok {
		return nil, fmt.Errorf("%.200q is not a file of the folder", path)
	}
	var hits []graphrag.Hit
	read, _, err := pages.Read(name, pages.At(name, from))
	for _, c := range read {
		hits = append(hits, graphrag.Hit{Chunk: c})
	}
	return d.passages(hits), err
}

// ErrNoGraph is wrapped by errors of systems without a graph, ErrUnknown by errors about a name not in the
// graph.
var (
	ErrNoGraph = errors.New("the system has no graph")
	ErrUnknown = errors.New("no such name in the graph")
)

// Fact is a relation between two things, with a place in a file that states it.
type Fact struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
	Path     string `json:"path,omitempty"`
	File     string `json:"file,omitempty"`
	Place    string `json:"place,omitempty"`
}

// Neighbourhood holds the facts around some names of a graph.
type Neighbourhood struct {
	Names []string `json:"names"`
	Facts []Fact   `json:"facts"`
	More  int      `json:"more,omitempty"` // number of facts left out
}

// Neighbours returns at most limit facts around a name from the files that meet where, the most frequent first.
func (d *Session) Neighbours(ctx context.Context, name string, limit int, where *graphrag.Condition) (Neighbourhood, error) {
	g, err := d.graph(ctx, where)
	if err != nil {
		return Neighbourhood{}, err
	}
	e, ok := g.Find(name)
	if !ok {
		err := fmt.Errorf("%q: %w", name, ErrUnknown)
		if near := like(g, name); len(near) > 0 {
			err = fmt.Errorf("%w; there are %s", err, strings.Join(near, ", "))
		}
		return Neighbourhood{}, err
	}
	return d.facts(g, []int32{e}, limit), nil
}

// Around returns facts around the names that occur in a question.
func (d *Session) Around(ctx context.Context, q Query, limit int) (Neighbourhood, error) {
	g, err := d.graph(ctx, q.Where)
	if err != nil {
		return Neighbourhood{}, err
	}
	return d.facts(g, namedEntities(g, q.Question), limit), nil
}

// WriteGraph writes a page with the part of the graph that led to an answer.
func (d *Session) WriteGraph(ctx context.Context, w io.Writer, q Query) error {
	g, err := d.graph(ctx, q.Where)
	if err != nil {
		return err
	}
	a, err := d.folder.System.Answer(ctx, graphrag.Question{Text: q.Question, K: d.o.K, Where: d.where(q.Where)})
	if err != nil {
		return err
	}
	o := view.Options{Title: d.Title(), Asked: &view.Asked{Question: q.Question, Answer: a.Text, Found: a.Found}}
	o.Chunks = func(doc string) ([]graphrag.Chunk, bool) {
		chunks, ok, _ := d.folder.System.Get(ctx, doc) // cannot fail: the index is in memory
		return chunks, ok
	}
	if indexing(d.o) == "" {
		o.Note = "Names and facts are found by rules; -model NAME finds better ones"
	}
	v, err := view.New(ctx, g, o)
	if err != nil {
		return err
	}
	return v.WriteHTML(w)
}

func (d *Session) graph(ctx context.Context, where *graphrag.Condition) (*kg.Graph, error) {
	g, err := d.folder.System.GraphFor(ctx, d.where(where))
	if g != nil || err != nil {
		return g, err
	}
	return nil, fmt.Errorf("%s: %w: use a system with a graph, such as -system hipporag2", d.Name(), ErrNoGraph)
}

// namedEntities returns the entities that a text names, by the longest name at each place.
func namedEntities(g *kg.Graph, s string) []int32 {
	const longestName = 5 // largest number of words of a name
	words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t\n,.?!;:\"()“”", r) })
	var out []int32
	for i := 0; i < len(words); i++ {
		for n := min(longestName, len(words)-i); n > 0; n-- {
			e, ok := g.Find(strings.Join(words[i:i+n], " "))
			if !ok {
				continue
			}
			if !slices.Contains(out, e) {
				out = append(out, e)
			}
			i += n - 1
			break
		}
	}
	return out
}

// like returns up to five names of the graph that contain the given name.
func like(g *kg.Graph, name string) (out []string) {
	key := g.Key(name)
	for _, e := range g.Entities {
		if len(key) > 2 && strings.Contains(e.Key, key) {
			if out = append(out, e.Name); len(out) == 5 {
				break
			}
		}
	}
	return out
}

// facts returns the facts around some entities.
func (d *Session) facts(g *kg.Graph, entities []int32, limit int) Neighbourhood {
	n := Neighbourhood{Names: []string{}, Facts: []Fact{}}
	var relations []int32
	for _, e := range entities {
		n.Names = append(n.Names, g.Entities[e].Name)
		for _, p := range g.EntityRelations(e) {
			if !slices.Contains(relations, p.ID) {
				relations = append(relations, p.ID)
			}
		}
	}
	slices.SortStableFunc(relations, func(a, b int32) int { return g.Relations[b].Count - g.Relations[a].Count })
	for _, r := range relations[:min(limit, len(relations))] {
		t := g.Triple(r)
		fact := Fact{Head: t.Head, Relation: t.Relation, Tail: t.Tail}
		if at := g.RelationPassages(r); len(at) > 0 {
			fact.File = g.Passages[at[0].ID].Doc
			fact.Path, fact.Place = d.path(fact.File), d.factPlace(fact.File, t)
		}
		n.Facts = append(n.Facts, fact)
	}
	n.More = len(relations) - len(n.Facts)
	return n
}

// factPlace returns the first line of a document that names both things of a fact, or else one of them.
func (d *Session) factPlace(doc string, t graphrag.Triple) string {
	f, err := d.folder.File(doc)
	if err != nil {
		return "1"
	}
	text, at, best := f.Document.Text, 0, -1
	for line := range strings.Lines(text) {
		names := 0
		for _, name := range []string{t.Head, t.Tail} {
			if strings.Contains(strings.ToLower(line), strings.ToLower(name)) {
				names++
			}
		}
		if names == 2 {
			return f.Place(at)
		} else if names == 1 && best < 0 {
			best = at
		}
		at += len(line)
	}
	return f.Place(max(best, 0))
}
