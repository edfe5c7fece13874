// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"math"
)

// Edge is an undirected edge.
type Edge struct {
	From, To int32
	Weight   float64
}

// Precision says how a graph holds its weights.
type Precision int

const (
	Float64    Precision = iota // 8 bytes an arc
	Float32                     // 4 bytes an arc
	Unweighted                  // none: every edge weighs 1
)

// Options for [New].
type Options struct {
	// Precision of the weights, by default Float64. With Float32 each weight
	// is rounded before parallel edges are added up, and their sum again.
	Precision Precision
}

// ErrEdge is wrapped by the errors for edges a graph cannot take: an end outside
// of 0..n-1, a weight that is negative, not finite or too large for the
// precision.
var ErrEdge = errors.New("unusable edge")

// New builds a graph of n nodes from a list of edges, on all processors. Parallel edges, in
// whatever direction, become one edge with the sum of their weights; the order
// of the edges changes nothing, not even a rounding. An edge of weight 0 stays
// an edge. Unusable edges are errors that wrap [ErrEdge].
func New(n int, edges []Edge, opts Options) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d nodes: a graph has 0 to %d", n, math.MaxInt32)
	}
	switch opts.Precision {
	case Float64:
		b := builder[float64]{n: n, weighted: true, largest: math.MaxFloat64}
		return b.build(edges, func(g *Graph, w []float64) { g.weights64 = w })
	case Float32:
		b := builder[float32]{n: n, weighted: true, largest: math.MaxFloat32}
		return b.build(edges, func(g *Graph, w []float32) { g.weights32 = w })
	case Unweighted:
		b := builder[float32]{n: n, largest: math.MaxFloat64}
		return b.build(edges, func(*Graph, []float32) {})
	}
	return nil, fmt.Errorf("graph: unknown precision %d", opts.Precision)
}

// builder fills compressed sparse rows: it counts the arcs of each row, places
// them, sorts each row and adds up what is parallel.
type builder[W float32 | float64] struct {
	n        int
	weighted bool
	largest  float64 // weight

	offsets []int64
	targets []int32
	weights []W
}

func (b *builder[W]) build(edges []Edge, setWeights func(*Graph, []W)) (*Graph, error) {
	b.offsets = make([]int64, b.n+1)
	if err := b.fill(edges); err != nil {
		return nil, err
	}
	g := &Graph{offsets: b.offsets, targets: b.targets}
	if b.weighted {
		setWeights(g, b.weights)
	}
	return g, nil
}

// reserve makes room for arcs.
func (b *builder[W]) reserve(arcs int64) error {
	if arcs != int64(int(arcs)) {
		return fmt.Errorf("graph: %d arcs are too many for the address space", arcs)
	}
	b.targets = make([]int32, arcs)
	if b.weighted {
		b.weights = make([]W, arcs)
	}
	return nil
}

// mergeRows sorts the rows from one on, which end at ends, and adds up parallel edges, moving
// the rows together. It returns the last end.
func (b *builder[W]) mergeRows(s *sorter[W], from int, ends []int64, targets []int32, weights []W) (end int64, err error) {
	lo := int64(0)
	for u, hi := range ends {
		row := targets[lo:hi]
		var rowWeights []W
		if b.weighted {
			rowWeights = weights[lo:hi]
		}
		s.sort(row, rowWeights)
		for i := 0; i < len(row); {
			to, first := row[i], i
			for i++; i < len(row) && row[i] == to; i++ {
			}
			targets[end] = to
			if b.weighted {
				sum, err := b.sum(rowWeights[first:i])
				if err != nil {
					return end, fmt.Errorf("graph: edge %d–%d: %w", from+u, to, err)
				}
				weights[end] = sum
			}
			end++
		}
		ends[u] = end
		lo = hi
	}
	return end, nil
}

// sum adds the weights of parallel edges, smallest first.
func (b *builder[W]) sum(weights []W) (W, error) {
	if len(weights) == 1 {
		return weights[0], nil
	}
	sum := 0.0
	for _, w := range weights {
		sum += float64(w)
	}
	if sum > b.largest {
		return 0, fmt.Errorf("%w: parallel edges weigh %v together, more than %v", ErrEdge, sum, b.largest)
	}
	return W(sum), nil
}

// shrink cuts s off, and copies it if most of its memory would lie idle.
func shrink[T any](s []T, size int64) []T {
	if size >= int64(len(s))/2 {
		return s[:min(size, int64(len(s)))]
	}
	return append(make([]T, 0, size), s[:size]...)
}

func (b *builder[W]) check(e Edge) error {
	if e.From < 0 || e.To < 0 || int(e.From) >= b.n || int(e.To) >= b.n {
		return fmt.Errorf("%w: %d–%d in a graph of %d nodes", ErrEdge, e.From, e.To, b.n)
	}
	if !(e.Weight >= 0 && e.Weight <= b.largest) {
		return fmt.Errorf("%w: %d–%d weighs %v, not a number from 0 to %v", ErrEdge, e.From, e.To, e.Weight, b.largest)
	}
	return nil
}
