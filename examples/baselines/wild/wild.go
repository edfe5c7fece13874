// SPDX-License-Identifier: Apache-2.0

// Package wild is a retriever for raw web pages: it ranks short passages, ranks pages by their best
// passage, and spends a budget of tokens on the best places. Indexing calls no model. A question for an
// overview takes one call for its aspects. docs/systems.md measures each part.
package wild

import (
	"context"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Name is the name of the system in reports.
const Name = "wild"

// Info describes the system.
var Info = kit.InfoOf(kit.Info{Name: Name, Costs: "1 for an overview"}, Options{}, New)

// Options of the system. The zero value is the default recipe.
type Options struct {
	// Common.Cut.Size is the largest size of the K pieces that are read for a question without a budget of
	// tokens. Pages are cut by Passage, and each page is ranked once.
	kit.Common
	Passage pages.CutOptions `source:"ours"`
	// Pages.Plan is by default a call of the answering model for overview questions; without a model, aspects
	// follow from words. A Planned below 0 switches the plan off.
	Pages pages.Options `source:"ours"`
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
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find", "Link"}, Flat: true, Problems: c.Err()}
	f.Extract.Extractor = o.Extract
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		x := &indexed{kit: k, cut: o.Passage, docs: btree.NewMap[string, graphrag.Chunk](0)}
		list, err := x.change(ctx, c.Chunks, nil)
		if err != nil {
			return nil, err
		}
		// A trained embedder compares questions with all tiles of the pages, or with the tiles of candidates as
		// they are needed. LSA is not used: pages are compared by words already (docs/systems.md).
		options := o.Pages
		if k.Trained && o.Pages.Among <= 0 {
			options.Like = c.Find
		} else if k.Trained {
			e, err := c.Embedder(ctx)
			if err != nil {
				return nil, err
			}
			options.Lazily = pages.NewLazy(e)
		}
		if k.AnswerModel != nil && options.Plan == nil && options.Planned >= 0 {
			if options.Plan, err = agent.AspectsByModel(k.AnswerModel); err != nil {
				return nil, err
			}
		}
		if options.Follow, err = x.follow(ctx, c.Graph); err == nil {
			x.Retriever, err = pages.New(ctx, list, options)
		}
		return x, err
	}
	return kit.New(f)
}

// indexed has the indexed pages. The cost of a change is proportional to the number of changed pages.
type indexed struct {
	*pages.Retriever
	kit      kit.Kit
	cut      pages.CutOptions
	docs     *btree.Map[string, graphrag.Chunk] // document ID → the document as one chunk
	passages int                                // number of documents that are titled passages
}

// change deletes and adds documents, and returns the pages of the added documents.
func (x *indexed) change(ctx context.Context, added, gone []graphrag.Chunk) ([]pages.Page, error) {
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
	return pages.Cut(ctx, docs, x.cut)
}

// follow returns the walk over the given graph, or else over the graph of a corpus of titled passages.
func (x *indexed) follow(ctx context.Context, g *kg.Graph) (_ pages.Follow, err error) {
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
	list, err := next.change(ctx, added, gone)
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
	next.Retriever, err = x.Retriever.Change(ctx, list, ids, follow)
	if next.Retriever == nil {
		return nil, err
	}
	return next, err
}

// damping is the probability that the walk continues from a page or name, nameShare the weight of the
// question's names relative to pages at the start. docs/systems.md shows the range of good values.
const (
	damping   = 0.85
	nameShare = 2
)

// walk is personalised PageRank over names, facts and pages, from the pages similar to the question and
// from its names, as in HippoRAG 2 (arXiv 2502.14802) with other starts.
type walk struct {
	graph  *kg.Graph
	view   *kg.View
	names  *rules.Extractor
	links  link.NameIndex
	solver *ppr.Solver
}

// walking returns the walk over a graph, nil if the graph is empty.
func walking(ctx context.Context, k kit.Kit, g *kg.Graph) (pages.Follow, error) {
	if g == nil || len(g.Entities) == 0 {
		return nil, nil
	}
	w := &walk{graph: g}
	keys := make([]string, len(g.Entities))
	for i, e := range g.Entities {
		keys[i] = e.Key
	}
	var err error
	if w.links, err = k.Link.Index(ctx, keys); err != nil {
		return nil, err
	}
	if w.names, err = rules.New(rules.Options{}); err != nil {
		return nil, err
	}
	if w.view, err = g.View(kg.ViewOptions{Passages: true, Mentioned: true}); err != nil {
		return nil, err
	}
	w.solver, err = ppr.New(w.view.Graph, ppr.Options{Damping: damping})
	return w.follow, err
}

// follow implements the option Follow of pages.Options.
func (w *walk) follow(ctx context.Context, question string, right []float64) ([]float64, error) {
	var seeds []ppr.Seed
	for p, r := range right {
		if r > 0 {
			seeds = append(seeds, ppr.Seed{Node: w.view.Passage(int32(p)), Weight: r})
		}
	}
	names, err := w.start(ctx, question)
	if err != nil {
		return nil, err
	}
	chance, err := w.solver.Solve(ctx, append(seeds, names...), nil)
	if err != nil {
		return nil, err
	}
	return chance[w.view.Entities:], nil
}

// start links each name of the question to the most similar name of the corpus, which weighs the similarity
// divided by the number of pages that name it.
func (w *walk) start(ctx context.Context, question string) ([]ppr.Seed, error) {
	var seeds []ppr.Seed
	sum := 0.0
	for _, name := range w.names.QuestionNames(question, w.graph.Known) {
		near, err := w.links.Nearest(ctx, w.graph.Key(name), 1)
		if err != nil {
			return nil, err
		}
		if len(near) == 0 || near[0].Score <= 0 {
			continue
		}
		weight := near[0].Score / float64(max(1, len(w.graph.EntityPassages(near[0].ID))))
		seeds = append(seeds, ppr.Seed{Node: near[0].ID, Weight: weight})
		sum += weight
	}
	for i := range seeds {
		seeds[i].Weight *= nameShare / sum
	}
	return seeds, nil
}

// titledGraph returns the graph that rules extract from titled passages, with either kit. Document i is passage
// i. The names that rules find depend on all texts, so every change makes a new graph.
func titledGraph(ctx context.Context, chunks []graphrag.Chunk) (*kg.Graph, error) {
	x, err := rules.New(rules.Options{})
	if err != nil {
		return nil, err
	}
	found, err := extract.Titled(extract.Linked(x), true).Extract(ctx, chunks)
	if err != nil {
		return nil, err
	}
	base, err := kg.NewBase(kg.Options{})
	if err != nil {
		return nil, err
	}
	if err := base.Insert(found...); err != nil {
		return nil, err
	}
	return base.Graph(ctx)
}
