// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
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

func TestTwins(t *testing.T) {
	g, err := graph.New(12, twinEdges(), graph.Options{})
	texttest.OK(t, err)
	c, err := g.Twins(t.Context())
	texttest.OK(t, err)
	if want := []int32{0, 1, 1, 1, 4, 4, 4, 7, 8, 9, 10, 11}; !slices.Equal(c.First, want) {
		t.Errorf("classes %v, want %v", c.First, want)
	}
	if c.Size[1] != 3 || c.Inside[1] != 4 || c.Size[4] != 3 || c.Inside[4] != 0 {
		t.Errorf("sizes %v, weights inside %v", c.Size, c.Inside)
	}
}
