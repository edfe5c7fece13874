// SPDX-License-Identifier: Apache-2.0

package graphragtest

import (
	_ "embed"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// karate lists the friendships by their smaller member.
//
//go:embed karate.txt
var karate string

// Karate returns the friendships of a karate club: 34 nodes, 78 edges of weight 1 (W. W. Zachary, An
// Information Flow Model for Conflict and Fission in Small Groups, 1977).
func Karate() EdgeList {
	l := EdgeList{N: 34}
	for line := range strings.Lines(karate) {
		from, row, _ := strings.Cut(line, ":")
		u, _ := strconv.Atoi(from) // cannot fail: the file is embedded
		for _, to := range strings.Fields(row) {
			v, _ := strconv.Atoi(to)
			l.add(u, v)
		}
	}
	return l
}

func (l *EdgeList) add(from, to int) {
	l.Edges = append(l.Edges, graph.Edge{From: int32(from), To: int32(to), Weight: 1})
}

// Ring returns a ring of cliques of equal size, with weights 1. An edge joins the first node of each clique to
// the second node of the next one.
func Ring(cliques, size int) EdgeList {
	l := EdgeList{N: cliques * size}
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

// Blocks200 returns ten blocks of 20 nodes with 1,117 edges of weight 1: each pair of nodes has an edge with
// probability .4 in the same block, .02 otherwise. The blocks are the communities of highest known modularity,
// 0.561417950.
func Blocks200() EdgeList {
	l, rng := EdgeList{N: 200}, lcg(42)
	for i := range l.N {
		for j := i + 1; j < l.N; j++ {
			p := .02
			if i/20 == j/20 {
				p = .4
			}
			if rng.float() < p {
				l.add(i, j)
			}
		}
	}
	return l
}

// LFR returns a graph with blocks of the given sizes and heavy-tailed degrees, in the manner of Lancichinetti,
// Fortunato and Radicchi (2008): each node draws 4 to 19 partners (large numbers are rare), each from the whole
// graph with probability mixing, else from its block. A partner drawn twice is listed twice, and the weights
// add up in the graph.
func LFR(sizes []int, mixing float64, seed uint64) EdgeList {
	l, rng := EdgeList{}, lcg(seed)
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

// LFR300 returns [LFR] with ten blocks of 12 to 60 nodes.
func LFR300() EdgeList { return LFR([]int{12, 15, 18, 20, 25, 30, 35, 40, 45, 60}, .3, 7) }

// LFR2333 returns [LFR] with forty blocks, 2,333 nodes in all, and strong mixing.
func LFR2333() EdgeList {
	sizes := make([]int, 40)
	for b := range sizes {
		sizes[b] = 20 + b*b%83
	}
	return LFR(sizes, .45, 2024)
}

// lcg is a linear congruential generator modulo 2^64 with the constants of Knuth's MMIX.
type lcg uint64

// float returns a number in [0, 1).
func (x *lcg) float() float64 {
	*x = *x*6364136223846793005 + 1442695040888963407
	return float64(*x>>11) / (1 << 53)
}

// below returns a number in [0, n).
func (x *lcg) below(n int) int { return int(x.float() * float64(n)) }

// Planted returns m edges of weight 1 between n nodes. Node v belongs to block v mod blocks. One end of an edge
// is any node, the other end is any node with probability share, else a node of the same block. A self-loop is
// replaced by another edge; parallel edges remain. Planted(1e6, 5e6, 1000, .3, 1) is the large graph of the
// benchmarks; its blocks have a modularity of about 0.699.
func Planted(n, m, blocks int, share float64, seed uint64) EdgeList {
	l, rng := EdgeList{N: n, Edges: make([]graph.Edge, 0, m)}, splitMix(seed)
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

// splitMix is the generator SplitMix64 (Steele, Lea, Flood, Fast Splittable Pseudorandom Number Generators,
// 2014).
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

// Resets returns count reset vectors for personalised PageRank: each is 5 to 20 different nodes that have an
// edge, in ascending order.
func Resets(g *graph.Graph, count int, seed uint64) [][]int32 {
	rng, sets := splitMix(seed), make([][]int32, count)
	var linked []int32
	for u := range int32(g.N()) {
		if g.Degree(u) > 0 {
			linked = append(linked, u)
		}
	}
	for i := range sets {
		size := min(5+rng.below(16), len(linked))
		for len(sets[i]) < size {
			u := linked[rng.below(len(linked))]
			if at, ok := slices.BinarySearch(sets[i], u); !ok {
				sets[i] = slices.Insert(sets[i], at, u)
			}
		}
	}
	return sets
}

// EdgeList is a list of edges over the nodes 0..N-1.
type EdgeList struct {
	N     int
	Edges []graph.Edge
}

// Graph builds the graph of the list. It panics at an invalid edge, which no function here returns.
func (l EdgeList) Graph() *graph.Graph {
	g, err := graph.New(l.N, l.Edges)
	if err != nil {
		panic(err)
	}
	return g
}
