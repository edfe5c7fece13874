// SPDX-License-Identifier: Apache-2.0

package graphtest

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// karate lists the friendships by their smaller member.
const karate = `0: 1 2 3 4 5 6 7 8 10 11 12 13 17 19 21 31
1: 2 3 7 13 17 19 21 30
2: 3 7 8 9 13 27 28 32
3: 7 12 13
4: 6 10
5: 6 10 16
6: 16
8: 30 32 33
9: 33
13: 33
14: 32 33
15: 32 33
18: 32 33
19: 33
20: 32 33
22: 32 33
23: 25 27 29 32 33
24: 25 27 31
25: 31
26: 29 33
27: 33
28: 31 33
29: 32 33
30: 32 33
31: 32 33
32: 33`

// Karate returns the friendships of a karate club: 34 nodes, 78 edges of weight
// 1 (W. W. Zachary, An Information Flow Model for Conflict and Fission in Small
// Groups, 1977).
func Karate() List {
	l := List{N: 34}
	for line := range strings.Lines(karate) {
		from, row, _ := strings.Cut(line, ":")
		for _, to := range strings.Fields(row) {
			l.add(number(from), number(to))
		}
	}
	return l
}

func number(s string) int {
	n := 0
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

func (l *List) add(from, to int) {
	l.Edges = append(l.Edges, graph.Edge{From: int32(from), To: int32(to), Weight: 1})
}

// Ring returns a ring of cliques of equal size, weights 1. The first node of a
// clique is joined to the second node of the next one.
func Ring(cliques, size int) List {
	l := List{N: cliques * size}
	for c := range cliques {
		for i := range size {
			for j := i + 1; j < size; j++ {
				l.add(c*size+i, c*size+j)
			}
		}
		l.add(c*size, (c+1)%cliques*size+1)
	}
	return l
}

// Blocks returns n nodes in blocks of equal size, weights 1: each pair of nodes
// is joined with probability inside in the same block, outside otherwise.
func Blocks(n, size int, inside, outside float64, seed uint64) List {
	l, rng := List{N: n}, lcg(seed)
	for i := range n {
		for j := i + 1; j < n; j++ {
			p := outside
			if i/size == j/size {
				p = inside
			}
			if rng.float() < p {
				l.add(i, j)
			}
		}
	}
	return l
}

// LFR returns a graph with blocks of the given sizes and degrees of a heavy
// tail, in the manner of Lancichinetti, Fortunato and Radicchi (2008): each node
// draws 4 to 19 partners, few of them often, each from the whole graph with
// probability mixing, else from its block. Partners drawn repeatedly stand in
// the list repeatedly and add up in the graph.
func LFR(sizes []int, mixing float64, seed uint64) List {
	l, rng := List{}, lcg(seed)
	for _, size := range sizes {
		l.N += size
	}
	start := 0
	for _, size := range sizes {
		for i := start; i < start+size; i++ {
			u := rng.float()
			for range 4 + int(16*u*u*u) {
				j := 0
				if rng.float() < mixing {
					j = rng.below(l.N)
				} else {
					j = start + rng.below(size)
				}
				if j != i {
					l.add(i, j)
				}
			}
		}
		start += size
	}
	return l
}

// Blocks200 returns ten blocks of 20 nodes with 1,117 edges. The communities of
// highest known modularity, 0.561417950, are the blocks.
func Blocks200() List { return Blocks(200, 20, .4, .02, 42) }

// LFR300 returns [LFR] of ten blocks of 12 to 60 nodes.
func LFR300() List { return LFR([]int{12, 15, 18, 20, 25, 30, 35, 40, 45, 60}, .3, 7) }

// LFR2333 returns [LFR] of forty blocks, 2,333 nodes, strongly mixed.
func LFR2333() List {
	sizes := make([]int, 40)
	for b := range sizes {
		sizes[b] = 20 + b*b%83
	}
	return LFR(sizes, .45, 2024)
}

// lcg is a linear congruential generator modulo 2^64 with the constants of
// Knuth's MMIX.
type lcg uint64

// float returns a number in [0, 1).
func (x *lcg) float() float64 {
	*x = *x*6364136223846793005 + 1442695040888963407
	return float64(*x>>11) / (1 << 53)
}

// below returns a number in [0, n).
func (x *lcg) below(n int) int { return int(x.float() * float64(n)) }
