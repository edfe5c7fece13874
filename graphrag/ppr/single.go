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

// maxSweeps is far above what any tolerance needs: at damping d each sweep
// shrinks the error by (1-√(1-d²))/d or better.
const maxSweeps = 100_000

// solve is [batch.solve] for one query. It ends earlier if what has the L1 norm of the residual
// is enough.
func (x *single) solve(ctx context.Context, q *quotient, seeds []Seed, v reset, tolerance float64, enough func(norm float64) bool) error {
	if a, ok := q.rows.(arcs[float64]); ok {
		return solveSingle(ctx, a, q, x, seeds, v, tolerance, enough)
	}
	return solveSingle(ctx, q.rows.(arcs[float32]), q, x, seeds, v, tolerance, enough)
}

func solveSingle[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, x *single, seeds []Seed, v reset, tolerance float64, enough func(norm float64) bool) error {
	beginSingle(a, q, x, seeds, v)
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

// beginSingle sets x = v and the residual r that goes with it.
func beginSingle[W float32 | float64](a arcs[W], q *quotient, x *single, seeds []Seed, v reset) {
	clear(x.y)
	clear(x.r)
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
		x.r[c] += (1-q.damping)*mass/q.size[c] - q.pivot[c]*y
		targets, weights := a.part(a.offsets[c], a.offsets[c+1])
		for i, t := range targets {
			w := 1.0
			if weights != nil {
				w = float64(weights[i])
			}
			x.r[t] += by * y * w
		}
	}
	for c := range x.r {
		targets, weights := a.part(a.offsets[c], a.middle[c])
		x.r[c] = (x.r[c] + by*gather(targets, weights, x.r)) / q.pivot[c]
	}
}

// backwardSingle is [backward] for one query.
func backwardSingle[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, x *single, beta float64) error {
	by, far := q.damping*q.scale, len(x.t) > cached
	for c := len(x.t) - 1; c >= 0; c-- {
		if c%stride == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if far && c%prefetchRows == prefetchRows-1 {
			for v := max(0, c+1-2*prefetchRows); v <= c-prefetchRows; v++ {
				fetch(a.targets[a.middle[v]:a.offsets[v+1]], x.t)
			}
		}
		targets, weights := a.part(a.middle[c], a.offsets[c+1])
		up := by * gather(targets, weights, x.t)
		part := up / q.pivot[c]
		t := float32(x.r[c] + beta*float64(x.z[c]) + part)
		x.t[c] = t
		x.z[c] = float32(float64(t) - part)
		x.w[c] = up
	}
	return nil
}

// forwardSingle is [forward] for one query.
func forwardSingle[W float32 | float64](ctx context.Context, a arcs[W], q *quotient, x *single) (dot float64, err error) {
	by, far := q.damping*q.scale, len(x.t) > cached
	for c, up := range x.w {
		if c%stride == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		if far && c%prefetchRows == 0 {
			for v := c + prefetchRows; v < min(c+2*prefetchRows, len(x.w)); v++ {
				fetch(a.targets[a.offsets[v]:a.middle[v]], x.w)
			}
		}
		targets, weights := a.part(a.offsets[c], a.middle[c])
		w, t, pivot := (by*gather(targets, weights, x.w)-up)/q.pivot[c], float64(x.t[c]), q.pivot[c]
		x.w[c] = w
		dot += (t*pivot - up) * (t + w)
	}
	return dot, nil
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

// gather adds up p at the targets, in two sums that do not wait for each other.
func gather[W, P float32 | float64](targets []int32, weights []W, p []P) float64 {
	even, odd := 0.0, 0.0
	if weights == nil {
		for ; len(targets) >= 2; targets = targets[2:] {
			even += float64(p[targets[0]])
			odd += float64(p[targets[1]])
		}
		if len(targets) > 0 {
			even += float64(p[targets[0]])
		}
		return even + odd
	}
	weights = weights[:len(targets)]
	i := 0
	for ; i+1 < len(targets); i += 2 {
		even += float64(weights[i]) * float64(p[targets[i]])
		odd += float64(weights[i+1]) * float64(p[targets[i+1]])
	}
	if i < len(targets) {
		even += float64(weights[i]) * float64(p[targets[i]])
	}
	return even + odd
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
