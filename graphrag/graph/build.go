// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"errors"
	"fmt"
	"iter"
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

// Options for [Build] and [New].
type Options struct {
	// Precision of the weights, by default Float64. With Float32 each weight
	// is rounded before parallel edges are added up, and their sum again.
	Precision Precision
}

// ErrEdge is wrapped by the errors for edges a graph cannot take: an end outside
// of 0..n-1, a weight that is negative, not finite or too large for the
// precision.
var ErrEdge = errors.New("unusable edge")

// ErrStream is wrapped by the error for a stream of edges whose second reading
// differs from the first.
var ErrStream = errors.New("the second reading of the edges differs from the first")

// Build builds a graph of n nodes from a stream of edges, which is read twice
// and must give the same edges both times, in any order. Parallel edges, in
// whatever direction, become one edge with the sum of their weights; the order
// of the edges changes nothing, not even a rounding. An edge of weight 0 stays
// an edge. Unusable edges are errors that wrap [ErrEdge].
//
// Beside the arcs of the graph, parallel ones still apart, Build needs memory
// for the largest row only.
func Build(n int, edges iter.Seq2[Edge, error], opts Options) (*Graph, error) {
	return build(n, source{stream: edges}, opts)
}

// New builds a graph of n nodes from a list of edges, see [Build]. It is several times
// faster than from a stream, on all processors, and needs 2 more bytes for each arc.
func New(n int, edges []Edge, opts Options) (*Graph, error) {
	return build(n, source{list: edges}, opts)
}

// source is where edges come from: a stream, or a list if there is none.
type source struct {
	stream iter.Seq2[Edge, error]
	list   []Edge
}

func build(n int, from source, opts Options) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d nodes: a graph has 0 to %d", n, math.MaxInt32)
	}
	switch opts.Precision {
	case Float64:
		b := builder[float64]{n: n, weighted: true, largest: math.MaxFloat64}
		return b.build(from, func(g *Graph, w []float64) { g.weights64 = w })
	case Float32:
		b := builder[float32]{n: n, weighted: true, largest: math.MaxFloat32}
		return b.build(from, func(g *Graph, w []float32) { g.weights32 = w })
	case Unweighted:
		b := builder[float32]{n: n, largest: math.MaxFloat64}
		return b.build(from, func(*Graph, []float32) {})
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

func (b *builder[W]) build(from source, setWeights func(*Graph, []W)) (*Graph, error) {
	b.offsets = make([]int64, b.n+1)
	fill := b.fromList
	if from.stream != nil {
		fill = b.fromStream
	}
	if err := fill(from); err != nil {
		return nil, err
	}
	g := &Graph{offsets: b.offsets, targets: b.targets}
	if b.weighted {
		setWeights(g, b.weights)
	}
	return g, nil
}

func (b *builder[W]) fromStream(from source) error {
	first, err := b.count(from.stream)
	if err != nil {
		return err
	}
	second, err := b.place(from.stream)
	if err != nil {
		return err
	}
	if first != second {
		return fmt.Errorf("graph: %w", ErrStream)
	}
	return b.merge()
}

// count makes b.offsets[u] the start of u's row, and room for the arcs.
func (b *builder[W]) count(edges iter.Seq2[Edge, error]) (digest, error) {
	var seen digest
	for e, err := range edges {
		if err == nil {
			err = b.check(e)
		}
		if err != nil {
			return seen, fmt.Errorf("graph: edge %d: %w", seen.edges, err)
		}
		seen.add(e)
		b.offsets[e.From]++
		if e.From != e.To {
			b.offsets[e.To]++
		}
	}
	start := int64(0)
	for u, arcs := range b.offsets {
		b.offsets[u] = start
		start += arcs
	}
	return seen, b.reserve(start)
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

// place writes each arc to the next free place of its row. Afterwards offsets holds the ends
// of the rows and is moved by one, so that it holds the starts again. If the stream differs
// from the first reading, rows are wrong, but no write is out of bounds.
func (b *builder[W]) place(edges iter.Seq2[Edge, error]) (digest, error) {
	var seen digest
	total := int64(len(b.targets))
	put := func(u, v int32, w float64) bool {
		at := b.offsets[u]
		if at >= total {
			return false
		}
		b.offsets[u] = at + 1
		b.targets[at] = v
		if b.weighted {
			b.weights[at] = W(w)
		}
		return true
	}
	for e, err := range edges {
		if err != nil {
			return seen, fmt.Errorf("graph: edge %d, second reading: %w", seen.edges, err)
		}
		if b.check(e) != nil || !put(e.From, e.To, e.Weight) || e.From != e.To && !put(e.To, e.From, e.Weight) {
			return seen, fmt.Errorf("graph: edge %d: %w", seen.edges, ErrStream)
		}
		seen.add(e)
	}
	copy(b.offsets[1:], b.offsets[:b.n])
	b.offsets[0] = 0
	return seen, nil
}

// merge sorts the rows and adds up parallel edges, moving the rows together.
func (b *builder[W]) merge() error {
	end, err := b.mergeRows(&sorter[W]{}, 0, b.offsets[1:], b.targets, b.weights)
	b.targets = shrink(b.targets, end)
	b.weights = shrink(b.weights, end)
	return err
}

// mergeRows is merge for the rows from one on, which end at ends. It returns the last end.
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

// digest tells one set of edges from another, whatever their order.
type digest struct {
	edges int64
	sum   uint64
}

func (d *digest) add(e Edge) {
	// The finaliser of MurmurHash3 makes the sum depend on every bit.
	h := uint64(uint32(e.From))<<32 | uint64(uint32(e.To))
	h = (h ^ h>>33) * 0xff51afd7ed558ccd
	h ^= math.Float64bits(e.Weight)
	h = (h ^ h>>33) * 0xc4ceb9fe1a85ec53
	d.edges++
	d.sum += h ^ h>>33
}
