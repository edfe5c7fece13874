// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
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
	mostSlack   = 1 << 24
	mostWorkers = 32 // which may all take the most from a slack at once
)

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
// Nodes are visited in blocks, by several processors at once, which see the communities as
// they were before the block. Then those of them move, one after the other, that still gain
// whatever the moves before did to their links, so that each move is a gain and the result
// is that of the blocks and not of the processors. Few nodes come in random order, because
// there it is chance that finds the better partitions.
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
		size := max(1, len(waiting)/blocks)
		if len(waiting) < minFolded {
			shuffle(&s.rng, waiting)
		} else {
			waiting = s.spread(waiting, size)
			s.compact(labels)
		}
		some, err := s.moveBlocks(net, labels, waiting, size, draft)
		if moved = moved || some; err != nil {
			return moved, err
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

// block is some nodes that are visited before any of them moves, and what the visits found.
type block[W weight] struct {
	nodes     []int32
	proposals []proposal[W]
}

// take makes a block of some nodes.
func (b *block[W]) take(nodes []int32) {
	b.nodes = nodes
	b.proposals = slices.Grow(b.proposals[:0], len(nodes))[:len(nodes)]
}

const (
	blocks = 64        // of a round: so the nodes of one are seldom neighbours
	share  = 2 * batch // of a block, which one processor visits in a row
	wakers = 4         // processors to one that wakes up neighbours: visits take four times as long
)

// moveBlocks visits nodes in blocks of a size, and reports whether any moved. The neighbours of
// those that did are woken up while the next block is visited, which does not look at slacks;
// in a draft they are not.
func (s *solver[W]) moveBlocks(net *network[W], labels, waiting []int32, size int, draft bool) (moved bool, err error) {
	workers := s.workers
	if size < share {
		workers = 1
	}
	each := func(n int, do func(worker, task int)) {
		_ = par.Ranges(context.Background(), n, 1, workers, func(worker, task, _ int) error { do(worker, task); return nil })
	}
	last, next := &s.last, &s.next
	last.nodes = nil
	wakes := (workers + wakers - 1) / wakers
	if draft {
		wakes = 0
	}
	visit := func(worker, task int) {
		v := s.visitors[worker]
		if task < wakes {
			lo, hi := len(last.nodes)*task/wakes, len(last.nodes)*(task+1)/wakes
			v.wake(net, labels, last.nodes[lo:hi], last.proposals[lo:hi], wakes > 1)
			return
		}
		lo := (task - wakes) * share
		hi := min(lo+share, len(next.nodes))
		v.propose(net, labels, next.nodes[lo:hi], next.proposals[lo:hi], lo)
	}
	doubt := func(worker, task int) {
		lo := task * share
		s.visitors[worker].doubt(net, next.nodes, next.proposals, lo, min(lo+share, len(next.nodes)))
	}
	for looked := 0; len(waiting) > 0 || len(last.nodes) > 0; looked += size {
		if looked&0xfff < size && s.ctx.Err() != nil {
			return moved, s.ctx.Err()
		}
		next.take(waiting[:min(size, len(waiting))])
		waiting = waiting[len(next.nodes):]
		shares := (len(next.nodes) + share - 1) / share
		each(wakes+shares, visit)
		each(shares, doubt)
		if s.commit(net, labels, next.nodes, next.proposals) {
			moved = true
		} else {
			next.nodes = nil
		}
		*last, *next = *next, *last
	}
	return moved, nil
}

// spread puts nodes that wait in ascending order into blocks of a size, so that a block has
// runs of neighbouring nodes from everywhere: a hundred or so, or more short ones.
func (s *solver[W]) spread(waiting []int32, size int) []int32 {
	run := max(16, size/128)
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

// commit moves the nodes of a block that still gain.
func (s *solver[W]) commit(net *network[W], labels, block []int32, proposals []proposal[W]) bool {
	moved := false
	for i, u := range block {
		p := &proposals[i]
		if p.from == p.to {
			continue
		}
		s.wants[u>>5] &^= 1 << (u & 31)
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
