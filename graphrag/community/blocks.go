// SPDX-License-Identifier: Apache-2.0

package community

import (
	"slices"
	"sync/atomic"
)

// block is some nodes that are visited before any of them moves, and what the visits found.
type block[W weight] struct {
	nodes     []int32
	proposals []proposal[W]
}

// blocks is how many there are in a round: so a block's nodes are seldom neighbours.
const blocks = 64

// moveBlocks visits nodes in blocks, and reports whether any moved. The neighbours of those
// that did are woken up while the next block is visited, which does not look at slacks.
func (s *solver[W]) moveBlocks(net *network[W], labels, waiting []int32) (moved bool, err error) {
	const some = 2 * batch
	size := len(waiting) / blocks
	waiting = s.spread(waiting, size)
	s.compact(labels)
	crew := newCrew(s.workers)
	defer crew.dismiss()
	var last, next block[W]
	for len(waiting) > 0 || len(last.nodes) > 0 {
		if s.ctx.Err() != nil {
			return moved, s.ctx.Err()
		}
		next.take(waiting[:min(size, len(waiting))])
		waiting = waiting[len(next.nodes):]
		wakes := (crew.workers + wakers - 1) / wakers
		visits := (len(next.nodes) + some - 1) / some
		crew.each(wakes+visits, func(worker, task int) {
			v := s.visitors[worker]
			if task < wakes {
				lo, hi := len(last.nodes)*task/wakes, len(last.nodes)*(task+1)/wakes
				v.wake(net, labels, last.nodes[lo:hi], last.proposals[lo:hi], wakes > 1)
				return
			}
			lo := (task - wakes) * some
			hi := min(lo+some, len(next.nodes))
			v.propose(net, labels, next.nodes[lo:hi], next.proposals[lo:hi], lo)
		})
		crew.each(visits, func(worker, task int) {
			lo := task * some
			s.visitors[worker].doubt(net, next.nodes, next.proposals, lo, min(lo+some, len(next.nodes)))
		})
		if !s.commit(net, labels, next.nodes, next.proposals) {
			next.nodes = nil
		} else {
			moved = true
		}
		last, next = next, last
	}
	return moved, nil
}

// take makes a block of some nodes.
func (b *block[W]) take(nodes []int32) {
	b.nodes = nodes
	b.proposals = slices.Grow(b.proposals[:0], len(nodes))[:len(nodes)]
}

// wakers is how many processors there are to one that wakes up neighbours: visits take about
// four times as long.
const wakers = 4

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

// commit moves the nodes of a block that still gain.
func (s *solver[W]) commit(net *network[W], labels, block []int32, proposals []proposal[W]) bool {
	moved := false
	for i, u := range block {
		p := &proposals[i]
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
			if !v.wants[a.to] {
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
// these are is not to be foreseen, so there is no branch.
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
