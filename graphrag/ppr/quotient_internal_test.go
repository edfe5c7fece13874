// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
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
