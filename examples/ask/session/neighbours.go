// SPDX-License-Identifier: Apache-2.0

package session

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/view"
)

// ErrNoGraph is wrapped by errors of a system without a graph, ErrUnknown by errors about a name that is not
// in the graph.
var (
	ErrNoGraph = errors.New("the system has no graph")
	ErrUnknown = errors.New("no such name in the graph")
)

// Fact is a relation of two things, with a place that states it.
type Fact struct {
	Head     string `json:"head"`
	Relation string `json:"relation"`
	Tail     string `json:"tail"`
	Path     string `json:"path,omitempty"`
	File     string `json:"file,omitempty"`
	Place    string `json:"place,omitempty"`
}

// Neighbourhood holds the facts of a graph around names.
type Neighbourhood struct {
	Names []string `json:"names"`
	Facts []Fact   `json:"facts"`
	More  int      `json:"more,omitempty"` // facts left out
}

// Neighbours returns at most limit facts around a name in the files that meet where, the most frequently
// stated first.
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

// Around returns facts around the names in a question.
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
		chunks, ok, _ := d.folder.System.Get(ctx, doc) // in memory
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
	const longestName = 5 // words of a question that are looked up as one name
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

// like returns up to five names of the graph that contain a name.
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

// facts returns the facts around entities.
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

// factPlace returns the first place in a document that names both things of a fact, or else one of them.
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

// HasGraph reports whether the system has a graph.
func (d *Session) HasGraph() bool { return d.folder.System.Graph() != nil }
