// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Edge is an undirected edge.
type Edge struct {
	From, To int32
	Weight   float64
}

// Options for [New].
type Options struct {
	// Unweighted graphs hold no weights: every edge weighs 1. Otherwise a weight takes 8 bytes an arc.
	Unweighted bool
}

// ErrEdge is wrapped by the errors for edges a graph cannot take: an end outside
// of 0..n-1, a weight that is negative or not finite.
var ErrEdge = errors.New("unusable edge")

// New builds a graph of n nodes from a list of edges. Parallel edges, in whatever direction, become one
// edge with the sum of their weights; the order of the edges changes nothing, not even a rounding. An edge
// of weight 0 stays an edge. Unusable edges are errors that wrap [ErrEdge].
func New(n int, edges []Edge, opts Options) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d nodes: a graph has 0 to %d", n, math.MaxInt32)
	}
	g := &Graph{offsets: make([]int64, n+1)}
	ends := g.offsets[1:] // of the rows; so far how many arcs each has
	for i, e := range edges {
		if err := check(e, n); err != nil {
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
	g.targets = make([]int32, arcs)
	if !opts.Unweighted {
		g.weights = make([]float64, arcs)
	}
	for _, e := range edges {
		g.place(e.From, e.To, e.Weight)
		if e.From != e.To {
			g.place(e.To, e.From, e.Weight)
		}
	}
	_ = par.Ranges(context.Background(), n, sortedRows, 0, func(_, lo, hi int) error { g.sortRows(lo, hi); return nil })
	return g, g.merge()
}

func check(e Edge, n int) error {
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
	g.targets[at] = to
	if g.weights != nil {
		g.weights[at] = weight
	}
}

// sortedRows is how many rows are sorted at a time.
const sortedRows = 1 << 10

// sortRows sorts rows by target, and arcs of one target by weight.
func (g *Graph) sortRows(first, last int) {
	type arc struct {
		to     int32
		weight float64
	}
	var row []arc
	for u := first; u < last; u++ {
		lo, hi := g.Row(int32(u))
		targets := g.targets[lo:hi]
		if g.weights == nil {
			slices.Sort(targets)
			continue
		}
		weights := g.weights[lo:hi]
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

// merge adds up the weights of parallel edges, smallest first, and moves the rows together.
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
			g.targets[end] = to
			if g.weights != nil {
				g.weights[end] = sum
			}
			end++
		}
		start, g.offsets[u+1] = last, end
	}
	g.targets, g.weights = shrink(g.targets, end), shrink(g.weights, end)
	return nil
}

// shrink cuts s off, and copies it if most of its memory would lie idle.
func shrink[T any](s []T, size int64) []T {
	if size >= int64(len(s))/2 {
		return s[:min(size, int64(len(s)))]
	}
	return append(make([]T, 0, size), s[:size]...)
}
