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

// float is how the arcs of a network hold their weights: float32 if that holds
// all weights and their sums exactly, see survey.exactIn32, else float64.
type float interface{ float32 | float64 }

// arc is a neighbour with the weight of the edge. Both stand side by side
// because rows are visited in random order.
type arc[W float] struct {
	to int32
	w  W
}

// network is a graph at one level: rows of arcs, and the weight of each node, which is its strength. Loops
// are left out, since no gain depends on them beyond the node weights, and so are arcs of weight 0.
type network[W float] struct {
	offsets []int64
	arcs    []arc[W]
	weights []W
	loops   []float64 // weight of the edge ends of loops; nil if there are none
	spare   bool      // the storage of the arcs is free once there is another network in place of this one
}

func (net *network[W]) n() int { return len(net.weights) }

func (net *network[W]) row(u int32) []arc[W] {
	return net.arcs[net.offsets[u]:net.offsets[u+1]]
}

// reset makes a network without nodes, with room for some nodes and arcs.
func (net *network[W]) reset(nodes, arcs int) {
	net.offsets = append(slices.Grow(net.offsets[:0], nodes+1), 0)
	net.weights = slices.Grow(net.weights[:0], nodes)
	net.arcs = slices.Grow(net.arcs[:0], arcs)
}

// end ends the row of a node of some weight.
func (net *network[W]) end(weight W) {
	net.offsets = append(net.offsets, int64(len(net.arcs)))
	net.weights = append(net.weights, weight)
}

// batch is the number of nodes that are worked on together: the labels of their neighbours, and what there
// is of their communities, are read before any is worked on. These reads do not wait for each other,
// so that many cache misses cost little more than one.
const batch = 32

// part returns the network of some nodes, given in ascending order, and the arcs
// between them. places is scratch of -1 for all nodes.
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

// groups are the members of communities in compressed rows, the communities in
// ascending order of their labels and without the empty ones.
type groups struct {
	starts  []int32
	members []int32
}

func (g *groups) count() int { return len(g.starts) - 1 }

func (g *groups) of(c int) []int32 { return g.members[g.starts[c]:g.starts[c+1]] }

// gather sorts the nodes by label, counting, and renumbers the labels to
// 0..count-1. Labels are below the number of nodes. place is scratch.
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

// survey contains the sums of a graph that its network needs.
type survey struct {
	strengths []float64 // of the nodes
	twice     float64   // 2m, the sum of all strengths
	offsets   []int64   // of the rows without loops and without arcs of weight 0
	loops     bool      // whether there are loops
	whole     bool      // whether all weights are whole numbers
}

// leastWeight is the least sum of weights that others can be divided by without leaving the range of a float64.
const leastWeight = 0x1p-1000

// surveyRows is the number of rows that are looked at between two looks at the context.
const surveyRows = 1 << 10

// surveyed returns the survey of a graph. The error is the error of ctx, or reports unusable weights.
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
