// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

// Nodes 1 to 3 are joined by edges of one weight, 4 to 6 by none, 7 and 8 by another
// weight than they would need, and 9 has a loop.
func twinEdges() []graph.Edge {
	var edges []graph.Edge
	join := func(u, v int32, w float64) { edges = append(edges, graph.Edge{From: u, To: v, Weight: w}) }
	for u := int32(1); u < 10; u++ {
		join(0, u, []float64{0, 2, 2, 2, 3, 3, 3, 1, 5, 3}[u])
		join(u, 10, 1)
	}
	join(1, 2, 4)
	join(1, 3, 4)
	join(2, 3, 4)
	join(7, 8, 1)
	join(9, 9, 1)
	return edges
}

// Twins with different seeds have different values: those of the walk, step by step.
func TestTwinsAreToldApart(t *testing.T) {
	const d = .85
	g, err := graph.New(12, twinEdges(), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(g, Options{Damping: d, Tolerance: 1e-13})
	if err != nil {
		t.Fatal(err)
	}
	seeds := []Seed{{1, 1}, {2, 3}, {5, 2}, {5, 1}, {9, 1}}
	want := make([]float64, 12)
	for range 400 {
		next := make([]float64, 12)
		for _, seed := range seeds {
			next[seed.Node] += (1 - d) * seed.Weight / 8
		}
		for u := range int32(11) {
			lo, hi := g.Row(u)
			for a := lo; a < hi; a++ {
				v, w := g.Targets()[a], g.Weight(a)
				if v == u {
					w *= 2
				}
				next[v] += d * want[u] * w / g.Strength(u)
			}
		}
		want = next
	}
	one, err := s.Solve(t.Context(), seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	for u := range want {
		if math.Abs(one[u]-want[u]) > 1e-12 {
			t.Errorf("node %d: %v, want %v", u, one[u], want[u])
		}
	}
}

// A large graph is put in another order, which has every class once and brings
// neighbours together.
func TestReorder(t *testing.T) {
	g := graphtest.Planted(4000, 20_000, 4, .3, 1).Unweighted()
	first := make([]int32, g.N())
	for u := range first {
		first[u] = int32(u)
	}
	first[5] = 1
	order, err := reorder(t.Context(), g, first, g.N()-1)
	if err != nil {
		t.Fatal(err)
	}
	same := 0 // neighbours in the order that are of one block, a quarter as it comes
	for i, u := range order[1:] {
		if u%4 == order[i]%4 {
			same++
		}
	}
	if same < len(order)/2 {
		t.Errorf("%d of %d follow one of their block", same, len(order))
	}
	slices.Sort(order)
	if len(order) != g.N()-1 || len(slices.Compact(order)) != g.N()-1 || slices.Contains(order, 5) {
		t.Errorf("%d nodes, want each but 5 once", len(order))
	}
}
