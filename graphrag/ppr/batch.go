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
}

func newBatch(q *quotient) *batch {
	n := len(q.size)
	return &batch{
		y: make([]lane, n), r: make([]lane, n), w: make([]lane, n),
		t: make([][lanes]float32, n), z: make([][lanes]float32, n),
	}
}

// results writes the x of each node and lane, for as many nodes at a time as stay in the
// first cache.
func (b *batch) results(q *quotient, resets [][]Seed, vectors []reset, dst [][]float64) {
	for l, seeds := range resets {
		dst[l] = slices.Grow(dst[l][:0], len(q.class))[:len(q.class)]
		for _, seed := range seeds {
			if own, c := q.own(seed, vectors[l]); own > 0 {
				b.y[c][l] -= own / q.strength[c]
			}
		}
	}
	for c := range b.y {
		for l, v := range vectors {
			b.y[c][l] = max(0, b.y[c][l]*q.share[c]/v.sum)
		}
	}
	for lo := 0; lo < len(q.class); lo += cacheArcs {
		hi := min(lo+cacheArcs, len(q.class))
		for l, x := range dst {
			for u, c := range q.class[lo:hi] {
				x[lo+u] = 0
				if c >= 0 {
					x[lo+u] = b.y[c][l]
				}
			}
		}
	}
	for l, seeds := range resets {
		for _, seed := range seeds {
			own, _ := q.own(seed, vectors[l])
			dst[l][seed.Node] += own / vectors[l].sum
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
func (b *batch) solve(ctx context.Context, q *quotient, resets [][]Seed, vectors []reset, tolerance float64) error {
	if a, ok := q.rows.(arcs[float64]); ok {
		return solveBatch(ctx, a, q, b, resets, vectors, tolerance)
	}
	return solveBatch(ctx, q.rows.(arcs[float32]), q, b, resets, vectors, tolerance)
}

func solveBatch[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, b *batch, resets [][]Seed, vectors []reset, tolerance float64) error {
	if err := begin(ctx, a, q, b, resets, vectors); err != nil {
		return err
	}
	var alpha, beta, rho, norm lane
	b.step(q, &alpha, &rho, &norm)
	for sweep := 0; ; sweep++ {
		var going lane
		done := true
		for l, v := range vectors {
			if (1+q.damping)*norm[l] > tolerance*v.sum {
				going[l], done = 1, false
			}
		}
		if done {
			return nil
		}
		if sweep == maxSweeps {
			return fmt.Errorf("residuals %.3g after %d sweeps", norm[:b.used], sweep)
		}
		if err := backward(ctx, a, q, b, &beta, &going); err != nil {
			return err
		}
		if err := forward(ctx, a, q, b); err != nil {
			return err
		}
		last := rho
		for l := range alpha {
			alpha[l] = ratio(last[l], b.dot[l])
		}
		b.step(q, &alpha, &rho, &norm)
		for l := range beta {
			beta[l] = ratio(rho[l], last[l])
		}
	}
}

// ratio is 0 for a lane that stands still.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// begin sets x = v in every lane, which has the right sum on every connected component,
// and the residual r that goes with it.
func begin[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, b *batch, resets [][]Seed, vectors []reset) error {
	for _, l := range [][]lane{b.y, b.r, b.w} {
		clear(l)
		if ctx.Err() != nil { // the first time, the memory is made here
			return context.Cause(ctx)
		}
	}
	clear(b.t)
	clear(b.z)
	b.used = len(resets)
	by := q.damping * q.scale
	for l, seeds := range resets {
		for _, seed := range seeds {
			c := q.class[seed.Node]
			if c < 0 || seed.Weight == 0 {
				continue
			}
			mass := seed.Weight / vectors[l].total
			y := mass / q.strength[c]
			b.y[c][l] += y
			b.r[c][l] += (1-q.damping)*mass/q.size[c] - q.pivot[c]*y
			targets, weights := a.part(a.offsets[c], a.offsets[c+1])
			for i, t := range targets {
				w := 1.0
				if weights != nil {
					w = float64(weights[i])
				}
				b.r[t][l] += by * y * w
			}
		}
	}
	var sum lane
	for c := range b.r {
		if c%(stride/lanes) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ahead(b, a, c, b.r)
		gatherLanes(a, a.offsets[c], a.middle[c], b.r, b.used, &sum)
		r := &b.r[c]
		for l := range b.used {
			r[l] = (r[l] + by*sum[l]) / q.pivot[c]
		}
	}
	return nil
}

// step goes alpha along t: it adds alpha·t to y, takes alpha·(t + w) from r, and
// computes the square of r in the norm of E and the L1 norm of D·r.
func (b *batch) step(q *quotient, alpha, rho, norm *lane) {
	*rho, *norm = lane{}, lane{}
	if widest && len(b.r) > 0 {
		stepRowsAVX512(&b.y[0], &b.r[0], &b.w[0], &b.t[0], &q.pivot[0], &q.strength[0], len(b.r), alpha, rho, norm)
		return
	}
	for u := range b.r {
		y, r, w, t, pivot, strength := &b.y[u], &b.r[u], &b.w[u], &b.t[u], q.pivot[u], q.strength[u]
		for l := range b.used {
			x := float64(t[l])
			y[l] += float64(alpha[l] * x)
			x = r[l] - float64(alpha[l]*(x+w[l]))
			r[l] = x
			rho[l] += float64(x * x * pivot)
			norm[l] += float64(math.Abs(x) * strength)
		}
	}
}

// backward solves (E - Lᵀ)·t = E·z for z = r + beta·z, from the last node to the
// first, and sets w = Lᵀt. Rounded to float32, t belongs to a slightly other z,
// which is the one that is kept.
func backward[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, b *batch, beta, going *lane) error {
	d := q.damping * q.scale
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
				b.sink += prefetch(a.targets[a.middle[v]:a.offsets[v+1]], b.t)
			}
		}
		lo, hi := a.middle[u], a.offsets[u+1]
		gatherLanes(a, lo, hi, b.t, b.used, &sum)
		if widest {
			backwardRowAVX512(&sum, &b.r[u], &b.w[u], &b.t[u], &b.z[u], beta, going, d, 1/q.pivot[u])
		} else {
			b.backwardRow(u, &sum, beta, going, d, 1/q.pivot[u])
		}
	}
	return nil
}

