// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Graph is an undirected graph in compressed sparse rows. Its nodes are 0 to N()-1. An edge is in the rows of
// both its nodes, a self-loop once in the row of its node; rows are sorted by target, each target once. A Graph
// is immutable and safe for concurrent use. The zero value has no nodes.
type Graph struct {
	offsets []int64
	targets []int32
	weights []float64
}

// N returns the number of nodes.
func (g *Graph) N() int { return max(0, len(g.offsets)-1) }

// Arcs returns the number of entries in all rows: two per edge, one per self-loop.
func (g *Graph) Arcs() int64 { return int64(len(g.targets)) }

// Row returns the range of the arcs of u: their targets are g.Targets()[lo:hi].
func (g *Graph) Row(u int32) (lo, hi int64) { return g.offsets[u], g.offsets[u+1] }

// Neighbors returns the targets of the arcs of u in ascending order, including u if it has a self-loop. The
// slice must not be changed.
func (g *Graph) Neighbors(u int32) []int32 { return g.targets[g.offsets[u]:g.offsets[u+1]] }

// Weight returns the weight of an arc.
func (g *Graph) Weight(arc int64) float64 { return g.weights[arc] }

// Offsets returns the N()+1 row boundaries. The slice must not be changed.
func (g *Graph) Offsets() []int64 { return g.offsets }

// Targets returns the targets of all arcs, row after row. The slice must not be changed.
func (g *Graph) Targets() []int32 { return g.targets }

// Weights returns the weights of all arcs, row after row. The slice must not be changed.
func (g *Graph) Weights() []float64 { return g.weights }

// Degree returns the number of edge ends at u; a self-loop counts 2.
func (g *Graph) Degree(u int32) int {
	row := g.Neighbors(u)
	if _, loop := slices.BinarySearch(row, u); loop {
		return len(row) + 1
	}
	return len(row)
}

// Strength returns the sum of the weights of the edge ends at u; a self-loop counts twice.
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

// Stats contains the figures of Table 4 in the WildGraphBench paper. A node is isolated if it has no edge; a
// self-loop is an edge.
type Stats struct {
	Nodes         int
	Edges         int64
	AverageDegree float64 // 2·Edges/Nodes, 0 without nodes
	MaxDegree     int
	Isolated      int
	IsolatedShare float64 // Isolated/Nodes, 0 without nodes
}

// Stats returns the numbers of nodes and edges, and the degrees.
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

// Edges yields each edge once, with From at most To, in ascending order.
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

// Components returns the connected component of each node and the number of components, which are numbered in
// the order of their smallest nodes. The only error is the context's.
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

// stride is the number of nodes, edges or events between two checks of the context.
const stride = 1 << 12

// Classes is a partition of the nodes into classes of twins.
type Classes struct {
	First  []int32   // by node: the lowest node of its class
	Size   []int32   // by lowest node: size of its class; 1 for other nodes
	Inside []float64 // by lowest node: weight of the edges within its class, 0 for none
}

// hashedRows is the number of rows that are hashed between two checks of the context.
const hashedRows = 1 << 12

// Twins finds nodes with edges of the same weights to the same other nodes, and among themselves edges of one
// weight, or none. Entities that occur only in one passage are twins; PageRank and Leiden treat a class of
// twins as one node. Nodes with a self-loop or without edges are in classes of their own.
//
// It compares the nodes whose rows have the same hash: first without and then with the node itself in its row,
// because the rows of adjacent twins contain each other.
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

// hashes returns two hashes of the arcs of u: one that is equal for twins without an edge between them, and one
// that is equal for adjacent twins. For the second, u itself is added to its row, with the greatest weight in
// the row. This finds adjacent twins unless they have a heavier edge to another node.
func hashes(g *Graph, u int32) (apart, joined uint64) {
	lo, hi := g.Row(u)
	targets, greatest := g.Targets()[lo:hi], 0.0
	for i, w := range g.Weights()[lo:hi] {
		apart += hash(targets[i], w)
		greatest = max(greatest, w)
	}
	return apart, apart + hash(u, greatest)
}

// hash returns a hash of an arc.
func hash(t int32, w float64) uint64 {
	x := uint64(t)*0x9e3779b97f4a7c15 + math.Float64bits(w)*0xd6e8feb86659fd93
	x = (x ^ x>>32) * 0xbf58476d1ce4e5b9
	return x ^ x>>29
}

// join adds v to the class of first if the two are twins.
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

