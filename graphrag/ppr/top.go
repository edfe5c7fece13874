// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"cmp"
	"math"
	"slices"
)

const (
	defaultEpsilon = 1e-7
	firstEpsilon   = 1e-5 // where Top looks for the first time
	finer          = 10   // from one look to the next

	// Pushes may go through one of so many arcs of the graph, and on any graph through the
	// least work: going through an arc takes some eight times as long as in a sweep over all.
	pushShare = 16
	leastWork = 1 << 17
	// rankTolerance is the residual at which a solution is good enough for a ranking: on
	// the graphs of docs/performance.md .999 of the first hundred are those of an exact one.
	rankTolerance = 1e-3
)

// candidate is a node that may be among the first, and how far the last step has
// moved it.
type candidate struct {
	node        int32
	value, move float64
}

// order is that of a ranking, best first.
func order(a, b candidate) int {
	if c := cmp.Compare(b.value, a.value); c != 0 {
		return c
	}
	return cmp.Compare(a.node, b.node)
}

// rank ranks the nodes that may be among the first k. Of what is not spent the
// share 1-d stays where it lies, the rest spreads like a walk without end, in
// proportion to the strengths. For the first nodes of this ranking, more than k,
// the step that comes next is computed instead, from their neighbours.
func (x *pusher) rank(s *system, k int) {
	d, left := s.damping, 0.0
	for _, u := range x.touched {
		left += x.unspent[u]
	}
	spread := 0.0
	if s.total > 0 {
		spread = d * left / s.total
	}
	size := 2*int64(k) + 10
	x.ranked = x.ranked[:0]
	least := math.Inf(-1) // of the first nodes up to now
	for _, u := range x.touched {
		value := x.value[u] + (1-d)*x.unspent[u] + spread*s.strength[u]
		if value < least {
			continue
		}
		x.ranked = append(x.ranked, candidate{node: u, value: value})
		if int64(len(x.ranked)) == 2*size {
			slices.SortFunc(x.ranked, order)
			x.ranked = x.ranked[:size]
			least = x.ranked[size-1].value
		}
	}
	slices.SortFunc(x.ranked, order)
	x.ranked = x.ranked[:min(size, int64(len(x.ranked)))]
	for i := range x.ranked {
		c := &x.ranked[i]
		c.move = (1 - d) * (d*s.inflow(c.node, x.unspent) - spread*s.strength[c.node])
		c.value += c.move
	}
	slices.SortFunc(x.ranked, order)
}

// settled tells whether the first k of the ranking will stay the first k if each
// further step moves a node by at most d times as far as the one before, so that
// all of them add up to d/(1-d) times the last.
func (x *pusher) settled(s *system, k int) bool {
	if len(x.ranked) <= k {
		return false // no candidate is left to compare with
	}
	reach := s.damping / (1 - s.damping)
	low, high := math.Inf(1), math.Inf(-1)
	for i, c := range x.ranked {
		if i < k {
			low = min(low, c.value-reach*math.Abs(c.move))
		} else {
			high = max(high, c.value+reach*math.Abs(c.move))
		}
	}
	return low > high
}

// best ranks the first k of all nodes.
func (x *pusher) best(values []float64, k int) {
	x.ranked = x.ranked[:0]
	least := 0.0
	for u, value := range values {
		if value <= 0 || value < least || k == 0 {
			continue
		}
		x.ranked = append(x.ranked, candidate{node: int32(u), value: value})
		if len(x.ranked) == 2*k {
			slices.SortFunc(x.ranked, order)
			x.ranked = x.ranked[:k]
			least = x.ranked[k-1].value
		}
	}
	slices.SortFunc(x.ranked, order)
}
