// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
	"math"
)

// single is the memory of one exact query: y = D⁻¹x, its residual r, direction p
// and image q = (D - d·A)·p. As long as touched is short, all that is not zero
// lies at the touched nodes.
type single struct {
	y, r, q []float64
	p       []float32
	touched []int32
	seen    []bool
	sparse  bool
	volume  int64 // arcs of the touched nodes
}

func newSingle(n int) *single {
	return &single{y: make([]float64, n), r: make([]float64, n), q: make([]float64, n), p: make([]float32, n), seen: make([]bool, n)}
}

// denseShare is the share of all arcs from which on nodes are no longer listed.
const denseShare = 1. / 6

func (x *single) solve(ctx context.Context, s *system, seeds []Seed, v reset, tolerance float64) error {
	x.begin(s, seeds, v)
	target := tolerance * v.sum
	rho, norm := x.measure(s, 0)
	beta := 0.0
	for sweep := 0; norm > target; sweep++ {
		if err := context.Cause(ctx); err != nil {
			return fmt.Errorf("ppr: solve: %w", err)
		}
		if sweep == maxSweeps {
			return fmt.Errorf("ppr: solve: residual %.3g after %d sweeps, want %.3g", norm, sweep, target)
		}
		x.turn(s, beta)
		dot, err := x.image(ctx, s)
		if err != nil {
			return fmt.Errorf("ppr: solve: %w", err)
		}
		alpha := rho / dot
		x.step(alpha)
		last := rho
		rho, norm = x.measure(s, alpha)
		beta = rho / last
	}
	return nil
}

// maxSweeps is far above what any tolerance needs: at damping d each sweep
// shrinks the error by (1-√(1-d²))/d or better.
const maxSweeps = 100_000

// begin sets x = v and the residual r = d·(Aᵀy - v) that goes with it.
func (x *single) begin(s *system, seeds []Seed, v reset) {
	clear(x.y)
	clear(x.r)
	clear(x.q)
	clear(x.p)
	clear(x.seen)
	x.touched, x.sparse, x.volume = x.touched[:0], true, 0
	d := s.damping
	for _, seed := range seeds {
		u := seed.Node
		if s.strength[u] == 0 || seed.Weight == 0 {
			continue
		}
		mass := seed.Weight / v.total
		y := mass * s.inverse[u]
		x.y[u] += y
		x.touch(s, u)
		for _, t := range s.g.Neighbors(u) {
			x.touch(s, t)
		}
		s.rows.scatter(u, d*s.scale*y, x.r)
		x.r[u] -= d*mass - d*s.loop(u)*y
	}
}

func (x *single) touch(s *system, u int32) {
	if x.seen[u] {
		return
	}
	x.seen[u] = true
	x.touched = append(x.touched, u)
	lo, hi := s.g.Row(u)
	x.volume += hi - lo
}

// turn sets p = D⁻¹r + beta·p.
func (x *single) turn(s *system, beta float64) {
	if x.sparse {
		for _, u := range x.touched {
			x.p[u] = float32(x.r[u]*s.inverse[u] + beta*float64(x.p[u]))
		}
		return
	}
	r, inverse := x.r[:len(x.p)], s.inverse[:len(x.p)]
	for u, p := range x.p {
		x.p[u] = float32(r[u]*inverse[u] + beta*float64(p))
	}
}

// image sets q = (D - d·A)·p and returns the dot product of p and q.
func (x *single) image(ctx context.Context, s *system) (float64, error) {
	if x.sparse && float64(x.volume) > denseShare*float64(s.g.Arcs()) {
		x.sparse = false
	}
	if !x.sparse {
		return s.rows.pull(ctx, s, x.p, x.q)
	}
	for _, u := range x.touched {
		x.q[u] = 0
	}
	d := s.damping * s.scale
	for _, u := range x.touched[:len(x.touched):len(x.touched)] {
		for _, t := range s.g.Neighbors(u) {
			x.touch(s, t)
		}
		p := float64(x.p[u])
		x.q[u] += s.diagonal[u] * p
		s.rows.scatter(u, -d*p, x.q)
	}
	dot := 0.0
	for _, u := range x.touched {
		dot += float64(x.p[u]) * x.q[u]
	}
	return dot, nil
}

// step adds alpha·p to y.
func (x *single) step(alpha float64) {
	if x.sparse {
		for _, u := range x.touched {
			x.y[u] += alpha * float64(x.p[u])
		}
		return
	}
	y := x.y[:len(x.p)]
	for u, p := range x.p {
		y[u] += alpha * float64(p)
	}
}

// measure takes alpha·q from r and returns its square in the norm of D⁻¹ and its
// L1 norm.
func (x *single) measure(s *system, alpha float64) (rho, norm float64) {
	if x.sparse {
		for _, u := range x.touched {
			r := x.r[u] - alpha*x.q[u]
			x.r[u] = r
			rho += r * r * s.inverse[u]
			norm += math.Abs(r)
		}
		return rho, norm
	}
	q, inverse := x.q[:len(x.r)], s.inverse[:len(x.r)]
	for u, r := range x.r {
		r -= alpha * q[u]
		x.r[u] = r
		rho += r * r * inverse[u]
		norm += math.Abs(r)
	}
	return rho, norm
}
