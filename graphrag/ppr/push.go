// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
)

// pusher is the memory of one push: what each node has kept and not yet spent,
// and a queue of those with too much.
type pusher struct {
	value, unspent []float64
	seen, queued   []bool
	touched, queue []int32
	work, most     int64       // arcs gone through, and when to give up
	ranked         []candidate // of [Solver.Top]
}

func newPusher(n int) *pusher {
	return &pusher{value: make([]float64, n), unspent: make([]float64, n), seen: make([]bool, n), queued: make([]bool, n)}
}

// start spends the mass of a reset vector.
func (x *pusher) start(ctx context.Context, s *system, seeds []Seed, v reset, epsilon float64) error {
	x.clear()
	for _, seed := range seeds {
		if seed.Weight == 0 {
			continue
		}
		mass := seed.Weight / v.total
		x.touch(seed.Node)
		if s.strength[seed.Node] == 0 {
			x.value[seed.Node] += (1 - s.damping) * mass
			continue
		}
		x.unspent[seed.Node] += mass
	}
	return x.spend(ctx, s, epsilon)
}

func (x *pusher) clear() {
	for _, u := range x.touched {
		x.value[u], x.unspent[u], x.seen[u], x.queued[u] = 0, 0, false, false
	}
	x.touched, x.queue, x.work = x.touched[:0], x.queue[:0], 0
}

func (x *pusher) touch(u int32) {
	if !x.seen[u] {
		x.seen[u] = true
		x.touched = append(x.touched, u)
	}
}

func (x *pusher) enqueue(s *system, u int32, threshold float64) {
	if !x.queued[u] && x.unspent[u] > threshold*s.strength[u] {
		x.queued[u] = true
		x.queue = append(x.queue, u)
	}
}

// spend pushes until no node has more than epsilon allows, or it was too much work.
func (x *pusher) spend(ctx context.Context, s *system, epsilon float64) error {
	threshold := epsilon / s.mean
	x.queue = x.queue[:0]
	for _, u := range x.touched {
		x.enqueue(s, u, threshold)
	}
	if err := x.run(ctx, s, threshold); err != nil {
		return fmt.Errorf("ppr: push: %w", err)
	}
	return nil
}

// run spends what nodes have too much of, first come, first served: the share
// 1-d stays, the rest goes along the edges.
func (x *pusher) run(ctx context.Context, s *system, threshold float64) error {
	g, d := s.g, s.damping
	targets := g.Targets()
	for head, look := 0, x.work+stride; head < len(x.queue) && x.work < x.most; head++ {
		if x.work > look {
			if err := context.Cause(ctx); err != nil {
				return err
			}
			look = x.work + stride
		}
		u := x.queue[head]
		x.queued[u] = false
		mass := x.unspent[u]
		x.unspent[u] = 0
		x.value[u] += (1 - d) * mass
		share := d * mass * s.inverse[u] * s.scale
		lo, hi := g.Row(u)
		x.work += hi - lo
		for a := lo; a < hi; a++ {
			t := targets[a]
			x.touch(t)
			x.unspent[t] += share * g.Weight(a)
			x.enqueue(s, t, threshold)
		}
		if loop := s.loop(u); loop > 0 {
			x.unspent[u] += d * mass * s.inverse[u] * loop
			x.enqueue(s, u, threshold)
		}
		if head == cap(x.queue)/2 {
			x.queue = append(x.queue[:0], x.queue[head+1:]...)
			head = -1
		}
	}
	return nil
}
