// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
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
	// Precision of the weights, by default Float64.
	Precision Precision
}

// ErrEdge is wrapped by the errors for edges a graph cannot take: an end outside
// of 0..n-1, a weight that is negative or not finite.
var ErrEdge = errors.New("unusable edge")

// New builds a graph of n nodes from a list of edges, see [Build].
func New(n int, edges []Edge, opts Options) (*Graph, error) {
	return Build(n, func(yield func(Edge, error) bool) {
		for _, e := range edges {
			if !yield(e, nil) {
				return
			}
		}
	}, opts)
}

// Build builds a graph of n nodes from a stream of edges that can be read twice.
// Parallel edges, in whatever direction, become one edge with the sum of their
// weights; the order of the edges changes nothing, not even a rounding. An edge
// of weight 0 stays an edge.
func Build(n int, edges iter.Seq2[Edge, error], opts Options) (*Graph, error) {
	if n < 0 || n > math.MaxInt32 {
		return nil, fmt.Errorf("graph: %d nodes: a graph has 0 to %d", n, math.MaxInt32)
	}
	rows := make([][]Edge, n)
	for e, err := range edges {
		if err != nil {
			return nil, fmt.Errorf("graph: reading edges: %w", err)
		}
		if err := check(e, n); err != nil {
			return nil, err
		}
		rows[e.From] = append(rows[e.From], e)
		if e.From != e.To {
			rows[e.To] = append(rows[e.To], Edge{e.To, e.From, e.Weight})
		}
	}
	g := &Graph{offsets: make([]int64, n+1)}
	for u, row := range rows {
		slices.SortFunc(row, func(a, b Edge) int {
			return cmp.Or(cmp.Compare(a.To, b.To), cmp.Compare(a.Weight, b.Weight))
		})
		for i := 0; i < len(row); {
			sum, to := 0.0, row[i].To
			for ; i < len(row) && row[i].To == to; i++ {
				sum += row[i].Weight
			}
			g.targets = append(g.targets, to)
			switch opts.Precision {
			case Float64:
				g.weights64 = append(g.weights64, sum)
			case Float32:
				g.weights32 = append(g.weights32, float32(sum))
			}
		}
		g.offsets[u+1] = int64(len(g.targets))
	}
	return g, nil
}

func check(e Edge, n int) error {
	if e.From < 0 || e.To < 0 || int(e.From) >= n || int(e.To) >= n {
		return fmt.Errorf("graph: edge %d–%d in a graph of %d nodes: %w", e.From, e.To, n, ErrEdge)
	}
	if !(e.Weight >= 0) || math.IsInf(e.Weight, 1) {
		return fmt.Errorf("graph: edge %d–%d weighs %v, not a finite number of 0 or more: %w", e.From, e.To, e.Weight, ErrEdge)
	}
	return nil
}
