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

// damping is the probability of walking on from a page or name, nameShare the weight of the question's
// names relative to pages as starts: docs/systems.md has the plateau.
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

// walking returns the walk over a graph, nil for an empty graph.
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

// start links each name of the question to the most similar name of the corpus. Its weight is the
// similarity over the number of pages that name it.
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

// known reports whether the graph has an entity with a folded name.
func (w *walk) known(folded string) bool {
	_, ok := w.graph.Find(folded)
	return ok
}

// titledGraph returns the graph that rules extract from titled passages, each a document, with either
// kit. Document i is passage i. The names that rules find depend on all texts, so every change makes a
// new graph.
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
