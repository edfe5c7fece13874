// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
	"math"

	"golang.org/x/sync/errgroup"
)

// Lanes is the number of queries of a batch that share the reading of an arc.
// Their directions at one node fill a cache line.
const Lanes = 16

// SolveBatch is [Solver.Solve] for many reset vectors. Groups of [Lanes] read the
// edges together; [Options.Workers] groups run side by side, each of which needs
// 450 bytes a node. A result does not depend on the other queries of the batch,
// their order or the workers; it differs from that of Solve within the tolerance.
// Results are written over dst as far as its slices are large enough.
func (s *Solver) SolveBatch(ctx context.Context, resets [][]Seed, dst [][]float64) ([][]float64, error) {
	vectors := make([]reset, len(resets))
	for i, seeds := range resets {
		var err error
		if vectors[i], err = s.checkReset(seeds); err != nil {
			return nil, fmt.Errorf("ppr: query %d: %w", i, err)
		}
	}
	for len(dst) < len(resets) {
		dst = append(dst, nil)
	}
	dst = dst[:len(resets)]
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(s.opts.Workers)
	for first := 0; first < len(resets); first += Lanes {
		last := min(first+Lanes, len(resets))
		group.Go(func() error {
			b := s.batch.Get().(*batch)
			defer s.batch.Put(b)
			if err := b.solve(ctx, s, resets[first:last], vectors[first:last]); err != nil {
				return fmt.Errorf("ppr: solve batch: %w", err)
			}
			for i := first; i < last; i++ {
				dst[i] = b.result(s, i-first, vectors[i].sum, dst[i])
				s.addLost(resets[i], vectors[i], dst[i])
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return dst, nil
}

type lane [Lanes]float64

// batch is the memory of a group of queries, like [single] with a lane for each.
type batch struct {
	y, r, q []lane
	p       [][Lanes]float32
	lanes   int // in use
	dot     lane
}

func newBatch(n int) *batch {
	return &batch{y: make([]lane, n), r: make([]lane, n), q: make([]lane, n), p: make([][Lanes]float32, n)}
}

func (b *batch) result(s *Solver, l int, sum float64, dst []float64) []float64 {
	dst = sized(dst, len(b.y))
	for u := range b.y {
		dst[u] = b.y[u][l] * s.strength[u] / sum
	}
	return dst
}

func (b *batch) solve(ctx context.Context, s *Solver, resets [][]Seed, vectors []reset) error {
	b.begin(s, resets, vectors)
	var alpha, beta, rho, norm lane
	b.measure(s, &alpha, &rho, &norm)
	for sweep := 0; ; sweep++ {
		var going lane
		done := true
		for l, v := range vectors {
			if norm[l] > s.opts.Tolerance*v.sum {
				going[l], done = 1, false
			}
		}
		b.turn(s, &alpha, &beta, &going)
		if done {
			return nil
		}
		if sweep == maxSweeps {
			return fmt.Errorf("residuals %.3g after %d sweeps", norm[:b.lanes], sweep)
		}
		if err := s.rows.pullLanes(ctx, s, b); err != nil {
			return err
		}
		last := rho
		for l := range alpha {
			alpha[l] = quotient(last[l], b.dot[l])
		}
		b.measure(s, &alpha, &rho, &norm)
		for l := range beta {
			beta[l] = quotient(rho[l], last[l])
		}
	}
}

// quotient is 0 for a lane that stands still.
func quotient(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// begin sets x = v and r = d·(Aᵀy - v) in every lane.
func (b *batch) begin(s *Solver, resets [][]Seed, vectors []reset) {
	clear(b.y)
	clear(b.r)
	clear(b.p)
	b.lanes = len(resets)
	d, targets := s.opts.Damping, s.g.Targets()
	for l, seeds := range resets {
		for _, seed := range seeds {
			u := seed.Node
			if s.strength[u] == 0 || seed.Weight == 0 {
				continue
			}
			mass := seed.Weight / vectors[l].total
			y := mass * s.inverse[u]
			b.y[u][l] += y
			for a, hi := s.g.Row(u); a < hi; a++ {
				b.r[targets[a]][l] += d * s.scale * y * s.g.Weight(a)
			}
			b.r[u][l] -= d*mass - d*s.loop(u)*y
		}
	}
}

// turn adds alpha·p to y, and sets p = D⁻¹r + beta·p where a lane is going on.
func (b *batch) turn(s *Solver, alpha, beta, going *lane) {
	for u := range b.p {
		p, y, r, inverse := &b.p[u], &b.y[u], &b.r[u], s.inverse[u]
		for l := range b.lanes {
			old := float64(p[l])
			y[l] += alpha[l] * old
			p[l] = float32(going[l] * (r[l]*inverse + beta[l]*old))
		}
	}
}

// measure takes alpha·q from r and computes its square in the norm of D⁻¹ and
// its L1 norm.
func (b *batch) measure(s *Solver, alpha, rho, norm *lane) {
	*rho, *norm = lane{}, lane{}
	for u := range b.r {
		r, q, inverse := &b.r[u], &b.q[u], s.inverse[u]
		for l := range b.lanes {
			x := r[l] - alpha[l]*q[l]
			r[l] = x
			rho[l] += x * x * inverse
			norm[l] += math.Abs(x)
		}
	}
}

// pullLanes sets q = (D - d·A)·p and b.dot to the dot products of p and q.
func (a arcs[W]) pullLanes(ctx context.Context, s *Solver, b *batch) error {
	d := s.opts.Damping * s.scale
	b.dot = lane{}
	var sum lane
	for u := range b.q {
		if u%(stride/Lanes) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		lo, hi := a.offsets[u], a.offsets[u+1]
		var weights []W
		if a.weights != nil {
			weights = a.weights[lo:hi]
		}
		gatherLow(a.targets[lo:hi], weights, b.p, &sum)
		if b.lanes > Lanes/2 {
			gatherHigh(a.targets[lo:hi], weights, b.p, &sum)
		}
		p, q, diagonal := &b.p[u], &b.q[u], s.diagonal[u]
		for l := range b.lanes {
			x := float64(p[l])
			y := diagonal*x - d*sum[l]
			q[l] = y
			b.dot[l] += x * y
		}
	}
	return nil
}
