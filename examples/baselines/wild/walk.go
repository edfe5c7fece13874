// SPDX-License-Identifier: Apache-2.0

package wild

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// damping is the chance to walk on from a page or name, and nameShare how many walkers
// begin at the names of the question for each that begins at a page: docs/systems.md
// has the plateau.
const (
	damping   = 0.85
	nameShare = 2
)

// walk leads from pages to pages by the names in them: personalised PageRank over
// names, facts and pages, from the pages that are like the question and from its names.
// That is the walk of HippoRAG 2 (arXiv 2502.14802), from better places.
type walk struct {
	graph  *kg.Graph
	view   *kg.View
	names  *rules.Extractor
	links  link.NameIndex
	solver *ppr.Solver
}

// walking leads from page to page by the names of a graph: nowhere where nothing is known of any.
func walking(ctx context.Context, k kit.Kit, g *kg.Graph) (retrieve.Follow, error) {
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

// follow implements the Follow of retrieve.PagesOptions.
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

// start are the names of the question, each by the name of the corpus that is most like
// it; one that stands on fewer pages says more.
func (w *walk) start(ctx context.Context, question string) ([]ppr.Seed, error) {
	var seeds []ppr.Seed
	sum := 0.0
	for _, name := range w.names.QuestionNames(question, w.known) {
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

// known tells whether the graph has an entity of a folded name.
func (w *walk) known(folded string) bool {
	_, ok := w.graph.Find(folded)
	return ok
}

// titledGraph is the graph of names and facts by rules, with either kit, of titled passages, each a
// document. Document i is passage i. The names that rules find depend on all texts, so it is made
// again at each change; a few passages are read.
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
