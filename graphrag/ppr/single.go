// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
	"math"
	"slices"
)

// single is the memory of one exact query, as [batch] has it for several.
type single struct {
	y, r, w []float64
	t, z    []float32
	values  []float64 // of all nodes, for rankings
	kept    []float64 // y that results change meanwhile
	ranking ranking
}

func newSingle(q *quotient) *single {
	n := len(q.size)
	return &single{
		y: make([]float64, n), r: make([]float64, n), w: make([]float64, n),
		t: make([]float32, n), z: make([]float32, n),
	}
}

// solve is [batch.solve] for one query. It ends earlier if what has the L1 norm of the residual
// is enough.
func (x *single) solve(ctx context.Context, q *quotient, seeds []Seed, v reset, tolerance float64, enough func(norm float64) bool) error {
	if a, ok := q.rows.(arcs[float64]); ok {
		return solveSingle(ctx, &a, q, x, seeds, v, tolerance, enough)
	}
	a := q.rows.(arcs[float32])
	return solveSingle(ctx, &a, q, x, seeds, v, tolerance, enough)
}

func solveSingle[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *single, seeds []Seed, v reset, tolerance float64, enough func(norm float64) bool) error {
	if err := beginSingle(ctx, a, q, x, seeds, v); err != nil {
		return fmt.Errorf("ppr: solve: %w", err)
	}
	rho, norm := x.measure(q)
	beta := 0.0
	for sweep := 0; (1+q.damping)*norm > tolerance*v.sum && !enough((1+q.damping)*norm); sweep++ {
		if sweep == maxSweeps {
			return fmt.Errorf("ppr: solve: residual %.3g after %d sweeps, want %.3g", norm, sweep, tolerance)
		}
		if err := backwardSingle(ctx, a, q, x, beta); err != nil {
			return fmt.Errorf("ppr: solve: %w", err)
		}
		dot, err := forwardSingle(ctx, a, q, x)
		if err != nil {
			return fmt.Errorf("ppr: solve: %w", err)
		}
		last := rho
		rho, norm = x.step(q, last/dot)
		beta = rho / last
	}
	return nil
}

// beginSingle sets x = v and the residual r that goes with it: a sweep forward from it.
func beginSingle[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *single, seeds []Seed, v reset) error {
	clear(x.y)
	clear(x.w)
	clear(x.z)
	by := q.damping * q.scale
	for _, seed := range seeds {
		c := q.class[seed.Node]
		if c < 0 || seed.Weight == 0 {
			continue
		}
		mass := seed.Weight / v.total
		y := mass / q.strength[c]
		x.y[c] += y
		x.w[c] -= (1-q.damping)*mass/q.size[c] - q.pivot[c]*y
		targets, weights := a.part(a.offsets[c], a.offsets[c+1])
		for i, t := range targets {
			w := 1.0
			if weights != nil {
				w = float64(weights[i])
			}
			x.w[t] -= by * y * w
		}
	}
	_, err := forwardSingle(ctx, a, q, x)
	copy(x.r, x.w)
	return err
}

// backwardSingle is [backward] for one query.
func backwardSingle[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *single, beta float64) error {
	for hi := len(x.t); hi > 0; hi -= stride {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if lo := max(0, hi-stride); eight {
			backwardEight(a, q, x, beta, lo, hi)
		} else {
			backwardRows(a, q, x, beta, lo, hi)
		}
	}
	return nil
}

// backwardRows is the sweep through the rows lo to hi.
func backwardRows[W float32 | float64](a *arcs[W], q *quotient, x *single, beta float64, lo, hi int) {
	by, far := q.damping*q.scale, len(x.t) > cached
	for c := hi - 1; c >= lo; c-- {
		if far && c%prefetchRows == prefetchRows-1 {
			for v := max(0, c+1-2*prefetchRows); v <= c-prefetchRows; v++ {
				fetch(a.targets[a.middle[v]:a.offsets[v+1]], x.t)
			}
		}
		targets, weights := a.part(a.middle[c], a.offsets[c+1])
		up := by * gather(targets, weights, x.t)
		part := up / q.pivot[c]
		t := float32(x.r[c] + float64(beta*float64(x.z[c])) + part)
		x.t[c] = t
		x.z[c] = float32(float64(t) - part)
		x.w[c] = up
	}
}

