// SPDX-License-Identifier: Apache-2.0

package community

import (
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// tolerance is the part of a node's weights below which a gain is rounding.
const tolerance = 1e-12

// proposal is what the visit of a node finds.
type proposal[W weight] struct {
	from, to int32 // community, the same if the node stays, alone if to an empty one
	slack    int32 // after the visit
	kept     W     // E(v, from)
	link     W     // E(v, to)
	loss     W     // by how much moves of the same block may have made the gain less
}

// alone stands for an empty community.
const alone = -1

// The slack of a node is by how much its community was better than the next best
// one when it was last visited. The move of a neighbour can use up the weight of
// their edge of it, and while there is some left, a visit would find nothing; a
// node of slack 0 or less waits to be visited. It is counted in units of a network,
// as whole numbers, so that the order of moves does not matter.
const (
	mostSlack = 1 << 24
	proposed  = math.MinInt32 / 2 // a slack below is the place in the block of a node that wants to move

	mostWorkers = 32 // which may all take the most from a slack at once, and not get down to proposed
)

// moveNodes is the fast local move procedure (Traag et al. 2019, supplementary
// algorithm A.2, MoveNodesFast): nodes are visited, few of them in random order, and moved to
// where the quality grows most, an empty community included, and after a move
// those neighbours are visited again that could gain by it, in at most some rounds. It
// reports whether any node moved.
//
// The gain of joining C, for a node v that is taken out of its own community,
// is E(v,C) - γ'·w(v)·W(C). What a move changes in W(C) is left to the
// next pass, as in the paper for nodes that are not neighbours.
//
// Nodes are visited in blocks, by several processors at once, which see the communities as
// they were before the block. Then those of them move, one after the other, that still gain
// whatever the moves before did to their links, so that each move is a gain and the result
// is that of the blocks and not of the processors.
func (s *solver[W]) moveNodes(net *network[W], labels []int32, rounds int) (bool, error) {
	n := net.n()
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
		size := blockSize(len(waiting))
		if size == 1 {
			shuffle(&s.rng, waiting)
		} else {
			waiting = s.spread(waiting, size)
			s.compact(labels)
		}
		for lo := 0; lo < len(waiting); lo += size {
			if lo&0xfff == 0 && s.ctx.Err() != nil {
				return moved, s.ctx.Err()
			}
			block := waiting[lo:min(lo+size, len(waiting))]
			some, err := s.moveBlock(net, labels, block)
			moved = moved || some
			if err != nil {
				return moved, err
			}
		}
		waiting = s.queue[:0]
		for u, slack := range s.slack[:n] {
			if slack <= 0 {
				waiting = append(waiting, int32(u))
			}
		}
	}
	return moved, nil
}

// blockSize is how many of the waiting nodes are visited before any of them moves. A
// sixty-fourth are few enough to seldom be neighbours; few nodes go one by one, because
// there it is chance that finds the better partitions.
func blockSize(waiting int) int {
	if waiting < minArranged {
		return 1
	}
	return waiting / 64
}

// spread puts nodes that wait in ascending order into blocks of a size, so that a block has
// runs of neighbouring nodes from everywhere.
func (s *solver[W]) spread(waiting []int32, size int) []int32 {
	const run = 16
	blocks := len(waiting) / size
	out := s.order[:0]
	for block := range blocks {
		for i := block * run; i < len(waiting); i += blocks * run {
			out = append(out, waiting[i:min(i+run, len(waiting))]...)
		}
	}
	s.order, s.queue = waiting[:cap(waiting)], s.order
	return out
}

// compact numbers the communities anew when most labels are of no community any more: what
// there is of them then fits a cache closer by.
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

// moveBlock visits some nodes, moves those that gain, and reports whether any did.
func (s *solver[W]) moveBlock(net *network[W], labels, block []int32) (moved bool, err error) {
	s.proposals = slices.Grow(s.proposals[:0], len(block))[:len(block)]
	if len(block) == 1 {
		v := s.visitors[0]
		v.propose(net, labels, block, s.proposals, 0)
		if moved = s.commit(net, labels, block); moved {
			v.wake(net, labels, block, s.proposals, false)
		}
		return moved, nil
	}
	workers := s.workersFor(len(block))
	if err = s.ranges(len(block), 256, workers, func(v *visitor[W], lo, hi int) {
		v.propose(net, labels, block[lo:hi], s.proposals[lo:hi], lo)
	}); err != nil {
		return false, err
	}
	if err = s.ranges(len(block), 256, workers, func(v *visitor[W], lo, hi int) {
		v.doubt(net, block, s.proposals, lo, hi)
	}); err != nil {
		return false, err
	}
	moved = s.commit(net, labels, block)
	if !moved {
		return false, nil
	}
	return true, s.ranges(len(block), 256, workers, func(v *visitor[W], lo, hi int) {
		v.wake(net, labels, block[lo:hi], s.proposals[lo:hi], workers > 1)
	})
}

// minShared is the number of nodes from which on it is worth while to wake up other
// processors.
const minShared = 1 << 10

func (s *solver[W]) workersFor(nodes int) int {
	if nodes < minShared {
		return 1
	}
	return s.workers
}

// ranges calls do for ranges of n of a size, which several visitors work on.
func (s *solver[W]) ranges(n, size, workers int, do func(v *visitor[W], lo, hi int)) error {
	return par.Ranges(s.ctx, n, size, workers, func(worker, lo, hi int) error {
		do(s.visitors[worker], lo, hi)
		return nil
	})
}

// commit moves the nodes of a block that still gain.
func (s *solver[W]) commit(net *network[W], labels, block []int32) bool {
	moved := false
	for i, u := range block {
		p := &s.proposals[i]
		if p.from == p.to {
			continue
		}
		s.wants[u] = false
		weight := net.weights[u]
		k, into := s.gamma*float64(weight), W(0)
		if p.to != alone {
			into = s.masses[p.to]
		}
		kept, rest := float64(p.kept), k*float64(s.masses[p.from]-weight)
		if float64(p.link-p.loss)-k*float64(into) <= kept-rest+tolerance*(kept+rest) {
			s.slack[u], p.to = 0, p.from
			continue
		}
		moved = true
		if p.to == alone {
			p.to = s.vacant()
		}
		s.slack[u], labels[u] = p.slack, p.to
		s.masses[p.to] += weight
		s.members[p.to]++
		s.masses[p.from] -= weight
		if s.members[p.from]--; s.members[p.from] == 0 {
			s.masses[p.from] = 0
			s.empty = append(s.empty, p.from)
		}
	}
	return moved
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
