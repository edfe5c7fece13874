// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
)

// The kernels that solve rows give the bits of plain Go, for rows of any length.
func TestKernels(t *testing.T) {
	if !eight {
		t.Skip("the processor has no such kernels")
	}
	defer func() { eight = true }()
	for name, o := range map[string]graph.Options{"no weights": {Unweighted: true}, "float32": {}} {
		t.Run(name, func(t *testing.T) {
			g := ragged(t, o)
			resets := make([][]Seed, 19)
			for i := range resets {
				resets[i] = []Seed{{Node: int32(i), Weight: 2}, {Node: int32(i * i), Weight: 1 + float64(i)}}
			}
			solve := func() [][]float64 {
				s, err := New(g, Options{})
				texttest.OK(t, err)
				var out [][]float64
				for _, seeds := range resets {
					x, err := s.Solve(t.Context(), seeds, nil)
					texttest.OK(t, err)
					out = append(out, x)
				}
				return out
			}
			eight = true
			got := solve()
			eight = false
			for i, want := range solve() {
				if !slices.Equal(got[i], want) {
					t.Errorf("solution %d has other bits than plain Go's", i)
				}
			}
		})
	}
}

// ragged is a graph whose rows are of 1 to 600 arcs, with weights that a float32 holds.
func ragged(t *testing.T, o graph.Options) *graph.Graph {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 700
	var edges []graph.Edge
	for u := range n {
		for range 1 + u/60 {
			edges = append(edges, graph.Edge{From: int32(u), To: r.Int32N(n), Weight: math.Round(64*r.ExpFloat64()) / 64})
		}
	}
	for v := range 600 {
		edges = append(edges, graph.Edge{From: 5, To: int32(v), Weight: 1})
	}
	g, err := graph.New(n, edges, o)
	texttest.OK(t, err)
	return g
}
