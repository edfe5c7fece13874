// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// visitor is one goroutine's view of a solver, and its scratch.
type visitor[W weight] struct {
	*solver[W]
	links   []W     // weight of the arcs from the node at hand by community, 0 in between
	touched []int32 // communities
	gains   []int64 // of joining these, see order
	labels  []int32 // of the neighbours of some nodes
	arcs    []arc[W]
	refiner refiner[W]
	fetched int32 // keeps reads from being optimised away
}

// propose visits the nodes of a block from the place first on.
func (v *visitor[W]) propose(net *network[W], labels, nodes []int32, out []proposal[W], first int) {
	v.reserve(net)
	for i := 0; i < len(nodes); i += batch {
		some := nodes[i:min(i+batch, len(nodes))]
		v.gather(net, labels, some)
		neighbours := v.labels
		v.fetch(neighbours)
		for j, u := range some {
			row := net.row(u)
			p := v.visit(u, labels[u], net.weights[u], row, neighbours[:len(row)])
			neighbours = neighbours[len(row):]
			if p.to != p.from {
				v.sizes[u] = int32(first + i + j)
				atomic.OrUint32(&v.wants[u>>5], 1<<(u&31))
			}
			out[i+j] = p
		}
	}
}

// reserve makes room for the links of a network.
func (v *visitor[W]) reserve(net *network[W]) {
	if len(v.links) < net.n() {
		v.links = make([]W, net.n())
	}
}

// gather reads the labels of all neighbours of some nodes.
func (v *visitor[W]) gather(net *network[W], labels, nodes []int32) {
	total, fetched := net.fetch(nodes)
	if cap(v.labels) < total {
		v.labels = make([]int32, 2*total)
	}
	v.labels, v.fetched = v.labels[:total], fetched
	rest := v.labels
	for _, u := range nodes {
		row := net.row(u)
		out := rest[:len(row)]
		for i, a := range row {
			out[i] = labels[a.to]
		}
		rest = rest[len(row):]
	}
}

// fetch reads what there is of communities into the cache.
func (v *visitor[W]) fetch(communities []int32) {
	sum, masses, links := W(0), v.masses, v.links
	for _, c := range communities {
		sum += masses[c] + links[c]
	}
	v.fetched = int32(sum)
}

// linkUp adds up the arcs of a row by community, lists those communities in
// touched and returns their number. It is not inlined, so its variables stay in registers.
//
//go:noinline
func linkUp[W weight](row []arc[W], labels []int32, links []W, touched []int32) int {
	t := 0
	labels = labels[:len(row)]
	for i, a := range row {
		c := labels[i]
		touched[t] = c
		if links[c] == 0 {
			t++
		}
		links[c] += a.w
	}
	return t
}

// visit finds where node u of a community and a weight gains most.
func (v *visitor[W]) visit(u, own int32, weight W, row []arc[W], neighbours []int32) proposal[W] {
	if len(v.touched) <= len(row) {
		v.touched = make([]int32, 2*len(row)+64)
		v.gains = make([]int64, len(v.touched))
	}
	t := linkUp(row, neighbours, v.links, v.touched)
	links, masses, k := v.links, v.masses, v.gamma*float64(weight)
	touched := v.touched[:t]
	p := proposal[W]{from: own, to: own, kept: links[own]}
	link, rest := float64(p.kept), k*float64(masses[own]-weight)
	stay := link - rest + tolerance*(link+rest)
	first, second, at := v.best(touched, own, k, stay)
	if at >= 0 {
		p.to = touched[at]
		p.link = links[p.to]
	}
	for _, c := range touched {
		links[c] = 0
	}
	if first < 0 && v.members[own] > 1 {
		p.to, p.link, first, second = alone, 0, 0, first
	}
	p.slack = 1 + int32(max(0, min(mostSlack, (first-second)*v.unit)))
	return p
}

// best returns the greatest gain of joining one of some communities or staying in one's own, the
// second greatest or 0, and the place of the community to join, -1 for one's own.
// Branch-free: the comparison of gains is unpredictable.
//
//go:noinline
func (v *visitor[W]) best(touched []int32, own int32, k, stay float64) (first, second float64, at int) {
	links, masses := v.links, v.masses
	gains := v.gains[:len(touched)]
	for i, c := range touched {
		gain := order(float64(links[c]) - k*float64(masses[c]))
		if c == own {
			gain = math.MinInt64
		}
		gains[i] = gain
	}
	before := order(stay)
	most, next := before, int64(0)
	for _, gain := range gains {
		next = max(next, min(most, gain))
		most = max(most, gain)
	}
	if most == before {
		return stay, unordered(next), -1
	}
	return unordered(most), unordered(next), slices.Index(gains, most)
}

// order maps numbers to whole numbers of the same order.
func order(x float64) int64 {
	bits := int64(math.Float64bits(x))
	return bits ^ int64(uint64(bits>>63)>>1)
}

// unordered is what a number was before order.
func unordered(x int64) float64 { return math.Float64frombits(uint64(x ^ int64(uint64(x>>63)>>1))) }

