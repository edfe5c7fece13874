// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

func newGraph(t testing.TB, n int, edges ...graph.Edge) *graph.Graph {
	t.Helper()
	g := check.Of(graph.New(n, edges, graph.Options{})).OK(t)
	return g
}

func TestUnusualGraphs(t *testing.T) {
	var star []graph.Edge
	for v := range int32(50) {
		star = append(star, graph.Edge{From: 0, To: v + 1, Weight: 1})
	}
	for name, c := range map[string]struct {
		g           *graph.Graph
		communities int
		quality     float64
	}{
		"empty":             {newGraph(t, 0), 0, 0},
		"one node":          {newGraph(t, 1), 1, 0},
		"no edges":          {newGraph(t, 5), 5, 0},
		"weightless edge":   {newGraph(t, 2, graph.Edge{From: 0, To: 1}), 2, 0},
		"one loop":          {newGraph(t, 2, graph.Edge{From: 0, To: 0, Weight: 2}), 2, 0},
		"one edge":          {newGraph(t, 2, graph.Edge{From: 0, To: 1, Weight: 3}), 1, 0},
		"edge and isolated": {newGraph(t, 3, graph.Edge{From: 0, To: 2, Weight: 3}), 2, 0},
		"two edges": {newGraph(t, 4, graph.Edge{From: 0, To: 2, Weight: 1}, graph.Edge{From: 1, To: 3, Weight: 1}),
			2, .5},
		"loops hold nodes apart": {newGraph(t, 2, graph.Edge{From: 0, To: 1, Weight: 1}, graph.Edge{From: 0, To: 0, Weight: 5}, graph.Edge{From: 1, To: 1, Weight: 5}),
			2, 20.0/22 - .5},
		"star": {newGraph(t, 51, star...), 1, 0},
		"tiny weights": {newGraph(t, 4, graph.Edge{From: 0, To: 2, Weight: 1e-200}, graph.Edge{From: 1, To: 3, Weight: 1e-200}),
			2, .5},
		"huge weights": {newGraph(t, 4, graph.Edge{From: 0, To: 2, Weight: 1e300}, graph.Edge{From: 1, To: 3, Weight: 1e300}),
			2, .5},
	} {
		t.Run(name, func(t *testing.T) {
			p := leiden(t, c.g, community.Options{})
			if p.Communities != c.communities || math.Abs(p.Quality-c.quality) > 1e-12 {
				t.Errorf("%d communities of quality %v, want %d of %v", p.Communities, p.Quality, c.communities, c.quality)
			}
			h := check.Of(community.HierarchicalLeiden(t.Context(), c.g, community.HierarchyOptions{MaxSize: 2})).OK(t)
			nodes := 0
			for _, c := range leaves(h) {
				nodes += len(c.Nodes)
			}
			check.True(t, nodes == c.g.N() && (h.Levels == 0) == (nodes == 0), "%d nodes in leaves of %d levels, want %d", nodes, h.Levels, c.g.N())
		})
	}
}

func TestExtremeWeights(t *testing.T) {
	for _, w := range []float64{1e308, 1e-310, math.SmallestNonzeroFloat64} {
		g := newGraph(t, 3, graph.Edge{From: 0, To: 1, Weight: w}, graph.Edge{From: 1, To: 2, Weight: w})
		check.Is(t, check.Err(community.Leiden(t.Context(), g, community.Options{})), graph.ErrEdge, "Leiden, %g", w)
		check.Is(t, check.Err(community.HierarchicalLeiden(t.Context(), g, community.HierarchyOptions{})), graph.ErrEdge, "Hierarchical, %g", w)
	}
}

func TestBadOptions(t *testing.T) {
	g := newGraph(t, 2, graph.Edge{From: 0, To: 1, Weight: 1})
	for want, o := range map[string]community.Options{
		"Resolution is -1":   {Resolution: -1},
		"Resolution is +Inf": {Resolution: math.Inf(1)},
		"Randomness is NaN":  {Randomness: math.NaN()},
		"MaxPasses is -1":    {MaxPasses: -1},
	} {
		_, err := community.Leiden(t.Context(), g, o)
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v, want …%s…", err, want)
	}
	_, err := community.HierarchicalLeiden(t.Context(), g, community.HierarchyOptions{MaxSize: 1, Options: community.Options{MaxPasses: -1, Resolution: -1}})
	list, ok := err.(interface{ Unwrap() []error })
	check.True(t, ok && len(list.Unwrap()) == 2, "not all problems are reported: %v", err)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g := graphtest.Karate().Graph()
	check.Is(t, check.Err(community.Leiden(ctx, g, community.Options{})), context.Canceled, "Leiden")
	check.Is(t, check.Err(community.HierarchicalLeiden(ctx, g, community.HierarchyOptions{})), context.Canceled, "Hierarchical")
}

// Weights may be of any size: greedy or random as the refinement may be in their
// units, the result is a good one.
func TestScaleOfWeights(t *testing.T) {
	for _, exponent := range []int{-600, -30, 30, 900} {
		l := graphtest.LFR300()
		for i := range l.Edges {
			l.Edges[i].Weight = math.Ldexp(1, exponent)
		}
		p := leiden(t, l.Graph(), community.Options{})
		check.True(t, p.Quality >= .60, "weights of 2^%d: modularity %v, want .60 or more", exponent, p.Quality)
	}
}
