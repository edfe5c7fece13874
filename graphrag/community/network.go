// SPDX-License-Identifier: Apache-2.0

package community

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// weight is how the arcs of a network hold their weights: float32 if that holds
// all weights and their sums exactly, see exactIn32, else float64.
type weight interface{ float32 | float64 }

// arc is a neighbour with the weight of the edge. Both stand side by side
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
	fetched int32     // keeps fetch from being optimised away
	loops   []float64 // weight of the edge ends of loops; nil if there are none
}

func (net *network[W]) n() int { return len(net.weights) }

func (net *network[W]) row(u int32) []arc[W] {
	return net.arcs[net.offsets[u]:net.offsets[u+1]]
}

// exactIn32 reports whether all weights of a graph are whole numbers with a sum
// of 2^23 at most: then no sum of weights or strengths is rounded in a float32.
func exactIn32(g *graph.Graph, twice float64) bool {
	if twice > 1<<24 {
		return false
	}
	for _, w := range g.Weights32() {
		if w != float32(int32(w)) {
			return false
		}
	}
	for _, w := range g.Weights64() {
		if w != float64(int32(w)) {
			return false
		}
	}
	return true
}

// prefetched is how many rows are fetched into the cache at a time.
const prefetched = 16

// fetch reads the beginnings of rows that will be needed soon, of as many nodes at
// most. These reads do not wait for each other, so that many cache misses cost
// little more than one.
func (net *network[W]) fetch(nodes []int32) {
	var starts [prefetched]int64
	for i, u := range nodes {
		starts[i&(prefetched-1)] = net.offsets[u]
	}
	for i := range nodes {
		if at := starts[i&(prefetched-1)]; at < int64(len(net.arcs)) {
			net.fetched += net.arcs[at].to
		}
	}
}

// newNetwork returns the network of a graph.
func newNetwork[W weight](g *graph.Graph, strengths bool) *network[W] {
	switch {
	case g.Weights64() != nil:
		return networkOf[W](g, g.Weights64(), strengths)
	case g.Weights32() != nil:
		return networkOf[W](g, g.Weights32(), strengths)
	}
	return networkOf[W, float32](g, nil, strengths)
}

// networkOf is newNetwork for weights of one type; all are 1 if there are none.
func networkOf[W, G weight](g *graph.Graph, weights []G, strengths bool) *network[W] {
	n := g.N()
	net := &network[W]{
		offsets: make([]int64, n+1),
		arcs:    make([]arc[W], 0, g.Arcs()),
		weights: make([]W, n),
	}
	targets := g.Targets()
	for u := range int32(n) {
		lo, hi := g.Row(u)
		strength := 0.0
		for a := lo; a < hi; a++ {
			w := G(1)
			if weights != nil {
				w = weights[a]
			}
			strength += float64(w)
			if targets[a] == u {
				strength += float64(w)
				net.loop(u, 2*float64(w))
			} else if w > 0 {
				net.arcs = append(net.arcs, arc[W]{targets[a], W(w)})
			}
		}
		if !strengths {
			strength = 1
		}
		net.weights[u] = W(strength)
		net.offsets[u+1] = int64(len(net.arcs))
	}
	return net
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

// arrange returns the network with its nodes in another order: node order[i]
// becomes node i. What stands close together is found in the cache.
func (net *network[W]) arrange(order []int32) *network[W] {
	n := net.n()
	out := &network[W]{
		offsets: make([]int64, n+1),
		arcs:    make([]arc[W], 0, len(net.arcs)),
		weights: make([]W, n),
	}
	place := make([]int32, n)
	for i, u := range order {
		place[u] = int32(i)
	}
	for i, u := range order {
		if i%prefetched == 0 {
			net.fetch(order[i:min(i+prefetched, n)])
		}
		for _, a := range net.row(u) {
			out.arcs = append(out.arcs, arc[W]{place[a.to], a.w})
		}
		out.weights[i] = net.weights[u]
		out.offsets[i+1] = int64(len(out.arcs))
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

// coarsen makes each part one node of coarse, whose storage is used again.
// parts are the nodes of each part; part is their inverse.
func coarsen[W weight](net *network[W], parts *groups, part []int32, coarse *network[W], links []W) {
	k := parts.count()
	coarse.offsets = append(coarse.offsets[:0], 0)
	if coarse.arcs == nil {
		coarse.arcs = make([]arc[W], 0, len(net.arcs))
	}
	coarse.arcs = coarse.arcs[:0]
	coarse.weights = slices.Grow(coarse.weights[:0], k)[:k]
	for p := range k {
		first := len(coarse.arcs)
		sum := W(0)
		for i := parts.starts[p]; i < parts.starts[p+1]; i++ {
			if i%prefetched == 0 {
				net.fetch(parts.members[i:min(int(i)+prefetched, len(parts.members))])
			}
			u := parts.members[i]
			sum += net.weights[u]
			coarse.arcs = appendParts(coarse.arcs, net.row(u), part, int32(p), links)
		}
		row := coarse.arcs[first:]
		for i, a := range row {
			row[i].w = links[a.to]
			links[a.to] = 0
		}
		links[p] = 0
		coarse.weights[p] = sum
		coarse.offsets = append(coarse.offsets, int64(len(coarse.arcs)))
	}
}

// appendParts adds the arcs of a row to the links of their parts and appends
// arcs to those that had none, but for the part itself.
func appendParts[W weight](arcs []arc[W], row []arc[W], part []int32, own int32, links []W) []arc[W] {
	for _, a := range row {
		q := part[a.to]
		if links[q] == 0 && q != own {
			arcs = append(arcs, arc[W]{to: q})
		}
		links[q] += a.w
	}
	return arcs
}
