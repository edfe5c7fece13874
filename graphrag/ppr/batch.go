// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// batch is the memory of a group of queries, a lane for each: y = D⁻¹x, its
// residual r behind the preconditioner, a direction t, what t was made of, z, and
// w, which with t is the image of t.
type batch struct {
	y, r, w []lane
	t, z    [][lanes]float32
	used    int // lanes in use
	dot     lane
	sink    float64 // what prefetch returned: kept, so that the compiler keeps the reads
	push    *pusher

	spread []lane // what each component starts with, over its strength
}

func newBatch(s *system) *batch {
	n := s.g.N()
	return &batch{
		push: newPusher(n),
		y:    make([]lane, n), r: make([]lane, n), w: make([]lane, n),
		t: make([][lanes]float32, n), z: make([][lanes]float32, n),
	}
}

// results writes x = D·y of each lane, for as many nodes at a time as stay in the
// first cache.
func (b *batch) results(s *system, vectors []reset, dst [][]float64) {
	for l := range dst {
		dst[l] = slices.Grow(dst[l][:0], len(b.y))[:len(b.y)]
	}
	for lo := 0; lo < len(b.y); lo += cacheArcs {
		hi := min(lo+cacheArcs, len(b.y))
		for l, x := range dst {
			for u := lo; u < hi; u++ {
				x[u] = b.y[u][l] * s.strength[u] / vectors[l].sum
			}
		}
	}
}

