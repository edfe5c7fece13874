// SPDX-License-Identifier: Apache-2.0

package graph

import "slices"

// Graph is an undirected graph in compressed sparse rows. Nodes are 0..N()-1.
// An edge between two nodes stands in the rows of both, a self-loop once in its
// own; rows are sorted by target and hold no target twice. A Graph does not
// change once it is built and is safe for concurrent use. The zero value has no
// nodes.
type Graph struct {
	offsets []int64
	targets []int32
	// At most one of these is set; none means that every weight is 1.
	weights32 []float32
	weights64 []float64
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
	switch {
	case g.weights64 != nil:
		return g.weights64[arc]
	case g.weights32 != nil:
		return float64(g.weights32[arc])
	}
	return 1
}

// Offsets returns the N()+1 row boundaries. The slice must not be changed.
func (g *Graph) Offsets() []int64 { return g.offsets }

// Targets returns the targets of all arcs, row after row. The slice must not be
// changed.
func (g *Graph) Targets() []int32 { return g.targets }

// Weights32 returns the weights of all arcs if they are held as float32, else
// nil. The slice must not be changed.
func (g *Graph) Weights32() []float32 { return g.weights32 }

// Weights64 returns the weights of all arcs if they are held as float64, else
// nil. The slice must not be changed. If Weights32 is nil too, all weights are 1.
func (g *Graph) Weights64() []float64 { return g.weights64 }

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
