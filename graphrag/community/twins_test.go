// SPDX-License-Identifier: Apache-2.0

package community

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Nodes 1 to 3 have edges of one weight to each other and the same ones to the rest, 4 and 5
// none to each other; 6 and 7 are twins but for the weight of an edge, 8 and 9 are too heavy for
// theirs, 12 has no edge.
func twinGraph(t *testing.T) *graph.Graph {
	t.Helper()
	var edges []graph.Edge
	join := func(u, v int32, w float64) { edges = append(edges, graph.Edge{From: u, To: v, Weight: w}) }
	for u := int32(1); u < 10; u++ {
		join(0, u, []float64{0, 2, 2, 2, 3, 3, 4, 5, 80, 80}[u])
		join(u, 10, 1)
	}
	join(1, 2, 3)
	join(1, 3, 3)
	join(2, 3, 3)
	join(6, 7, 9)
	join(8, 9, 2)
	join(11, 10, 50)
	g, err := graph.New(13, edges, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// folding returns a solver for small networks.
func folding(t *testing.T, gamma float64) *solver[float32] {
	s := &solver[float32]{ctx: t.Context(), gamma: gamma}
	s.reserve(40)
	return s
}

func TestTwinsAreFolded(t *testing.T) {
	g := twinGraph(t)
	about, err := surveyed(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	net, err := newNetwork[float32](t.Context(), g, about)
	if err != nil {
		t.Fatal(err)
	}
	folded, class, err := folding(t, 1/about.twice).fold(net, g)
	if err != nil {
		t.Fatal(err)
	}
	if want := []int32{0, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}; !slices.Equal(class, want) {
		t.Fatalf("classes %v, want %v", class, want)
	}
	for c := range int32(folded.n()) {
		weight, links := float32(0), make([]float32, folded.n())
		for u, of := range class {
			if of != c {
				continue
			}
			weight += net.weights[u]
			for _, a := range net.row(int32(u)) {
				links[class[a.to]] += a.w
			}
		}
		if folded.weights[c] != weight {
			t.Errorf("class %d weighs %v, want %v", c, folded.weights[c], weight)
		}
		links[c] = 0
		for _, a := range folded.row(c) {
			if links[a.to] != a.w {
				t.Errorf("classes %d and %d: %v, want %v", c, a.to, a.w, links[a.to])
			}
			links[a.to] = 0
		}
		if slices.Max(links) > 0 {
			t.Errorf("class %d lacks arcs: %v", c, links)
		}
	}
}