// Edge is an undirected edge.
type Edge struct {
	From, To int32
	Weight   float64
}

// ErrEdge is wrapped by errors about invalid edges: an end outside of 0 to n-1, a negative or infinite weight
// or NaN.
var ErrEdge = errors.New("unusable edge")

// New builds a graph of n nodes from a list of edges. Parallel edges, in either direction, become one edge with
// the sum of their weights; the result does not depend on the order of the edges, not even in rounding. An edge
// of weight 0 stays an edge. Errors about invalid edges wrap [ErrEdge].
func New(n int, edges []Edge) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d nodes, want 0 to %d", n, math.MaxInt32)
	}
	g := &Graph{offsets: make([]int64, n+1)}
	ends := g.offsets[1:] // first counts the arcs of each row, then their ends
	for i, e := range edges {
		if err := checkEdge(e, n); err != nil {
			return nil, fmt.Errorf("graph: edge %d: %w", i, err)
		}
		ends[e.From]++
		if e.From != e.To {
			ends[e.To]++
		}
	}
	arcs := int64(0)
	for u, size := range ends {
		ends[u], arcs = arcs, arcs+size
	}
	if arcs != int64(int(arcs)) {
		return nil, fmt.Errorf("graph: %d arcs are too many for the address space", arcs)
	}
	g.targets, g.weights = make([]int32, arcs), make([]float64, arcs)
	for _, e := range edges {
		g.place(e.From, e.To, e.Weight)
		if e.From != e.To {
			g.place(e.To, e.From, e.Weight)
		}
	}
	_ = par.Ranges(context.Background(), n, sortedRows, 0, func(_, lo, hi int) error { g.sortRows(lo, hi); return nil })
	if err := g.merge(); err != nil {
		return nil, err
	}
	return g, nil
}

func checkEdge(e Edge, n int) error {
	if e.From < 0 || e.To < 0 || int(e.From) >= n || int(e.To) >= n {
		return fmt.Errorf("%w: %d–%d in a graph of %d nodes", ErrEdge, e.From, e.To, n)
	}
	if !(e.Weight >= 0 && e.Weight <= math.MaxFloat64) {
		return fmt.Errorf("%w: %d–%d weighs %v, not a number from 0 to %v", ErrEdge, e.From, e.To, e.Weight, math.MaxFloat64)
	}
	return nil
}

// place appends an arc to its row.
func (g *Graph) place(from, to int32, weight float64) {
	at := g.offsets[from+1]
	g.offsets[from+1] = at + 1
	g.targets[at], g.weights[at] = to, weight
}

// sortedRows is the number of rows that a worker sorts at a time.
const sortedRows = 1 << 10

// sortRows sorts the arcs of rows by target, then by weight.
func (g *Graph) sortRows(first, last int) {
	type arc struct {
		to     int32
		weight float64
	}
	var row []arc
	for u := first; u < last; u++ {
		lo, hi := g.Row(int32(u))
		targets, weights := g.targets[lo:hi], g.weights[lo:hi]
		row = row[:0]
		for i, to := range targets {
			row = append(row, arc{to, weights[i]})
		}
		slices.SortFunc(row, func(a, b arc) int {
			if a.to != b.to {
				return int(a.to) - int(b.to)
			}
			return cmp.Compare(a.weight, b.weight)
		})
		for i, a := range row {
			targets[i], weights[i] = a.to, a.weight
		}
	}
}

// merge sums the weights of parallel edges, smallest first, and closes the gaps between the rows.
func (g *Graph) merge() error {
	start, end := int64(0), int64(0)
	for u := range g.N() {
		last := g.offsets[u+1]
		for i := start; i < last; {
			to, sum := g.targets[i], 0.0
			for ; i < last && g.targets[i] == to; i++ {
				sum += g.Weight(i)
			}
			if math.IsInf(sum, 1) {
				return fmt.Errorf("graph: edge %d–%d: %w: parallel edges weigh more than %v together", u, to, ErrEdge, math.MaxFloat64)
			}
			g.targets[end], g.weights[end] = to, sum
			end++
		}
		start, g.offsets[u+1] = last, end
	}
	g.targets, g.weights = shrink(g.targets, end), shrink(g.weights, end)
	return nil
}

// shrink returns s cut to size, as a copy if most of its memory would be unused.
func shrink[T any](s []T, size int64) []T {
	if size >= int64(len(s))/2 {
		return s[:min(size, int64(len(s)))]
	}
	return append(make([]T, 0, size), s[:size]...)
}
