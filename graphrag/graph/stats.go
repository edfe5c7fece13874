// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"iter"
)

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

// DegreeCount says how many nodes have one degree.
type DegreeCount struct{ Degree, Nodes int }

// Degrees returns the distribution of degrees, which Figure 4 of the
// WildGraphBench paper draws: ascending, without degrees that no node has.
func (g *Graph) Degrees() []DegreeCount {
	counts := []int{}
	for u := range int32(g.N()) {
		d := g.Degree(u)
		if d >= len(counts) {
			counts = append(counts, make([]int, d+1-len(counts))...)
		}
		counts[d]++
	}
	var found []DegreeCount
	for d, nodes := range counts {
		if nodes > 0 {
			found = append(found, DegreeCount{d, nodes})
		}
	}
	return found
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
