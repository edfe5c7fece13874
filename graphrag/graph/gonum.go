// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"

	"gonum.org/v1/gonum/graph/simple"
)

// Gonum returns a copy of the graph for gonum's algorithms and writers. Node IDs are the
// same; loops, which gonum's simple graphs have not, are left out.
func (g *Graph) Gonum() *simple.WeightedUndirectedGraph {
	out := simple.NewWeightedUndirectedGraph(0, math.Inf(1))
	for u := range g.N() {
		out.AddNode(simple.Node(u))
	}
	for e := range g.Edges() {
		if e.From != e.To {
			out.SetWeightedEdge(out.NewWeightedEdge(simple.Node(e.From), simple.Node(e.To), e.Weight))
		}
	}
	return out
}
