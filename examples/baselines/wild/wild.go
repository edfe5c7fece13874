// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name of the system in reports.
const Name = "wild"

// Options of the system. The zero value is the default recipe.
type Options struct {
	// Common.Cut.Size is how long each of K pieces may be where a question has no
	// budget of tokens. Pages are cut by Passage, and each is ranked once.
	kit.Common
	Passage chunk.PageOptions
	// Pages.Plan is that of a kit with a model, which is asked once for an overview;
	// without one aspects are those of the words. Planned below 0 asks for no plan.
	Pages retrieve.PagesOptions
	// Extract, when set, finds the names and facts by which pages lead to each other.
	// Without it rules do, where the corpus is one of titled passages; elsewhere pages
	// lead nowhere.
	Extract extract.Extractor
}

// whole is longer than any page.
const whole = 1 << 30

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Want(o.Cut.Splitter == nil, "Cut.Splitter", "set", "none: wild cuts pages by its own rule")
	o.Pages.Count, o.Pages.Longest = k.Count, o.Cut.Size
	o.Cut = kit.Cut{Size: whole, Overlap: -1, KeepLinks: true}
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Linking}, Problems: c.Err()}
	f.Extract.Extractor = o.Extract
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		pages, err := chunk.Pages(ctx, documents(c.Chunks), o.Passage)
		if err != nil {
			return nil, err
		}
		options := o.Pages
		if options.Like, options.Some, err = like(ctx, k, c, pages, o.Pages.Among > 0); err != nil {
			return nil, err
		}
		if k.AnswerModel != nil && options.Plan == nil && options.Planned >= 0 {
			if options.Plan, err = agent.AspectsByModel(k.AnswerModel); err != nil {
				return nil, err
			}
		}
		g := c.Graph
		if g == nil {
			if g, err = titledGraph(ctx, c.Chunks); err != nil {
				return nil, err
			}
		}
		w, err := newWalk(ctx, k, g)
		if err != nil {
			return nil, err
		}
		if w != nil {
			options.Follow = w.follow
		}
		return retrieve.NewPages(ctx, pages, options)
	}
	return kit.New(f)
}

// documents are the pages as they came.
func documents(chunks []graphrag.Chunk) []graphrag.Document {
	docs := make([]graphrag.Document, len(chunks))
	for i, c := range chunks {
		docs[i] = graphrag.Document{ID: c.Doc, Title: c.Title, Text: c.Text, Fields: c.Fields}
	}
	return docs
}

// like compares questions with tiles of the pages by a trained embedder, all of them or, lazily, those
// that are asked for. By words they are compared already, and LSA knows no more than these
// (docs/systems.md).
func like(ctx context.Context, k kit.Kit, c *kit.Corpus, pages []chunk.Page, lazily bool) (retrieve.Texts, func(context.Context, string, []int32) ([]float64, error), error) {
	if !k.Trained {
		return nil, nil, nil
	}
	var tiles []graphrag.Chunk
	for i := range pages {
		for _, first := range pages[i].Tiles() {
			tiles = append(tiles, pages[i].Chunk(first, pages[i].Ends[first]))
		}
	}
	if !lazily {
		all, err := c.Find(ctx, retrieve.TitledTexts(tiles))
		return all, nil, err
	}
	e, err := c.Embedder(ctx)
	if err != nil {
		return nil, nil, err
	}
	return nil, retrieve.NewLazy(e, retrieve.TitledTexts(tiles)).Scores, nil
}
