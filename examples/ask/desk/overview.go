// SPDX-License-Identifier: Apache-2.0

package desk

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/folder"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// once makes one T for each state of the index. If a call is cancelled, the next one makes it.
func once[T any](ctx context.Context, d *Desk, make func(context.Context) (T, error)) (T, error) {
	d.mu.Lock()
	made := d.made
	d.mu.Unlock()
	return memo.Of(made, reflect.TypeFor[T](), func() (T, error) { return make(ctx) })
}

// overview has the number of files by kind, and for each field an example of a condition, "" if that is long.
type overview struct {
	Files  int               `json:"files"`
	Kinds  map[string]int    `json:"kinds"`
	Fields map[string]string `json:"fields"`
}

// Bounds of an overview: fields, and the bytes of a condition.
const maxFields, longExample = 1000, 80

// About returns an overview of the files, models and system for the page, as an object of JSON; with where,
// "files" counts the files that meet it. A field that no file has is an error that lists the fields. It calls
// no model and makes no index.
func (d *Desk) About(ctx context.Context, where *graphrag.Condition) (map[string]any, error) {
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
		model = text.OneLine(d.o.Settings.Model)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return map[string]any{
		"name": d.Title(), "docs": d.Docs(), "system": d.Name(), "model": model, "paid": d.Paid(), "graph": d.HasGraph(),
		"files": s.Files, "kinds": s.Kinds, "fields": s.Fields, "skipped": skipped, "read": d.checked.UTC().Truncate(time.Second),
	}, err
}

// Paid reports whether a question can cost calls of a model.
func (d *Desk) Paid() bool { return d.o.Settings.Paid() }

// list returns the files that meet a condition, in order.
func (d *Desk) list(where *graphrag.Condition) []string {
	ids, _ := d.folder.System.List(context.Background()) // in memory
	if where == nil {
		return ids
	}
	meets := where.Compile()
	return slices.DeleteFunc(ids, func(id string) bool { f, ok := d.fieldsOf(id); return !ok || !meets(f) })
}

// fieldsOf returns the fields of a file, if it is in the index and has text.
func (d *Desk) fieldsOf(id string) (graphrag.Fields, bool) {
	chunks, _, _ := d.folder.System.Get(context.Background(), id)
	if len(chunks) == 0 {
		return nil, false
	}
	return chunks[0].Fields, true
}

func (d *Desk) count(ctx context.Context) (overview, error) {
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

// example returns a condition that a value meets, "" if it is long.
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

// excerpt bounds the text before, in and after a quote, in bytes.
const excerpt = 4 << 10

// PDF opens a PDF file of the index that meets a condition.
func (d *Desk) PDF(file string, where *graphrag.Condition) (*os.File, error) {
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

// Excerpt returns the text around a place of a file, in bytes of its indexed text, see [Source]. It reads
// only the index.
func (d *Desk) Excerpt(file string, from, to int, where *graphrag.Condition) (Source, error) {
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
