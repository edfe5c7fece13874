// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name of the system in reports.
const Name = "wild"

// Options of the system. The zero value is the default recipe.
type Options struct {
	// Common.Cut.Size bounds each of K pieces for a question without a budget of tokens. Pages are
	// cut by Passage, and each is ranked once.
	kit.Common
	Passage chunk.PageOptions `source:"ours"`
	// Pages.Plan is by default a call of the answering model for an overview; without a model,
	// aspects follow from words. Planned below 0 switches the plan off.
	Pages retrieve.PagesOptions `source:"ours"`
	// Extract, when set, finds the names and facts that link pages. By default rules find them in a
	// corpus of titled passages, and other pages are not linked.
	Extract extract.Extractor
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	var c kit.Checks
	c.Want(o.Cut.Splitter == nil, "Cut.Splitter", "set", "none: wild cuts pages by its own rule")
	o.Pages.Count, o.Pages.Longest = k.Count, o.Cut.Size
	o.Cut = kit.Cut{Size: 1 << 30, Overlap: -1, KeepLinks: true}
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Linking}, Flat: true, Problems: c.Err()}
	f.Extract.Extractor = o.Extract
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		x := &indexed{kit: k, cut: o.Passage, docs: btree.NewMap[string, graphrag.Chunk](0)}
		pages, err := x.change(ctx, c.Chunks, nil)
		if err != nil {
			return nil, err
		}
		options := o.Pages
		if err = like(ctx, k, c, &options); err != nil {
			return nil, err
		}
		if k.AnswerModel != nil && options.Plan == nil && options.Planned >= 0 {
			if options.Plan, err = agent.AspectsByModel(k.AnswerModel); err != nil {
				return nil, err
			}
		}
		if options.Follow, err = x.follow(ctx, c.Graph); err == nil {
			x.Pages, err = retrieve.NewPages(ctx, pages, options)
		}
		return x, err
	}
	return kit.New(f)
}

// like compares questions with tiles of the pages by a trained embedder: all tiles, or lazily the
// tiles of candidates. Pages are compared by words already, and LSA adds nothing (docs/systems.md).
func like(ctx context.Context, k kit.Kit, c *kit.Corpus, o *retrieve.PagesOptions) error {
	if !k.Trained {
		return nil
	}
	if o.Among <= 0 {
		o.Like = c.Find
		return nil
	}
	e, err := c.Embedder(ctx)
	if err == nil {
		o.Lazily = retrieve.NewLazy(e)
	}
	return err
}

// indexed contains the pages. The cost of a change is proportional to the changed pages.
type indexed struct {
	*retrieve.Pages
	kit      kit.Kit
	cut      chunk.PageOptions
	docs     *btree.Map[string, graphrag.Chunk] // documents, of one chunk each, by its ID
	passages int                                // the number of titled passages among them
}

// change replaces documents, and returns the pages of the added ones.
func (x *indexed) change(ctx context.Context, added, gone []graphrag.Chunk) ([]chunk.Page, error) {
	for _, c := range gone {
		if x.docs.Delete(c.ID); extract.TitledPassages([]graphrag.Chunk{c}) {
			x.passages--
		}
	}
	docs := make([]graphrag.Document, len(added))
	for i, c := range added {
		if x.docs.Set(c.ID, c); extract.TitledPassages(added[i : i+1]) {
			x.passages++
		}
		docs[i] = graphrag.Document{ID: c.Doc, Title: c.Title, Text: c.Text, Fields: c.Fields}
	}
	return chunk.Pages(ctx, docs, x.cut)
}

// follow returns the walk over a graph; by default over the graph of a corpus of titled passages.
func (x *indexed) follow(ctx context.Context, g *kg.Graph) (_ retrieve.Follow, err error) {
	if g == nil && extract.MostlyTitled(x.passages, x.docs.Len()) {
		g, err = titledGraph(ctx, x.docs.Values())
	}
	if err != nil {
		return nil, err
	}
	return walking(ctx, x.kit, g)
}

// Update implements [retrieve.Updater].
func (x *indexed) Update(ctx context.Context, added, gone []graphrag.Chunk) (retrieve.Updater, error) {
	next := &indexed{kit: x.kit, cut: x.cut, docs: x.docs.Copy(), passages: x.passages}
	pages, err := next.change(ctx, added, gone)
	if err != nil {
		return nil, err
	}
	follow, err := next.follow(ctx, nil)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(gone))
	for i, c := range gone {
		ids[i] = c.Doc
	}
	next.Pages, err = x.Pages.Change(ctx, pages, ids, follow)
	if next.Pages == nil {
		return nil, err
	}
	return next, err
}
