// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"slices"
)

// gather reads the labels of all neighbours of the given nodes into s.neighbours.
func (s *solver[W]) gather(net *network[W], labels, nodes []int32) {
	total := 0
	for _, u := range nodes {
		total += len(net.row(u))
	}
	if cap(s.neighbours) < total {
		s.neighbours = make([]int32, 2*total)
	}
	s.neighbours = s.neighbours[:total]
	rest := s.neighbours
	for _, u := range nodes {
		row := net.row(u)
		out := rest[:len(row)]
		for i, a := range row {
			out[i] = labels[a.to]
		}
		rest = rest[len(row):]
	}
}

// fetch reads the state of communities, so that it is in the cache.
func (s *solver[W]) fetch(communities []int32) {
	sum, masses, links := W(0), s.masses, s.links
	for _, c := range communities {
		sum += masses[c] + links[c]
	}
	s.fetched = int32(sum)
}

// linkUp sums the arcs of a row by community in links, lists these communities in touched and returns their
// number. It is not inlined, so that its variables stay in registers.
//
//go:noinline
func linkUp[W float](row []arc[W], labels []int32, links []W, touched []int32) int {
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

// visit returns the community in which a node gains most: its own, another one, or alone in an empty one. It
// sets the slack of the node: the difference to the second greatest gain.
func (s *solver[W]) visit(net *network[W], labels []int32, u int32) (to int32) {
	own, weight, row := labels[u], net.weights[u], net.row(u)
	if len(s.touched) <= len(row) {
		s.touched = make([]int32, 2*len(row)+64)
	}
	t := linkUp(row, labels, s.links, s.touched)
	links, masses, k := s.links, s.masses, s.gamma*float64(weight)
	touched := s.touched[:t]
	kept, rest := float64(links[own]), k*float64(masses[own]-weight)
	first, second, at := s.best(touched, own, k, kept-rest+tolerance*(kept+rest))
	if to = own; at >= 0 {
		to = touched[at]
	}
	for _, c := range touched {
		links[c] = 0
	}
	if first < 0 && s.members[own] > 1 {
		to, first, second = alone, 0, first
	}
	s.slack[u] = W(max(0, first-second))
	return to
}

// best returns the greatest gain of joining a community of touched or staying in own, the second greatest or 0,
// and the index in touched of the community to join, -1 for staying.
func (s *solver[W]) best(touched []int32, own int32, k, stay float64) (first, second float64, at int) {
	links, masses := s.links, s.masses
	first, at = stay, -1
	for i, c := range touched {
		gain := float64(links[c]) - k*float64(masses[c])
		switch {
		case c == own:
		case gain > first:
			first, second, at = gain, max(second, first), i
		default:
			second = max(second, gain)
		}
	}
	return first, second, at
}

// coarsen builds the coarse network of a level, in which each part is a node.
func (s *solver[W]) coarsen(net *network[W], lv *layer[W]) error {
	n, links, out := lv.parts.count(), s.links, &lv.coarse
	out.reset(n, len(net.arcs)+1)
	var neighbours []int32
	ready := int32(0)
	for p := range n {
		if p%looked == 0 && s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		first, sum := len(out.arcs), W(0)
		links[p] = 1 // not 0, so that no arc within the part is added
		for i := lv.parts.starts[p]; i < lv.parts.starts[p+1]; i++ {
			if i == ready {
				ready = min(i+batch, int32(len(lv.parts.members)))
				s.gather(net, lv.part, lv.parts.members[i:ready])
				neighbours = s.neighbours
			}
			u := lv.parts.members[i]
			sum += net.weights[u]
			row := net.row(u)
			out.arcs = appendParts(out.arcs, row, neighbours[:len(row)], links)
			neighbours = neighbours[len(row):]
		}
		row := out.arcs[first:]
		for i, a := range row {
			row[i].w = links[a.to]
			links[a.to] = 0
		}
		links[p] = 0
		out.end(sum)
	}
	return nil
}

// appendParts adds the arcs of a row to the links of the parts they lead to, and appends an arc for each part
// whose link was 0. It has no branch, because whether the link is 0 is unpredictable.
func appendParts[W float](arcs []arc[W], row []arc[W], parts []int32, links []W) []arc[W] {
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

// tolerance is the relative size below which a gain is a rounding error.
const tolerance = 1e-12

// alone means an empty community as the target of a move.
const alone = -1

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary algorithm A.2, MoveNodesFast):
// it moves each node to the community, possibly an empty one, where the quality grows most. After a move it
// visits those neighbours again that could now gain. A draft instead visits all nodes in each of a few rounds.
// It reports whether any node moved.
//
// The gain of joining C, for a node v taken out of its community, is E(v,C) - γ'·w(v)·W(C). Nodes affected only
// by the change of W(C) wait for the next pass, as nodes that are not neighbours do in the paper.
//
// Fewer than minFolded nodes are visited in random order, which finds better partitions; more nodes in the
// order of memory, which is faster.
func (s *solver[W]) moveNodes(net *network[W], labels []int32, draft bool) (bool, error) {
	n, rounds := net.n(), math.MaxInt
	if draft {
		rounds = draftRounds
	}
	s.count(net, labels)
	waiting := s.queue[:0]
	for u := range int32(n) {
		s.slack[u] = 0
		if len(net.row(u)) > 0 || s.members[labels[u]] > 1 {
			waiting = append(waiting, u)
		}
	}
	moved := false
	for ; len(waiting) > 0 && rounds > 0; rounds-- {
		if len(waiting) < minFolded {
			shuffle(&s.rng, waiting)
		}
		some, err := s.visitAll(net, labels, waiting, draft)
		if moved = moved || some; err != nil {
			return moved, err
		}
		waiting = s.queue[:0]
		for u, slack := range s.slack[:n] {
			if slack < 0 || draft {
				waiting = append(waiting, int32(u))
			}
		}
	}
	return moved, nil
}

// visitAll visits nodes, and reduces the slack of the neighbours of moved ones unless it is a draft. It reports
// whether any node moved.
func (s *solver[W]) visitAll(net *network[W], labels, waiting []int32, draft bool) (moved bool, err error) {
	for i := 0; i < len(waiting); i += batch {
		if i%looked == 0 && s.ctx.Err() != nil {
			return moved, s.ctx.Err()
		}
		some := waiting[i:min(i+batch, len(waiting))]
		s.gather(net, labels, some)
		s.fetch(s.neighbours)
		for _, u := range some {
			to := s.visit(net, labels, u)
			if to == labels[u] {
				continue
			}
			moved = true
			s.move(labels, u, to, net.weights[u])
			if !draft {
				// The slack of each neighbour in another community falls by the weight of its arc. A node with
				// slack left cannot gain by moving; a node whose slack is below 0 is visited again.
				slack := s.slack
				for _, a := range net.row(u) {
					if labels[a.to] != labels[u] {
						slack[a.to] -= a.w
					}
				}
			}
		}
	}
	return moved, nil
}

// looked is the number of nodes that are visited between two checks of the context.
const looked = 1 << 12

// move moves a node to a community, or to an empty one.
func (s *solver[W]) move(labels []int32, u, to int32, weight W) {
	if to == alone {
		to = s.vacant()
	}
	from := labels[u]
	labels[u] = to
	s.masses[to] += weight
	s.members[to]++
	s.masses[from] -= weight
	if s.members[from]--; s.members[from] == 0 {
		s.masses[from] = 0
		s.empty = append(s.empty, from)
	}
}

// vacant returns an unused label.
func (s *solver[W]) vacant() int32 {
	if last := len(s.empty) - 1; last >= 0 {
		c := s.empty[last]
		s.empty = s.empty[:last]
		return c
	}
	s.labels++
	return s.labels - 1
}

// count sets the masses, the sizes and the unused labels of the communities.
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
}