// solve runs conjugate gradients preconditioned by symmetric Gauss–Seidel sweeps in Eisenstat's
// form (Efficient Implementation of a Class of Preconditioned Conjugate Gradient
// Methods, 1981). Let D - d·A = E - L - Lᵀ with the diagonal E and L below it. For
// a direction t with (E - Lᵀ)·t = E·z,
//
//	(E - L)⁻¹(D - d·A)·t = t + w  where  (E - L)·w = -Lᵀt
//
// so that one sweep reads each arc once: backward for t, forward for w. The
// residual itself is (E - L)·r. The columns of L sum to at most d times the
// strength, so its L1 norm is within 1+d times that of D·r.
func (b *batch) solve(ctx context.Context, s *system, resets [][]Seed, vectors []reset) error {
	if err := b.begin(ctx, s, resets, vectors); err != nil {
		return err
	}
	if err := b.forward(ctx, s); err != nil {
		return err
	}
	var alpha, beta, rho, norm lane
	for l := range alpha {
		alpha[l] = -1 // r = w
	}
	b.step(s, &alpha, &rho, &norm)
	for sweep := 0; ; sweep++ {
		var going lane
		done := true
		for l, v := range vectors {
			if (1+s.damping)*norm[l] > s.tolerance*v.sum {
				going[l], done = 1, false
			}
		}
		if done {
			return nil
		}
		if sweep == maxSweeps {
			return fmt.Errorf("residuals %.3g after %d sweeps", norm[:b.used], sweep)
		}
		if err := b.backward(ctx, s, &beta, &going); err != nil {
			return err
		}
		if err := b.forward(ctx, s); err != nil {
			return err
		}
		last := rho
		for l := range alpha {
			alpha[l] = quotient(last[l], b.dot[l])
		}
		b.step(s, &alpha, &rho, &norm)
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

// pushFactor is how many times its share of a walk without end a node holds when it is
// still worth a push before the sweeps.
const pushFactor = 4

// begin pushes in every lane. What has not been spent it spreads like a walk
// without end in the same component, and sets w to what that leaves wrong, the
// negative residual.
func (b *batch) begin(ctx context.Context, s *system, resets [][]Seed, vectors []reset) error {
	component, totals, err := s.components(ctx)
	if err != nil {
		return err
	}
	b.spread = slices.Grow(b.spread[:0], len(totals))[:len(totals)]
	for _, l := range [][]lane{b.y, b.r, b.w, b.spread} {
		clear(l)
		if err := ctx.Err(); err != nil { // the first time, the memory is made here
			return err
		}
	}
	clear(b.t)
	clear(b.z)
	b.used = len(resets)
	d := s.damping
	epsilon := min(.5, pushFactor/float64(max(1, s.g.Arcs())))
	for l, seeds := range resets {
		x := b.push
		if err := x.start(ctx, s, seeds, vectors[l], epsilon); err != nil {
			return err
		}
		for _, u := range x.touched {
			b.y[u][l] = x.value[u] * s.inverse[u]
			b.w[u][l] = (d - 1) * x.unspent[u]
			if x.unspent[u] > 0 {
				b.spread[component[u]][l] += x.unspent[u] / totals[component[u]]
			}
		}
	}
	for u, strength := range s.strength {
		y, w, spread := &b.y[u], &b.w[u], &b.spread[component[u]]
		for l := range b.used {
			y[l] += spread[l]
			w[l] += (1 - d) * strength * spread[l]
		}
	}
	return nil
}

// step goes alpha along t: it adds alpha·t to y, takes alpha·(t + w) from r, and
// computes the square of r in the norm of E and the L1 norm of D·r.
func (b *batch) step(s *system, alpha, rho, norm *lane) {
	*rho, *norm = lane{}, lane{}
	for u := range b.r {
		y, r, w, t, pivot, strength := &b.y[u], &b.r[u], &b.w[u], &b.t[u], s.pivot[u], s.strength[u]
		for l := range b.used {
			x := float64(t[l])
			y[l] += alpha[l] * x
			x = r[l] - alpha[l]*(x+w[l])
			r[l] = x
			rho[l] += x * x * pivot
			norm[l] += math.Abs(x) * strength
		}
	}
}

// backward and forward go over arcs of either kind.
func (b *batch) backward(ctx context.Context, s *system, beta, going *lane) error {
	if a, ok := s.rows.(arcs[float64]); ok {
		return backward(ctx, a, s, b, beta, going)
	}
	return backward(ctx, s.rows.(arcs[float32]), s, b, beta, going)
}

func (b *batch) forward(ctx context.Context, s *system) error {
	if a, ok := s.rows.(arcs[float64]); ok {
		return forward(ctx, a, s, b)
	}
	return forward(ctx, s.rows.(arcs[float32]), s, b)
}

// backward solves (E - Lᵀ)·t = E·z for z = r + beta·z, from the last node to the
// first, and sets w = Lᵀt. Rounded to float32, t belongs to a slightly other z,
// which is the one that is kept.
func backward[W float32 | float64](ctx context.Context, a arcs[W], s *system, b *batch, beta, going *lane) error {
	d := s.damping * s.scale
	var sum lane
	for u := len(b.t) - 1; u >= 0; u-- {
		if u%(stride/lanes) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if u%prefetchRows == prefetchRows-1 || u == len(b.t)-1 {
			lo, hi := u/prefetchRows*prefetchRows, u+1
			if wide { // while these are added up, the next ones come
				lo, hi = max(0, lo-prefetchRows), lo
			}
			for v := lo; v < hi; v++ {
				b.sink += prefetch(a.targets[s.middle[v]:a.offsets[v+1]], b.t)
			}
		}
		lo, hi := s.middle[u], a.offsets[u+1]
		if lo < hi && a.targets[lo] == int32(u) {
			lo++
		}
		gatherLanes(a, lo, hi, b.t, b.used, &sum)
		r, t, z, w, inverse := &b.r[u], &b.t[u], &b.z[u], &b.w[u], 1/s.pivot[u]
		for l := range b.used {
			up := d * sum[l]
			x := float32(going[l] * (r[l] + beta[l]*float64(z[l]) + up*inverse))
			t[l] = x
			z[l] = float32(float64(x) - up*inverse)
			w[l] = up
		}
	}
	return nil
}

// forward solves (E - L)·w = -w from the first node to the last, and sets b.dot to
// the products of E·z and t + w.
func forward[W float32 | float64](ctx context.Context, a arcs[W], s *system, b *batch) error {
	d := s.damping * s.scale
	b.dot = lane{}
	var sum lane
	for u := range b.w {
		if u%(stride/lanes) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if u%prefetchRows == 0 {
			lo := u
			if wide {
				lo = min(u+prefetchRows, len(b.w))
			}
			for v := lo; v < min(lo+prefetchRows, len(b.w)); v++ {
				b.sink += prefetch(a.targets[a.offsets[v]:s.middle[v]], b.w)
			}
		}
		gatherLanes(a, a.offsets[u], s.middle[u], b.w, b.used, &sum)
		t, w, pivot, inverse := &b.t[u], &b.w[u], s.pivot[u], 1/s.pivot[u]
		for l := range b.used {
			x, up := float64(t[l]), w[l]
			w[l] = (d*sum[l] - up) * inverse
			b.dot[l] += (x*pivot - up) * (x + w[l])
		}
	}
	return nil
}
