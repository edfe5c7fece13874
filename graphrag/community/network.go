// SPDX-License-Identifier: Apache-2.0

package community

import "slices"

// float is how the arcs of a network hold their weights: float32 if that holds
// all weights and their sums exactly, see survey.exactIn32, else float64.
type float interface{ float32 | float64 }

// arc is a neighbour with the weight of the edge. Both stand side by side
// because rows are visited in random order.
type arc[W float] struct {
	to int32
	w  W
}

// network is a graph at one level: rows of arcs, and the weight of each node,
// which is its strength.
// Loops are left out, since no gain depends on them beyond the node weights,
// and so are arcs of weight 0.
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

// batch is how many nodes are worked on together: the labels of their neighbours, and what there
// is of their communities, are read before any is worked on. These reads do not wait for each other,
// so that many cache misses cost little more than one.
const batch = 32

func (net *network[W]) loop(u int32, w float64) {
	if net.loops == nil {
		net.loops = make([]float64, net.n())
	}
	net.loops[u] = w
}

// part returns the network of some nodes, given in ascending order, and the arcs
// between them. places is scratch of -1 for all nodes.
func (net *network[W]) part(nodes, places []int32) *network[W] {
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
