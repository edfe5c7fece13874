// SPDX-License-Identifier: Apache-2.0

// Package graphtest holds graphs to test and measure graph algorithms on: small ones with known properties,
// and recipes for large ones. The same recipe with the same seed gives the same edges on every machine.
package graphtest

import "github.com/wildgraph/wildgraph/graphrag/graph"

// List is a list of edges over the nodes 0..N-1.
type List struct {
	N     int
	Edges []graph.Edge
}

// Graph builds the graph of the list. It panics if an edge is unusable, which no recipe of this package makes.
func (l List) Graph() *graph.Graph { return l.build(graph.Options{}) }

// Unweighted is Graph without weights.
func (l List) Unweighted() *graph.Graph { return l.build(graph.Options{Unweighted: true}) }

func (l List) build(o graph.Options) *graph.Graph {
	g, err := graph.New(l.N, l.Edges, o)
	if err != nil {
		panic(err)
	}
	return g
}
