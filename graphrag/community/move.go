// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"slices"
)

// tolerance is the part of a node's weights below which a gain is rounding.
const tolerance = 1e-12

// alone stands for an empty community.
const alone = -1

// The slack of a node is by how much its community was better than the next best
// one when it was last visited. The move of a neighbour can use up the weight of
// their edge of it, and while there is some left, a visit would find nothing; a
// node of slack 0 or less waits to be visited. It is counted in units of a network.
const mostSlack = 1 << 24

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary
// algorithm A.2, MoveNodesFast): nodes are visited, few of them in random order, and moved to
// where the quality grows most, an empty community included, and after a move
// those neighbours are visited again that could gain by it. A draft visits all nodes, in
// some rounds, and revisits none. It reports whether any node moved.
//
// The gain of joining C, for a node v that is taken out of its own community,
// is E(v,C) - γ'·w(v)·W(C). What a move changes in W(C) is left to the
// next pass, as in the paper for nodes that are not neighbours.
//
// Many nodes are visited in the order of memory.
func (s *solver[W]) moveNodes(net *network[W], labels []int32, draft bool) (bool, error) {
	n, rounds, waits := net.n(), math.MaxInt, int32(0) // the most slack of a node that waits
	if draft {
		rounds, waits = draftRounds, mostSlack+1
	}
	s.count(net, labels)
	waiting := s.queue[:0]
	for u := range int32(n) {
		s.slack[u] = 1
		if len(net.row(u)) > 0 || s.members[labels[u]] > 1 {
			waiting = append(waiting, u)
		}
	}
	moved := false
	for ; len(waiting) > 0 && rounds > 0; rounds-- {
		if len(waiting) < minLarge {
			shuffle(&s.rng, waiting)
		} else {
			s.compact(labels)
		}
		for i := 0; i < len(waiting); i += batch {
			if i&0xfff < batch && s.ctx.Err() != nil {
				return moved, s.ctx.Err()
			}
			nodes := waiting[i:min(i+batch, len(waiting))]
			s.fetch(s.gather(net, labels, nodes))
			for _, u := range nodes {
				moved = s.visit(net, labels, u, draft) || moved
			}
		}
		waiting = s.queue[:0]
		for u, slack := range s.slack[:n] {
			if slack <= waits {
				waiting = append(waiting, int32(u))
			}
		}
	}
	return moved, nil
}

// visit moves a node to the community where it gains most, and reports whether it moved.
func (s *solver[W]) visit(net *network[W], labels []int32, u int32, draft bool) bool {
	row, own, weight := net.row(u), labels[u], net.weights[u]
	to, slack := s.best(row, labels, own, weight)
	s.slack[u] = slack
	if to == own {
		return false
	}
	if to == alone {
		to = s.vacant()
	}
	labels[u] = to
	s.masses[to] += weight
	s.members[to]++
	s.masses[own] -= weight
	if s.members[own]--; s.members[own] == 0 {
		s.masses[own] = 0
		s.empty = append(s.empty, own)
	}
	if !draft {
		s.take(row, labels, to)
	}
	return true
}

// linkUp adds up the arcs of a row by community, lists those communities in
// touched and returns their number. It is not inlined, so its variables stay in registers.
//
//go:noinline
func linkUp[W weight](row []arc[W], labels []int32, links []W, touched []int32) int {
	t := 0
	for _, a := range row {
		c := labels[a.to]
		touched[t] = c
		if links[c] == 0 {
			t++
		}
		links[c] += a.w
	}
	return t
}

// best finds where a node of a community, a weight and a row gains most, and its slack there.
func (s *solver[W]) best(row []arc[W], labels []int32, own int32, weight W) (to, slack int32) {
	if len(s.touched) <= len(row) {
		s.touched = make([]int32, 2*len(row)+64)
		s.gains = make([]int64, len(s.touched))
	}
	links, k := s.links, s.gamma*float64(weight)
	touched := s.touched[:linkUp(row, labels, links, s.touched)]
	link, rest := float64(links[own]), k*float64(s.masses[own]-weight)
	stay := link - rest + tolerance*(link+rest)
	first, second, at := s.greatest(touched, own, k, stay)
	if to = own; at >= 0 {
		to = touched[at]
	}
	for _, c := range touched {
		links[c] = 0
	}
	if first < 0 && s.members[own] > 1 {
		to, first, second = alone, 0, first
	}
	return to, 1 + int32(max(0, min(mostSlack, (first-second)*s.unit)))
}

// greatest returns the greatest gain of joining one of some communities or staying in one's own, the
// second greatest or 0, and the place of the community to join, -1 for one's own.
// Branch-free: the comparison of gains is unpredictable.
//
//go:noinline
func (s *solver[W]) greatest(touched []int32, own int32, k, stay float64) (first, second float64, at int) {
	links, masses := s.links, s.masses
	gains := s.gains[:len(touched)]
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

// compact renumbers the communities when most labels are unused: their sums then fit a smaller
// cache.
func (s *solver[W]) compact(labels []int32) {
	if 2*len(s.empty) < int(s.labels) {
		return
	}
	numbers, next := s.sizes[:s.labels], int32(0)
	for c, members := range s.members[:s.labels] {
		if members > 0 {
			numbers[c], s.masses[next], s.members[next] = next, s.masses[c], members
			next++
		}
	}
	clear(s.masses[next:s.labels])
	clear(s.members[next:s.labels])
	s.labels, s.empty = next, s.empty[:0]
	for u, c := range labels {
		labels[u] = numbers[c]
	}
}

// vacant returns a label of no community.
func (s *solver[W]) vacant() int32 {
	if last := len(s.empty) - 1; last >= 0 {
		c := s.empty[last]
		s.empty = s.empty[:last]
		return c
	}
	s.labels++
	return s.labels - 1
}

// count adds up the communities.
func (s *solver[W]) count(net *network[W], labels []int32) {
	n := net.n()
	masses, members := s.masses[:n], s.members[:n]
	clear(masses)
	clear(members)
	for u, c := range labels {
		masses[c] += net.weights[u]
		members[c]++
	}
	s.labels, s.empty = int32(n), s.empty[:0]
	for ; s.labels > 0 && members[s.labels-1] == 0; s.labels-- {
	}
	for c, size := range members[:s.labels] {
		if size == 0 {
			s.empty = append(s.empty, int32(c))
		}
	}
	s.unit = net.unit()
}
