// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Classes are disjoint sets of twins that cover all nodes.
type Classes struct {
	First  []int32   // node of the lowest number in the class of each node
	Size   []int32   // of the class of a first node; 1 or 0 for other nodes
	Inside []float64 // weight of an edge within the class of a first node, or 0
}

// hashedRows is how many rows are hashed between two checks of the context.
const hashedRows = 1 << 12

// Twins finds nodes with edges of the same weights to the same other nodes, joined to each other
// by edges of one weight, or by none. An entity that occurs in one passage only has as many
// twins as that passage has such entities; PageRank and Leiden treat a class of twins as one
// node. Nodes with a loop, and nodes without edges, are left out.
//
// It compares the nodes whose rows have the same hash: once without and once with the
// node itself in its row, as the rows of adjacent twins name each other.
func (g *Graph) Twins(ctx context.Context) (Classes, error) {
	n := g.N()
	c := Classes{First: make([]int32, n), Size: make([]int32, n), Inside: make([]float64, n)}
	apart, joined := make([]uint64, n), make([]uint64, n)
	foldable := make([]bool, n)
	if err := par.Ranges(ctx, n, hashedRows, 0, func(_, lo, hi int) error {
		for u := int32(lo); u < int32(hi); u++ {
			c.First[u], c.Size[u] = u, 1
			apart[u], joined[u] = hashes(g, u)
			_, loop := slices.BinarySearch(g.Neighbors(u), u)
			foldable[u] = !loop && g.Degree(u) > 0
		}
		return nil
	}); err != nil {
		return c, err
	}
	for _, sums := range [][]uint64{apart, joined} {
		firsts := make(map[uint64]int32, n)
		for u := range int32(n) {
			if u%hashedRows == 0 && ctx.Err() != nil {
				return c, context.Cause(ctx)
			}
			if !foldable[u] || c.First[u] != u || c.Size[u] > 1 {
				continue
			}
			if first, ok := firsts[sums[u]]; ok {
				c.join(g, first, u)
			} else {
				firsts[sums[u]] = u
			}
		}
	}
	return c, nil
}

// hashes returns a sum over the arcs of u that is equal for twins without an edge between
// them, and one that is equal for adjacent twins. In the second, u itself is added to its
// row, with the greatest weight there. That is the weight inside if twins of one class have
// no heavier edge; other adjacent twins are not found.
func hashes(g *Graph, u int32) (apart, joined uint64) {
	lo, hi := g.Row(u)
	targets, greatest := g.Targets()[lo:hi], 1.0
	if w := g.Weights(); w != nil {
		greatest = 0
		for i, w := range w[lo:hi] {
			apart += hash(targets[i], w)
			greatest = max(greatest, w)
		}
	} else {
		for _, t := range targets {
			apart += hash(t, 1)
		}
	}
	return apart, apart + hash(u, greatest)
}

// hash mixes the bits of an arc by multiplications and shifts.
func hash(t int32, w float64) uint64 {
	x := uint64(t)*0x9e3779b97f4a7c15 + math.Float64bits(w)*0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// join puts v into the class of first if they are twins.
func (c *Classes) join(g *Graph, first, v int32) {
	inside := 0.0
	lo, hi := g.Row(first)
	if at, ok := slices.BinarySearch(g.Targets()[lo:hi], v); ok {
		inside = g.Weight(lo + int64(at))
	}
	if c.Size[first] > 1 && inside != c.Inside[first] || !sameRows(g, first, v) {
		return
	}
	c.First[v], c.Inside[first] = first, inside
	c.Size[first]++
}

// sameRows reports whether u and v have the same arcs to all other nodes.
func sameRows(g *Graph, u, v int32) bool {
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
