// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"math"
	"slices"

	gonum "gonum.org/v1/gonum/graph"
	"gonum.org/v1/gonum/graph/iterator"
	"gonum.org/v1/gonum/graph/simple"
)

// Gonum is a graph as gonum sees one, for its algorithms. Node IDs are the same.
// It copies nothing.
type Gonum struct{ g *Graph }

var _ gonum.WeightedUndirected = Gonum{}

// Gonum returns a view of g that gonum's algorithms take.
func (g *Graph) Gonum() Gonum { return Gonum{g} }

func (v Gonum) has(id int64) bool { return id >= 0 && id < int64(v.g.N()) }

// arc returns the position of an arc.
func (v Gonum) arc(x, y int64) (int64, bool) {
	if !v.has(x) || !v.has(y) {
		return 0, false
	}
	at, ok := slices.BinarySearch(v.g.Neighbors(int32(x)), int32(y))
	return v.g.offsets[x] + int64(at), ok
}

// Node returns the node with the given ID, or nil.
func (v Gonum) Node(id int64) gonum.Node {
	if !v.has(id) {
		return nil
	}
	return simple.Node(id)
}

// Nodes returns all nodes, ascending.
func (v Gonum) Nodes() gonum.Nodes {
	if v.g.N() == 0 {
		return gonum.Empty
	}
	return iterator.NewImplicitNodes(0, v.g.N(), func(id int) gonum.Node { return simple.Node(id) })
}

// From returns the neighbours of a node, ascending.
func (v Gonum) From(id int64) gonum.Nodes {
	if !v.has(id) || len(v.g.Neighbors(int32(id))) == 0 {
		return gonum.Empty
	}
	row := v.g.Neighbors(int32(id))
	return iterator.NewImplicitNodes(0, len(row), func(i int) gonum.Node { return simple.Node(row[i]) })
}

// HasEdgeBetween reports whether two nodes are joined by an edge.
func (v Gonum) HasEdgeBetween(x, y int64) bool {
	_, ok := v.arc(x, y)
	return ok
}

// Edge returns the edge from u to v, or nil.
func (v Gonum) Edge(x, y int64) gonum.Edge {
	if e := v.WeightedEdge(x, y); e != nil {
		return e
	}
	return nil
}

// EdgeBetween is [Gonum.Edge].
func (v Gonum) EdgeBetween(x, y int64) gonum.Edge { return v.Edge(x, y) }

// WeightedEdge returns the edge from u to v with its weight, or nil.
func (v Gonum) WeightedEdge(x, y int64) gonum.WeightedEdge {
	at, ok := v.arc(x, y)
	if !ok {
		return nil
	}
	return simple.WeightedEdge{F: simple.Node(x), T: simple.Node(y), W: v.g.Weight(at)}
}

// WeightedEdgeBetween is [Gonum.WeightedEdge].
func (v Gonum) WeightedEdgeBetween(x, y int64) gonum.WeightedEdge { return v.WeightedEdge(x, y) }

// Weight returns the weight of the edge between x and y. Without an edge it is 0
// and true for a node with itself, infinite and false for others.
func (v Gonum) Weight(x, y int64) (w float64, ok bool) {
	if at, ok := v.arc(x, y); ok {
		return v.g.Weight(at), true
	}
	if x == y && v.has(x) {
		return 0, true
	}
	return math.Inf(1), false
}
