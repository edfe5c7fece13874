// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/passage"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name of the system in reports.
const Name = "wild"

// Options of the system. The zero value is the default recipe.
type Options struct {
	// Common.Cut.Size is how long each of K pieces may be where a question has no
	// budget of tokens. Pages are cut by Passage, and each is ranked once.
	kit.Common
	Passage passage.Options
	Pages   retrieve.PagesOptions
}

// whole is longer than any page.
const whole = 1 << 30

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	o.Pages.Count, o.Pages.Longest = k.Count, o.Cut.Size
	o.Cut = kit.Cut{Size: whole, Overlap: -1, KeepLinks: true}
	return kit.New(kit.Frame{
		Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding},
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			pages, err := passage.Cut(ctx, documents(c.Chunks), o.Passage)
			if err != nil {
				return nil, err
			}
			options := o.Pages
			if options.Like, err = like(ctx, c, pages); err != nil {
				return nil, err
			}
			return retrieve.NewPages(ctx, pages, options)
		},
	})
}

// documents are the pages as they came.
func documents(chunks []graphrag.Chunk) []graphrag.Document {
	docs := make([]graphrag.Document, len(chunks))
	for i, c := range chunks {
		docs[i] = graphrag.Document{ID: c.Doc, Title: c.Title, Text: c.Text}
	}
	return docs
}

// like compares questions with passages as the kit does, unless that is by words: these
// count already.
func like(ctx context.Context, c *kit.Corpus, pages []passage.Page) (retrieve.Texts, error) {
	var texts []string
	for i := range pages {
		texts = append(texts, retrieve.TitledTexts(pages[i].Passages())...)
	}
	found, err := c.Find(ctx, texts)
	if _, words := found.(*retrieve.Words); words || err != nil {
		return nil, err
	}
	return found, nil
}