// backwardRow solves row u, to which the arcs bring by·sum.
func (b *batch) backwardRow(u int, sum, beta, going *lane, by, inverse float64) {
	r, t, z, w := &b.r[u], &b.t[u], &b.z[u], &b.w[u]
	for l := range b.used {
		up := by * sum[l]
		part := up * inverse
		x := float32(going[l] * (r[l] + float64(beta[l]*float64(z[l])) + part))
		t[l] = x
		z[l] = float32(float64(x) - part)
		w[l] = up
	}
}

// forward solves (E - L)·w = -w from the first node to the last, and sets b.dot to
// the products of E·z and t + w.
func forward[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, b *batch) error {
	d := q.damping * q.scale
	b.dot = lane{}
	var sum lane
	for u := range b.w {
		if u%(stride/lanes) == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		ahead(b, a, u, b.w)
		gatherLanes(a, a.offsets[u], a.middle[u], b.w, b.used, &sum)
		if widest {
			forwardRowAVX512(&sum, &b.w[u], &b.t[u], &b.dot, d, q.pivot[u], 1/q.pivot[u])
		} else {
			b.forwardRow(u, &sum, d, q.pivot[u], 1/q.pivot[u])
		}
	}
	return nil
}

// forwardRow solves row u, to which the arcs bring by·sum.
func (b *batch) forwardRow(u int, sum *lane, by, pivot, inverse float64) {
	t, w := &b.t[u], &b.w[u]
	for l := range b.used {
		x, up := float64(t[l]), w[l]
		w[l] = (float64(by*sum[l]) - up) * inverse
		b.dot[l] += float64((float64(x*pivot) - up) * (x + w[l]))
	}
}
