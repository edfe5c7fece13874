// SPDX-License-Identifier: Apache-2.0

// Package graphtest holds graphs to test and measure graph algorithms on:
// small ones with known properties, and recipes for large ones. The same recipe
// with the same seed gives the same edges on every machine.
package graphtest

import "github.com/wildgraph/wildgraph/graphrag/graph"

// List is a list of edges over the nodes 0..N-1.
type List struct {
	N     int
	Edges []graph.Edge
}

// Graph builds the graph of the list with weights of the given precision. It
// panics if an edge is unusable, which no recipe of this package makes.
func (l List) Graph(p graph.Precision) *graph.Graph {
	g, err := graph.New(l.N, l.Edges, graph.Options{Precision: p})
	if err != nil {
		panic(err)
	}
	return g
}
