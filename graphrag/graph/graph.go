// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"iter"
	"slices"
)

// Graph is an undirected graph in compressed sparse rows. Nodes are 0..N()-1. The
// rows of both nodes contain an edge, the row of its node contains a self-loop
// once; rows are sorted by target, each target once. A Graph is immutable and safe
// for concurrent use. The zero value has no nodes.
type Graph struct {
	offsets []int64
	targets []int32
	weights []float64 // nil means that every weight is 1
}

// N returns the number of nodes.
func (g *Graph) N() int { return max(0, len(g.offsets)-1) }

// Arcs returns the number of entries of all rows: two for an edge, one for a
// self-loop.
func (g *Graph) Arcs() int64 { return int64(len(g.targets)) }

// Row returns the range of u's arcs: g.Targets()[lo:hi].
func (g *Graph) Row(u int32) (lo, hi int64) { return g.offsets[u], g.offsets[u+1] }

// Neighbors returns the targets of u's arcs in ascending order, u itself among
// them if it has a self-loop. The slice must not be changed.
func (g *Graph) Neighbors(u int32) []int32 { return g.targets[g.offsets[u]:g.offsets[u+1]] }

// Weight returns the weight of an arc.
func (g *Graph) Weight(arc int64) float64 {
	if g.weights == nil {
		return 1
	}
	return g.weights[arc]
}

// Offsets returns the N()+1 row boundaries. The slice must not be changed.
func (g *Graph) Offsets() []int64 { return g.offsets }

// Targets returns the targets of all arcs, row after row. The slice must not be
// changed.
func (g *Graph) Targets() []int32 { return g.targets }

// Weights returns the weights of all arcs, nil if all are 1. The slice must not be
// changed.
func (g *Graph) Weights() []float64 { return g.weights }

// Degree returns the number of edge ends at u; a self-loop has both of its ends
// there and counts 2.
func (g *Graph) Degree(u int32) int {
	row := g.Neighbors(u)
	if _, loop := slices.BinarySearch(row, u); loop {
		return len(row) + 1
	}
	return len(row)
}

// Strength returns the sum of the weights of the edge ends at u; a self-loop
// counts twice.
func (g *Graph) Strength(u int32) float64 {
	sum := 0.0
	lo, hi := g.Row(u)
	for a := lo; a < hi; a++ {
		w := g.Weight(a)
		if g.targets[a] == u {
			w *= 2
		}
		sum += w
	}
	return sum
}

// Stats describe a graph as Table 4 of the WildGraphBench paper does. A node is
// isolated if it has no edge; a self-loop is one.
type Stats struct {
	Nodes         int
	Edges         int64
	AverageDegree float64 // 2·Edges/Nodes, 0 without nodes
	MaxDegree     int
	Isolated      int
	IsolatedShare float64 // Isolated/Nodes, 0 without nodes
}

// Stats counts nodes, edges and degrees.
func (g *Graph) Stats() Stats {
	s := Stats{Nodes: g.N()}
	ends := int64(0)
	for u := range int32(g.N()) {
		degree := g.Degree(u)
		ends += int64(degree)
		s.MaxDegree = max(s.MaxDegree, degree)
		if degree == 0 {
			s.Isolated++
		}
	}
	s.Edges = ends / 2
	if s.Nodes > 0 {
		s.AverageDegree = float64(ends) / float64(s.Nodes)
		s.IsolatedShare = float64(s.Isolated) / float64(s.Nodes)
	}
	return s
}

// Edges returns each edge once, its smaller end first, in ascending order of
// the ends.
func (g *Graph) Edges() iter.Seq[Edge] {
	return func(yield func(Edge) bool) {
		for u := range int32(g.N()) {
			lo, hi := g.Row(u)
			for a := lo; a < hi; a++ {
				if v := g.targets[a]; v >= u && !yield(Edge{u, v, g.Weight(a)}) {
					return
				}
			}
		}
	}
}

// Components returns the connected component of each node and their number.
// Components are numbered in the order of their smallest nodes. The one error is
// the context's.
func (g *Graph) Components(ctx context.Context) (component []int32, count int, err error) {
	component = make([]int32, g.N())
	for u := range component {
		component[u] = -1
	}
	var queue []int32
	seen := 0
	for u := range int32(g.N()) {
		if component[u] >= 0 {
			continue
		}
		component[u] = int32(count)
		queue = append(queue[:0], u)
		for len(queue) > 0 {
			if seen++; seen%stride == 0 && ctx.Err() != nil {
				return nil, 0, ctx.Err()
			}
			v := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, w := range g.Neighbors(v) {
				if component[w] < 0 {
					component[w] = int32(count)
					queue = append(queue, w)
				}
			}
		}
		count++
	}
	return component, count, ctx.Err()
}

// stride is the number of nodes between two looks at the context.
const stride = 1 << 14