// forwardSingle is [forward] for one query.
func forwardSingle[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *single) (dot float64, err error) {
	for lo := 0; lo < len(x.w); lo += stride {
		if ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if hi := min(lo+stride, len(x.w)); eight {
			dot = forwardEight(a, q, x, dot, lo, hi)
		} else {
			dot = forwardRows(a, q, x, dot, lo, hi)
		}
	}
	return dot, nil
}

// forwardRows is the sweep through the rows lo to hi.
func forwardRows[W float32 | float64](a *arcs[W], q *quotient, x *single, dot float64, lo, hi int) float64 {
	by, far := q.damping*q.scale, len(x.t) > cached
	for c := lo; c < hi; c++ {
		if far && c%prefetchRows == 0 {
			for v := c + prefetchRows; v < min(c+2*prefetchRows, len(x.w)); v++ {
				fetch(a.targets[a.offsets[v]:a.middle[v]], x.w)
			}
		}
		targets, weights := a.part(a.offsets[c], a.middle[c])
		up, t, pivot := x.w[c], float64(x.t[c]), q.pivot[c]
		w := (by*gather(targets, weights, x.w) - up) / pivot
		x.w[c] = w
		dot += float64((float64(t*pivot) - up) * (t + w))
	}
	return dot
}

// step is [batch.step] for one query.
func (x *single) step(q *quotient, alpha float64) (rho, norm float64) {
	n := len(x.y)
	r, w, t := x.r[:n], x.w[:n], x.t[:n]
	for c, y := range x.y {
		d := float64(t[c])
		x.y[c] = y + alpha*d
		r[c] -= alpha * (d + w[c])
	}
	return x.measure(q)
}

// measure returns the square of r in the norm of E and the L1 norm of D·r.
func (x *single) measure(q *quotient) (rho, norm float64) {
	pivot, strength := q.pivot[:len(x.r)], q.strength[:len(x.r)]
	for c, r := range x.r {
		rho += r * r * pivot[c]
		norm += math.Abs(r) * strength[c]
	}
	return rho, norm
}

// reach is how far the x of a node is from the truth at most, for its strength. The system
// is M·y = b ([quotient]), and (E-L)·r is left of b. In a row the arcs have d times the
// strength of the node, those of L no more, and E is at most the strength: so what is left
// of one node is at most (1+d)·max(r/k) times its strength, and y at most 1/(1-d) times
// that from the truth.
func (x *single) reach(q *quotient) float64 {
	most := 0.0
	for c, r := range x.r {
		most = max(most, math.Abs(r)/q.size[c])
	}
	return most * (1 + q.damping) / (1 - q.damping)
}

// gather adds up p at the targets, in eight sums that do not wait for each other.
func gather[W, P float32 | float64](targets []int32, weights []W, p []P) float64 {
	var sums [8]float64
	for ; len(targets) >= len(sums); targets = targets[len(sums):] {
		weights = addProducts(&sums, targets[:len(sums)], weights, p)
	}
	addProducts(&sums, targets, weights, p)
	return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

// addProducts adds p at up to eight targets to as many sums, and returns the other weights.
func addProducts[W, P float32 | float64](sums *[8]float64, targets []int32, weights []W, p []P) []W {
	if weights == nil {
		for i, t := range targets {
			sums[i&7] += float64(p[t])
		}
		return nil
	}
	for i, w := range weights[:len(targets)] {
		sums[i&7] += float64(float64(w) * float64(p[targets[i]]))
	}
	return weights[len(targets):]
}

// results writes the x of each node from a place on over dst.
func (x *single) results(q *quotient, seeds []Seed, v reset, from int, dst []float64) {
	x.kept = x.kept[:0]
	for _, seed := range seeds {
		if own, c := q.own(seed, v); own > 0 {
			x.kept = append(x.kept, x.y[c])
			x.y[c] -= own / q.strength[c]
		}
	}
	for i, c := range q.class[from:] {
		dst[i] = 0
		if c >= 0 {
			dst[i] = max(0, x.y[c]*q.share[c]/v.sum)
		}
	}
	for _, seed := range seeds {
		if own, _ := q.own(seed, v); int(seed.Node) >= from {
			dst[int(seed.Node)-from] += own / v.sum
		}
	}
	for _, seed := range slices.Backward(seeds) { // the first of a class has what y was
		if own, c := q.own(seed, v); own > 0 {
			x.y[c], x.kept = x.kept[len(x.kept)-1], x.kept[:len(x.kept)-1]
		}
	}
}

// never is not enough.
func never(float64) bool { return false }
