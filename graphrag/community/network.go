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

// float is the type of weights in a network: float32 if it represents all weights and their sums exactly
// (survey.exactIn32), else float64.
type float interface{ float32 | float64 }

// arc is a neighbour with the weight of its edge, adjacent in memory, because rows are visited in random order.
type arc[W float] struct {
	to int32
	w  W
}

// network is a graph at one level: rows of arcs, and the weight of each node, which is its strength. It has no
// self-loops, because gains depend on them only by node weights, and no arcs of weight 0.
type network[W float] struct {
	offsets []int64
	arcs    []arc[W]
	weights []W
	loops   []float64 // by node: weight of the ends of its self-loop; nil if there are none
	spare   bool      // a network that replaces this one may overwrite its arcs
}

func (net *network[W]) n() int { return len(net.weights) }

func (net *network[W]) row(u int32) []arc[W] {
	return net.arcs[net.offsets[u]:net.offsets[u+1]]
}

// reset removes all nodes, and allocates room for the given numbers of nodes and arcs.
func (net *network[W]) reset(nodes, arcs int) {
	net.offsets = append(slices.Grow(net.offsets[:0], nodes+1), 0)
	net.weights = slices.Grow(net.weights[:0], nodes)
	net.arcs = slices.Grow(net.arcs[:0], arcs)
}

// end ends the row of a node, whose weight is given.
func (net *network[W]) end(weight W) {
	net.offsets = append(net.offsets, int64(len(net.arcs)))
	net.weights = append(net.weights, weight)
}

// batch is the number of nodes processed together: the labels of all their neighbours, and the state of their
// communities, are read first. These reads do not depend on each other, so that their cache misses overlap.
const batch = 32

// part returns the network of the given nodes, in ascending order, and of the arcs between them. places is a
// buffer that contains -1 for all nodes.
func (net *network[W]) part(nodes, places []int32) *network[W] {
	for i, u := range nodes {
		places[u] = int32(i)
	}
	out := &network[W]{}
	out.reset(len(nodes), 0)
	for i, u := range nodes {
		strength := 0.0
		if net.loops != nil && net.loops[u] > 0 {
			strength = net.loops[u]
			if out.loops == nil {
				out.loops = make([]float64, len(nodes))
			}
			out.loops[i] = strength
		}
		for _, a := range net.row(u) {
			if place := places[a.to]; place >= 0 {
				out.arcs = append(out.arcs, arc[W]{place, a.w})
				strength += float64(a.w)
			}
		}
		out.end(W(strength))
	}
	for _, u := range nodes {
		places[u] = -1
	}
	return out
}

// groups holds the nodes of each community in compressed rows, in order of labels, without empty communities.
type groups struct {
	starts  []int32
	members []int32
}

func (g *groups) count() int { return len(g.starts) - 1 }

func (g *groups) of(c int) []int32 { return g.members[g.starts[c]:g.starts[c+1]] }

// gather sorts the nodes by label with a counting sort, and renumbers the labels to 0..count-1. Labels are
// below the number of nodes. place is a buffer.
func (g *groups) gather(labels, place []int32) {
	n := len(labels)
	place = place[:n]
	clear(place)
	for _, c := range labels {
		place[c]++
	}
	g.starts = append(g.starts[:0], 0)
	sum, count := int32(0), int32(0)
	for c, size := range place {
		if size > 0 {
			sum += size
			g.starts = append(g.starts, sum)
			place[c] = count
			count++
		}
	}
	for u, c := range labels {
		labels[u] = place[c]
	}
	g.members = slices.Grow(g.members[:0], n)[:n]
	copy(place, g.starts[:count])
	for u, c := range labels {
		g.members[place[c]] = int32(u)
		place[c]++
	}
}

// survey holds the sums over a graph that its network needs.
type survey struct {
	strengths []float64 // sum of the edge weights of each node
	twice     float64   // 2m, the sum of all strengths
	offsets   []int64   // row boundaries, without self-loops and arcs of weight 0
	loops     bool      // the graph has self-loops
	whole     bool      // all weights are whole numbers
}

// leastWeight is the least sum of weights by which others can be divided without overflow.
const leastWeight = 0x1p-1000

// surveyRows is the number of rows that are read between two checks of the context.
const surveyRows = 1 << 10

// surveyed returns the survey of a graph. The error is the context's, or says that the sum of the weights is
// too large or too small.
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

// sums returns the survey of a graph, without a check of the sum.
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

// surveyedRow holds the sums over one row.
type surveyedRow struct {
	strength        float64
	arcs            int64 // number of arcs that are no self-loop and have a weight above 0
	loop, fractions bool
}

func rowOf(g *graph.Graph, u int32) surveyedRow {
	lo, hi := g.Row(u)
	strength, missing, loop, fractions := 0.0, 0, false, false
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
	if loop {
		missing++
	}
	return surveyedRow{strength, hi - lo - int64(missing), loop, fractions}
}

// exactIn32 reports whether all weights are whole numbers whose sum is at most 2^23: then float32 represents
// all sums of weights and strengths exactly.
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

// fillRow copies the arcs of a row of a graph to the network.
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
