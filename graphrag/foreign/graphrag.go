// SPDX-License-Identifier: Apache-2.0

package foreign

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// ReadGraphRAG reads the output folder of Microsoft's GraphRAG, of version 0.3 to 3:
// documents, text_units, entities and relationships, and communities with their reports
// where they are. A relation has no label there; its description says what it is.
func ReadGraphRAG(fsys fs.FS) (*Index, error) {
	b := newBuilder("the output of GraphRAG")
	titles := make(map[string]string)
	entities := make(map[string]string) // ID → name
	read := func(name string, columns []string, take func(row) error) error {
		if err := table(fsys, name, columns, take); err != nil {
			return fmt.Errorf("foreign: %w", err)
		}
		return nil
	}
	err := read("documents", []string{"id", "title"}, func(r row) error {
		titles[r.text("id")] = r.text("title")
		return nil
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	steps := []func() error{
		func() error {
			return read("text_units", []string{"id", "text", "document_ids", "document_id"}, func(r row) error {
				d := graphrag.Document{ID: r.text("id"), Text: r.text("text"), Source: r.text("document_id", "document_ids")}
				d.Title = titles[d.Source]
				return b.unit(d)
			})
		},
		func() error {
			return read("entities", []string{"id", "title", "name", "type", "description", "text_unit_ids"}, func(r row) error {
				name := r.text("title", "name")
				entities[r.text("id")] = name
				return b.entity(kg.Mention{Name: name, Type: r.text("type"), Description: r.text("description")}, r.texts("text_unit_ids"))
			})
		},
		func() error {
			return read("relationships", []string{"source", "target", "description", "weight", "text_unit_ids"}, func(r row) error {
				return b.relation(kg.Fact{
					Triple:      graphrag.Triple{Head: r.text("source"), Tail: r.text("target")},
					Description: r.text("description"), Weight: r.number("weight"),
				}, r.texts("text_unit_ids"))
			})
		},
		func() error { return b.communities(read, entities) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return b.index()
}

// communities reads groups and reports; without the files there are none.
func (b *builder) communities(read func(string, []string, func(row) error) error, entities map[string]string) error {
	at := make(map[int]int) // number → place
	err := read("communities", []string{"community", "id", "level", "title", "entity_ids"}, func(r row) error {
		c := Community{ID: int(r.number("community")), Level: int(r.number("level")), Title: r.text("title")}
		for _, id := range r.texts("entity_ids") {
			if name := entities[id]; name != "" {
				c.EntityKeys = append(c.EntityKeys, name)
			}
		}
		if _, twice := at[c.ID]; twice {
			return fmt.Errorf("%w: two communities are number %d", ErrFormat, c.ID)
		}
		slices.Sort(c.EntityKeys)
		at[c.ID] = len(b.Communities)
		b.Communities = append(b.Communities, c)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	err = read("community_reports", []string{"community", "title", "summary", "full_content", "rank"}, func(r row) error {
		i, ok := at[int(r.number("community"))]
		if !ok {
			b.missing["reports"]++
			return nil
		}
		c := &b.Communities[i]
		c.Title, c.Summary, c.Report, c.Rank = r.text("title"), r.text("summary"), r.text("full_content"), r.number("rank")
		return nil
	})
	slices.SortFunc(b.Communities, func(x, y Community) int { return x.ID - y.ID })
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
