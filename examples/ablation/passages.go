// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/passage"
)

// onPassages are systems over what wild reads: the clean passages that cover each page
// ([passage.Page.Tiles]) are their documents, and of their ranking one passage of a page is
// read, as far as the budget goes. Their own ways to choose evidence are left out.
func onPassages(k kit.Kit, names []string) ([]spender, error) {
	var out []spender
	for _, name := range names {
		s, ok := all.Find(name)
		if !ok {
			return nil, fmt.Errorf("there is no system %q", name)
		}
		out = append(out, spender{name + " on the passages", func(ctx context.Context, docs []graphrag.Document) (graphrag.Retriever, error) {
			pages, err := passage.Cut(ctx, docs, passage.Options{})
			if err != nil {
				return nil, err
			}
			system, err := s.New(k, kit.Common{Cut: kit.Cut{KeepLinks: true}})
			if err != nil {
				return nil, err
			}
			if _, err := system.Index(ctx, sequence(tiles(pages))); err != nil {
				return nil, err
			}
			return onePerPage(byPage{system})
		}})
	}
	return out, nil
}

// tiles are the tiles of pages as documents.
func tiles(pages []passage.Page) (docs []graphrag.Document) {
	for i := range pages {
		for _, first := range pages[i].Tiles() {
			c := pages[i].Chunk(first, pages[i].Ends[first])
			docs = append(docs, graphrag.Document{ID: c.ID, Title: c.Title, Text: c.Text})
		}
	}
	return docs
}

// byPage ranks passages as those of their pages again.
type byPage struct{ r graphrag.Retriever }

func (b byPage) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	found, err := b.r.Retrieve(ctx, q)
	found.Evidence, found.Derived = nil, nil
	for i := range found.Ranked {
		c := &found.Ranked[i].Chunk
		c.Doc = c.Doc[:max(0, strings.LastIndexByte(c.Doc, '#'))]
	}
	return found, err
}
