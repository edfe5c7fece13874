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

// weight is the type of the weights of arcs: float32 if it represents
// all weights and their sums exactly, see survey.exactIn32, else float64.
type weight interface{ float32 | float64 }

// arc is a neighbour with the weight of the edge. Both are side by side
// because rows are visited in random order.
type arc[W weight] struct {
	to int32
	w  W
}

// network is a graph at one level: rows of arcs, and the weight of each node,
// which is its strength for modularity and the number of its nodes for CPM.
// Loops are left out, since no gain depends on them beyond the node weights,
// and so are arcs of weight 0.
type network[W weight] struct {
	offsets []int64
	arcs    []arc[W]
	weights []W
	loops   []float64 // weight of the edge ends of loops; nil if there are none
	spare   bool      // the storage of the arcs is free once there is another network in place of this one
}

// clear takes all nodes away, and makes room for others and their arcs.
func (net *network[W]) clear(nodes, arcs int) {
	net.offsets = append(slices.Grow(net.offsets[:0], nodes+1), 0)
	net.arcs = slices.Grow(net.arcs[:0], arcs)
	net.weights = slices.Grow(net.weights[:0], nodes)
}

// end makes a node of the last arcs that were appended.
func (net *network[W]) end(weight W) {
	net.offsets = append(net.offsets, int64(len(net.arcs)))
	net.weights = append(net.weights, weight)
}

func (net *network[W]) n() int { return len(net.weights) }

func (net *network[W]) row(u int32) []arc[W] {
	return net.arcs[net.offsets[u]:net.offsets[u+1]]
}

// unit is how many units of slack there are to the weight 1: 4,096 to an arc of average
// weight, by a sample.
func (net *network[W]) unit() float64 {
	sum, count := 0.0, 0
	for a := 0; a < len(net.arcs); a += 1 + len(net.arcs)>>10 {
		sum += float64(net.arcs[a].w)
		count++
	}
	return 4096 * float64(count) / max(sum, leastWeight)
}

// line is the number of arcs in a cache line.
const line = 8

// batch is how many nodes are visited one after the other: their rows, labels and tallies are read
// before the first visit. These reads do not wait for each other, so that many cache
// misses cost little more than one.
const batch = 32

// gather returns the labels of all neighbours of a batch of nodes, row after row.
func (s *solver[W]) gather(net *network[W], labels, nodes []int32) []int32 {
	total := 0
	for _, u := range nodes { // first into the cache
		row := net.row(u)
		total += len(row)
		for i := 0; i < len(row); i += line {
			s.fetched += row[i].w
		}
	}
	if cap(s.neighbours) < total {
		s.neighbours = make([]int32, 2*total)
	}
	rest := s.neighbours[:total]
	for _, u := range nodes {
		row := net.row(u)
		out := rest[:len(row)]
		for i, a := range row {
			out[i] = labels[a.to]
		}
		rest = rest[len(row):]
	}
	return s.neighbours[:total]
}

// fetch reads the sums of communities into the cache.
func (s *solver[W]) fetch(communities []int32) {
	sum, masses, links := W(0), s.masses, s.links
	for _, c := range communities {
		sum += masses[c] + links[c]
	}
	s.fetched = sum
}

func (net *network[W]) loop(u int32, w float64) {
	if net.loops == nil {
		net.loops = make([]float64, net.n())
	}
	net.loops[u] = w
}

// part returns the network of some nodes, given in ascending order, and the arcs
// between them. places is scratch of -1 for all nodes.
func (net *network[W]) part(nodes, places []int32, strengths bool) *network[W] {
	for i, u := range nodes {
		places[u] = int32(i)
	}
	out := &network[W]{
		offsets: make([]int64, len(nodes)+1),
		weights: make([]W, len(nodes)),
	}
	for i, u := range nodes {
		strength := 0.0
		if net.loops != nil && net.loops[u] > 0 {
			strength = net.loops[u]
			out.loop(int32(i), strength)
		}
		for _, a := range net.row(u) {
			if place := places[a.to]; place >= 0 {
				out.arcs = append(out.arcs, arc[W]{place, a.w})
				strength += float64(a.w)
			}
		}
		if !strengths {
			strength = 1
		}
		out.weights[i] = W(strength)
		out.offsets[i+1] = int64(len(out.arcs))
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

// survey is what has to be known of a graph before its network can be made.
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

// surveyRows is the number of rows between two checks of the context.
const surveyRows = 1 << 10

// surveyed returns the survey of a graph; the error is that of ctx, or says that its weights
// cannot be worked with.
func surveyed(ctx context.Context, g *graph.Graph) (survey, error) {
	var s survey
	var err error
	switch {
	case g.Weights64() != nil:
		s, err = surveyOf(ctx, g, g.Weights64())
	case g.Weights32() != nil:
		s, err = surveyOf(ctx, g, g.Weights32())
	default:
		s, err = surveyOf[float32](ctx, g, nil)
	}
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

// surveyOf is surveyed for weights of one type; all are 1 if there are none.
func surveyOf[G weight](ctx context.Context, g *graph.Graph, weights []G) (survey, error) {
	n := g.N()
	s := survey{strengths: make([]float64, n), offsets: make([]int64, n+1), whole: true}
	type found struct{ loops, fractions bool }
	parts := make([]found, n/surveyRows+1)
	if err := par.Ranges(ctx, n, surveyRows, 0, func(_, lo, hi int) error {
		part := &parts[lo/surveyRows]
		for u := lo; u < hi; u++ {
			row := rowOf(g, weights, int32(u))
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

// surveyedRow is what there is to know of a row.
type surveyedRow struct {
	strength        float64
	arcs            int64 // that are no loop and weigh anything
	loop, fractions bool
}

func rowOf[G weight](g *graph.Graph, weights []G, u int32) surveyedRow {
	lo, hi := g.Row(u)
	strength, missing, loop, fractions := 0.0, 0, false, false
	if weights == nil {
		_, loop = slices.BinarySearch(g.Neighbors(u), u)
		strength = float64(g.Degree(u))
	} else {
		targets := g.Targets()[lo:hi]
		for i, w := range weights[lo:hi] {
			w := float64(w)
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
func newNetwork[W weight](ctx context.Context, g *graph.Graph, s survey, strengths bool) (*network[W], error) {
	switch {
	case g.Weights64() != nil:
		return networkOf[W](ctx, g, s, g.Weights64(), strengths)
	case g.Weights32() != nil:
		return networkOf[W](ctx, g, s, g.Weights32(), strengths)
	}
	return networkOf[W, float32](ctx, g, s, nil, strengths)
}

// networkOf is newNetwork for weights of one type; all are 1 if there are none.
func networkOf[W, G weight](ctx context.Context, g *graph.Graph, s survey, weights []G, strengths bool) (*network[W], error) {
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
			net.weights[u] = 1
			if strengths {
				net.weights[u] = W(s.strengths[u])
			}
			fillRow(net, int32(u), g, weights)
		}
		return nil
	})
}

// fillRow gives a network the arcs of a row of a graph.
func fillRow[W, G weight](net *network[W], u int32, g *graph.Graph, weights []G) {
	out, i := net.row(u), 0
	targets := g.Targets()
	lo, hi := g.Row(u)
	for a := lo; a < hi; a++ {
		w := G(1)
		if weights != nil {
			w = weights[a]
		}
		if targets[a] == u {
			net.loops[u] = 2 * float64(w)
		} else if w > 0 {
			out[i] = arc[W]{targets[a], W(w)}
			i++
		}
	}
}
