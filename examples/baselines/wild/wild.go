// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

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
	// Common.Cut.Size is how long each of K pieces may be where a question has no
	// budget of tokens. Pages are cut by Passage, and each is ranked once.
	kit.Common
	Passage chunk.PageOptions `source:"ours"`
	// Pages.Plan is that of a kit with a model, which is asked once for an overview;
	// without one aspects are those of the words. Planned below 0 asks for no plan.
	Pages retrieve.PagesOptions `source:"ours"`
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
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Linking}, Flat: true, Problems: c.Err()}
	f.Extract.Extractor = o.Extract
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		site, pages, err := chunk.NewSite(ctx, documents(c.Chunks), o.Passage)
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
		x := &indexed{kit: k, site: site}
		x.count(c.Chunks, 1)
		if options.Follow, err = x.follow(ctx, c.Graph); err == nil {
			x.Pages, err = retrieve.NewPages(ctx, pages, options)
		}
		return x, err
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

// indexed is the pages, which change at the cost of what changes.
type indexed struct {
	*retrieve.Pages
	kit            kit.Kit
	site           *chunk.Site
	docs, passages int // documents, and those that are titled passages
}

// count counts documents, of one chunk each, or takes them from the counts.
func (x *indexed) count(chunks []graphrag.Chunk, sign int) {
	for i := range chunks {
		x.docs += sign
		if extract.TitledPassages(chunks[i : i+1]) {
			x.passages += sign
		}
	}
}

// titled reports whether the corpus is one of titled passages, which lead to each other by the
// names in them.
func (x *indexed) titled() bool { return extract.MostlyTitled(x.passages, x.docs) }

// follow leads from page to page by a graph, of titled passages by their own.
func (x *indexed) follow(ctx context.Context, g *kg.Graph) (_ retrieve.Follow, err error) {
	if g == nil && x.titled() {
		g, err = titledGraph(ctx, x.site.Documents())
	}
	if err != nil {
		return nil, err
	}
	return walking(ctx, x.kit, g)
}

// Update implements [retrieve.Updater].
func (x *indexed) Update(ctx context.Context, added, gone []graphrag.Chunk) (retrieve.Updater, error) {
	next := &indexed{kit: x.kit, docs: x.docs, passages: x.passages}
	next.count(gone, -1)
	next.count(added, 1)
	ids := make([]string, len(gone))
	for i, c := range gone {
		ids[i] = c.Doc
	}
	site, pages, err := x.site.Change(ctx, documents(added), ids)
	if err != nil {
		return nil, err
	}
	next.site = site
	follow, err := next.follow(ctx, nil)
	if err != nil {
		return nil, err
	}
	next.Pages, err = x.Pages.Change(ctx, pages, ids, follow)
	if next.Pages == nil {
		return nil, err
	}
	return next, err
}
