// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// survey contains the sums of a graph that its network needs.
type survey struct {
	strengths []float64 // of the nodes
	twice     float64   // 2m, the sum of all strengths
	offsets   []int64   // of the rows without loops and without arcs of weight 0
	loops     bool      // whether there are loops
	whole     bool      // whether all weights are whole numbers
}

// leastWeight is the least sum of weights that others can be divided by without
// leaving the range of a float64.
const leastWeight = 0x1p-1000

// surveyRows is how many rows are looked at between two looks at the context.
const surveyRows = 1 << 10

// surveyed returns the survey of a graph. The error is the error of ctx, or reports unusable
// weights.
func surveyed(ctx context.Context, g *graph.Graph) (survey, error) {
	s, err := sums(ctx, g)
	switch {
	case err != nil:
		return s, fmt.Errorf("community: %w", err)
	case math.IsInf(s.twice, 1):
		return s, fmt.Errorf("community: the weights of the graph sum to more than a float64 holds, scale them down: %w", graph.ErrEdge)
	case s.twice > 0 && s.twice < leastWeight:
		return s, fmt.Errorf("community: the weights of the graph sum to %v, too little to divide by, scale them up: %w", s.twice, graph.ErrEdge)
	}
	return s, nil
}

// sums is surveyed, whatever the weights sum to.
func sums(ctx context.Context, g *graph.Graph) (survey, error) {
	n := g.N()
	s := survey{strengths: make([]float64, n), offsets: make([]int64, n+1), whole: true}
	type found struct{ loops, fractions bool }
	parts := make([]found, n/surveyRows+1)
	if err := par.Ranges(ctx, n, surveyRows, 0, func(_, lo, hi int) error {
		part := &parts[lo/surveyRows]
		for u := lo; u < hi; u++ {
			row := rowOf(g, int32(u))
			s.strengths[u], s.offsets[u+1] = row.strength, row.arcs
			part.loops, part.fractions = part.loops || row.loop, part.fractions || row.fractions
		}
		return nil
	}); err != nil {
		return s, err
	}
	for _, part := range parts {
		s.loops, s.whole = s.loops || part.loops, s.whole && !part.fractions
	}
	for u, strength := range s.strengths {
		s.twice += strength
		s.offsets[u+1] += s.offsets[u]
	}
	return s, nil
}

// surveyedRow contains the sums of a row.
type surveyedRow struct {
	strength        float64
	arcs            int64 // that are no loop and weigh anything
	loop, fractions bool
}

func rowOf(g *graph.Graph, u int32) surveyedRow {
	lo, hi := g.Row(u)
	strength, missing, loop, fractions := 0.0, 0, false, false
	if g.Weights() == nil {
		_, loop = slices.BinarySearch(g.Neighbors(u), u)
		strength = float64(g.Degree(u))
	} else {
		targets := g.Targets()[lo:hi]
		for i, w := range g.Weights()[lo:hi] {
			if w != float64(int32(w)) {
				fractions = true
			}
			if targets[i] == u {
				loop = true
				w *= 2
			} else if w == 0 {
				missing++
			}
			strength += w
		}
	}
	if loop {
		missing++
	}
	return surveyedRow{strength, hi - lo - int64(missing), loop, fractions}
}

// exactIn32 reports whether all weights are whole numbers with a sum
// of 2^23 at most: then no sum of weights or strengths is rounded in a float32.
func (s *survey) exactIn32() bool { return s.whole && s.twice <= 1<<24 }

// newNetwork returns the network of a graph.
func newNetwork[W float](ctx context.Context, g *graph.Graph, s survey) (*network[W], error) {
	n := g.N()
	net := &network[W]{
		offsets: s.offsets,
		arcs:    make([]arc[W], s.offsets[n]),
		weights: make([]W, n),
	}
	if s.loops {
		net.loops = make([]float64, n)
	}
	return net, par.Ranges(ctx, n, surveyRows, 0, func(_, lo, hi int) error {
		for u := lo; u < hi; u++ {
			net.weights[u] = W(s.strengths[u])
			fillRow(net, int32(u), g)
		}
		return nil
	})
}

// fillRow gives a network the arcs of a row of a graph.
func fillRow[W float](net *network[W], u int32, g *graph.Graph) {
	out, i := net.row(u), 0
	targets := g.Targets()
	lo, hi := g.Row(u)
	for a := lo; a < hi; a++ {
		w := g.Weight(a)
		if targets[a] == u {
			net.loops[u] = 2 * w
		} else if w > 0 {
			out[i] = arc[W]{targets[a], W(w)}
			i++
		}
	}
}