// doubt finds what the moves of nodes before may take from the gains of the nodes at the
// places from lo to hi of a block.
func (v *visitor[W]) doubt(net *network[W], block []int32, proposals []proposal[W], lo, hi int) {
	for i := lo; i < hi; i++ {
		p := &proposals[i]
		if p.from == p.to {
			v.slack[block[i]] = p.slack
			continue
		}
		for _, a := range net.row(block[i]) {
			if v.wants[a.to>>5]>>(a.to&31)&1 == 0 {
				continue
			}
			place := int(v.sizes[a.to])
			if place >= i {
				continue
			}
			if other := &proposals[place]; other.from == p.to || other.to == p.from {
				p.loss += a.w
				if other.from == p.to && other.to == p.from {
					p.loss += a.w
				}
			}
		}
	}
}

// wake takes the arcs of nodes that moved from the slack of their neighbours.
func (v *visitor[W]) wake(net *network[W], labels, nodes []int32, proposals []proposal[W], shared bool) {
	for i, u := range nodes {
		p := &proposals[i]
		if p.from == p.to {
			continue
		}
		row := net.row(u)
		if !shared {
			v.take(row, labels, p.to)
			continue
		}
		for _, a := range row {
			if labels[a.to] != p.to && atomic.LoadInt32(&v.slack[a.to]) > 0 {
				atomic.AddInt32(&v.slack[a.to], -v.used(a.w))
			}
		}
	}
}

// take takes the arcs of a row from the slack that nodes of other communities have left. Which
// these are is unpredictable, so there is no branch.
func (s *solver[W]) take(row []arc[W], labels []int32, community int32) {
	slack := s.slack
	for _, a := range row {
		used, left := s.used(a.w), slack[a.to]
		if left <= 0 {
			used = 0
		}
		if labels[a.to] == community {
			used = 0
		}
		slack[a.to] = left - used
	}
}

// used is what an arc takes from a slack.
func (s *solver[W]) used(w W) int32 {
	units := float64(w) * s.unit
	if units >= mostSlack {
		return mostSlack + 1
	}
	return int32(units) + 1
}

// coarsen makes each part of a level one node of its coarse network.
func (s *solver[W]) coarsen(net *network[W], lv *level[W]) error {
	return s.assemble(&lv.coarse, lv.parts.count(), len(net.arcs), func(v *visitor[W], lo, hi int) {
		v.coarsen(net, lv, lo, hi)
	})
}

// assemble makes a network of n nodes with at most some arcs, whose storage is used again. fill
// leaves the rows of a range in v.arcs, their ends there in the offsets, and the weights.
func (s *solver[W]) assemble(net *network[W], n, most int, fill func(v *visitor[W], lo, hi int)) error {
	if cap(net.arcs) < most {
		net.arcs = make([]arc[W], most)
	}
	arcs := net.arcs[:cap(net.arcs)]
	net.weights = slices.Grow(net.weights[:0], n)[:n]
	net.offsets = slices.Grow(net.offsets[:0], n+1)[:n+1]
	net.offsets[0] = 0
	size := 1 + n>>9
	var ends par.Chain // of the ranges
	err := s.ranges(n, size, s.workersFor(n), func(v *visitor[W], lo, hi int) {
		fill(v, lo, hi)
		start := ends.Add(lo/size, int64(len(v.arcs)))
		copy(arcs[start:], v.arcs)
		for u := lo; u < hi; u++ {
			net.offsets[u+1] += start
		}
	})
	net.arcs = arcs[:ends.Sum()]
	return err
}

// coarsen makes nodes of the parts from lo to hi. Their rows are in v.arcs, and the ends of
// these in the offsets of the coarse network.
func (v *visitor[W]) coarsen(net *network[W], lv *level[W], lo, hi int) {
	v.reserve(net)
	out, links := v.arcs[:0], v.links
	members := lv.parts.members[:lv.parts.starts[hi]]
	var neighbours []int32
	ready := lv.parts.starts[lo]
	for p := lo; p < hi; p++ {
		first, sum := len(out), W(0)
		links[p] = 1 // no arc leads there
		for i := lv.parts.starts[p]; i < lv.parts.starts[p+1]; i++ {
			if i == ready {
				ready = min(i+batch, int32(len(members)))
				v.gather(net, lv.part, members[i:ready])
				neighbours = v.labels
			}
			u := members[i]
			sum += net.weights[u]
			row := net.row(u)
			out = appendParts(out, row, neighbours[:len(row)], links)
			neighbours = neighbours[len(row):]
		}
		row := out[first:]
		for i, a := range row {
			row[i].w = links[a.to]
			links[a.to] = 0
		}
		links[p] = 0
		lv.coarse.weights[p] = sum
		lv.coarse.offsets[p+1] = int64(len(out))
	}
	v.arcs = out
}

// appendParts adds the arcs of a row to the links of the parts they lead to, and appends
// arcs to those that had none. Which these are is unpredictable, so there is no branch.
func appendParts[W weight](arcs []arc[W], row []arc[W], parts []int32, links []W) []arc[W] {
	n := len(arcs)
	arcs = slices.Grow(arcs, len(row)+1)[:n+len(row)+1]
	parts = parts[:len(row)]
	for i, a := range row {
		q := parts[i]
		arcs[n].to = q
		if links[q] == 0 {
			n++
		}
		links[q] += a.w
	}
	return arcs[:n]
}
