// SPDX-License-Identifier: Apache-2.0

package community

import "math"

// tolerance is the part of a node's weights below which a gain is rounding.
const tolerance = 1e-12

// alone is the number of an empty community.
const alone = -1

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary
// algorithm A.2, MoveNodesFast): nodes are visited, few of them in random order, and moved to
// where the quality grows most, an empty community included, and after a move
// those neighbours are visited again that could gain by it. A draft visits all nodes, in
// some rounds, and wakes up none. It reports whether any node moved.
//
// The gain of joining C, for a node v that is taken out of its own community,
// is E(v,C) - γ'·w(v)·W(C). What a move changes in W(C) is left to the
// next pass, as in the paper for nodes that are not neighbours.
//
// Few nodes come in random order, because there it is chance that finds the better partitions;
// many come in their own, in which they lie in memory.
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

// visitAll visits nodes, and wakes up the neighbours of those that move unless it is a draft. It
// reports whether any moved.
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
				s.wake(net.row(u), labels, labels[u])
			}
		}
	}
	return moved, nil
}

// looked is how many nodes are visited between two looks at the context.
const looked = 1 << 12

// move moves a node of some weight to a community, or to an empty one.
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
}
