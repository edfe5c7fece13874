// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// twins are classes of nodes that nothing but their numbers tells apart: edges of the
// same weights lead to the same other nodes, and between them all edges have one weight,
// or there is none. Names that stand in one place of a text alone are such.
type twins struct {
	first  []int32   // node of the lowest number in the class of each; -1 without a way out
	size   []int32   // of the class of a first node
	inside []float64 // weight between the nodes of the class of a first node, or 0
}

// newTwins finds twins by sums of hashes of their arcs, and compares the rows of those
// whose sums are equal.
func newTwins(ctx context.Context, s *system) (*twins, error) {
	n := s.g.N()
	c := &twins{first: make([]int32, n), size: make([]int32, n), inside: make([]float64, n)}
	apart, joined := make([]uint64, n), make([]uint64, n)
	for u := range int32(n) {
		if u%stride == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if c.first[u], c.size[u] = u, 1; s.strength[u] == 0 {
			c.first[u] = -1
			continue
		}
		apart[u], joined[u] = hashes(s.g, u)
	}
	table := make([]int32, tableSize(n))
	for _, sums := range [][]uint64{apart, joined} {
		clear(table) // node + 1
		for u := range int32(n) {
			if u%stride == 0 && ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			if c.first[u] != u || c.size[u] > 1 || s.loop(u) > 0 {
				continue
			}
			at := sums[u] >> 32 & uint64(len(table)-1)
			for table[at] != 0 && sums[table[at]-1] != sums[u] {
				at = (at + 1) & uint64(len(table)-1)
			}
			if table[at] == 0 {
				table[at] = u + 1
			} else {
				c.join(s.g, table[at]-1, u)
			}
		}
	}
	return c, nil
}

// tableSize is the least power of two of twice n or more.
func tableSize(n int) int {
	size := 1
	for size < 2*n {
		size *= 2
	}
	return size
}

// hashes returns sums over the arcs of u that are equal for twins with no edge between
// them, and for those with one: u's own number then stands in for the others, with the
// greatest weight, which is that between them if they go the same ways.
func hashes(g *graph.Graph, u int32) (apart, joined uint64) {
	lo, hi := g.Row(u)
	targets, greatest := g.Targets()[lo:hi], 1.0
	if w := g.Weights32(); w != nil {
		apart, greatest = hashRow(targets, w[lo:hi])
	} else if w := g.Weights64(); w != nil {
		apart, greatest = hashRow(targets, w[lo:hi])
	} else {
		for _, t := range targets {
			apart += hash(t, 1)
		}
	}
	return apart, apart + hash(u, greatest)
}

func hashRow[W float32 | float64](targets []int32, weights []W) (sum uint64, greatest float64) {
	most := W(0)
	for i, w := range weights[:len(targets)] {
		sum += hash(targets[i], float64(w))
		most = max(most, w)
	}
	return sum, float64(most)
}

func hash(t int32, w float64) uint64 {
	x := uint64(t)*0x9e3779b97f4a7c15 + math.Float64bits(w)*0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// join puts v into the class of first if they are twins.
func (c *twins) join(g *graph.Graph, first, v int32) {
	inside := 0.0
	lo, hi := g.Row(first)
	if at, ok := slices.BinarySearch(g.Targets()[lo:hi], v); ok {
		inside = g.Weight(lo + int64(at))
	}
	if c.size[first] > 1 && inside != c.inside[first] || !sameRows(g, first, v) {
		return
	}
	c.first[v], c.inside[first] = first, inside
	c.size[first]++
}

// sameRows tells whether u and v have the same arcs to all other nodes.
func sameRows(g *graph.Graph, u, v int32) bool {
	targets := g.Targets()
	at, end := g.Row(u)
	b, last := g.Row(v)
	for {
		for at < end && (targets[at] == u || targets[at] == v) {
			at++
		}
		for b < last && (targets[b] == u || targets[b] == v) {
			b++
		}
		if at == end || b == last {
			return at == end && b == last
		}
		if targets[at] != targets[b] || g.Weight(at) != g.Weight(b) {
			return false
		}
		at, b = at+1, b+1
	}
}
