// SPDX-License-Identifier: Apache-2.0

package graphtest

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Planted returns m edges of weight 1 between n nodes: node v belongs to block
// v mod blocks, one end of an edge is any node, the other any node with
// probability share, else a node of the same block. Self-loops are drawn again,
// parallel edges stay. Planted(1e6, 5e6, 1000, .3, 1) is the large graph of the
// benchmarks; its planted communities have a modularity of about 0.699.
func Planted(n, m, blocks int, share float64, seed uint64) List {
	if n < 2*blocks || blocks < 1 || m < 0 {
		panic("graphtest: planted partition needs blocks of two nodes or more")
	}
	l, rng := List{N: n, Edges: make([]graph.Edge, 0, m)}, splitMix(seed)
	for len(l.Edges) < m {
		u, v := rng.below(n), 0
		if rng.float() < share {
			v = rng.below(n)
		} else {
			block := u % blocks
			v = block + blocks*rng.below((n-block+blocks-1)/blocks)
		}
		if u != v {
			l.add(u, v)
		}
	}
	return l
}

// splitMix is SplitMix64 (Steele, Lea and Flood, Fast Splittable Pseudorandom
// Number Generators, 2014).
type splitMix uint64

func (x *splitMix) next() uint64 {
	*x += 0x9e3779b97f4a7c15
	z := uint64(*x)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// float returns a number in [0, 1).
func (x *splitMix) float() float64 { return float64(x.next()>>11) / (1 << 53) }

// below returns a number in [0, n).
func (x *splitMix) below(n int) int { return int(x.float() * float64(n)) }

// Resets returns count reset vectors for personalised PageRank, each 5 to 20
// different nodes of 0..n-1 that have an edge, in ascending order.
func Resets(g *graph.Graph, count int, seed uint64) [][]int32 {
	rng, sets := splitMix(seed), make([][]int32, count)
	linked := linkedNodes(g)
	for i := range sets {
		size := min(5+rng.below(16), len(linked))
		sets[i] = sample(&rng, linked, size)
	}
	return sets
}

func linkedNodes(g *graph.Graph) []int32 {
	var linked []int32
	for u := range int32(g.N()) {
		if g.Degree(u) > 0 {
			linked = append(linked, u)
		}
	}
	return linked
}

// sample draws size different nodes.
func sample(rng *splitMix, from []int32, size int) []int32 {
	var set []int32
	for len(set) < size {
		u := from[rng.below(len(from))]
		if i, ok := slices.BinarySearch(set, u); !ok {
			set = slices.Insert(set, i, u)
		}
	}
	return set
}
