// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"hash/fnv"
	"iter"
	"strconv"
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

// Fingerprint returns the 64-bit FNV-1a hash of the edges, each written as
// "i,j,w;" with i ≤ j and the shortest decimal for w, in ascending order. It
// tells whether two graphs have the same edges; isolated nodes do not count.
func (g *Graph) Fingerprint() uint64 {
	h, line := fnv.New64a(), []byte{}
	bits := 64
	if g.weights32 != nil {
		bits = 32
	}
	for e := range g.Edges() {
		line = strconv.AppendInt(line[:0], int64(e.From), 10)
		line = strconv.AppendInt(append(line, ','), int64(e.To), 10)
		line = strconv.AppendFloat(append(line, ','), e.Weight, 'f', -1, bits)
		h.Write(append(line, ';'))
	}
	return h.Sum64()
}
