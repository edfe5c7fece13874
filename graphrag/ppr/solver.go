// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

const (
	defaultDamping   = .85 // Brin and Page 1998; igraph
	defaultTolerance = 1e-9
	minTolerance     = 1e-13 // the smallest residual that float64 reliably reaches
)

// Options are the options of [New].
type Options struct {
	// Damping is the probability of following an edge, above 0 and below 1; 0 means 0.85.
	Damping float64
	// Tolerance is the L1 norm of the residual up to which solutions are improved, 1e-13 to 1; 0 means 1e-9.
	// The L1 error of a solution is at most Tolerance/(1-Damping).
	Tolerance float64
}

// Check reports all invalid options.
func (o Options) Check() error {
	_, err := o.resolve()
	return err
}

func (o Options) resolve() (Options, error) {
	o.Damping, o.Tolerance = cmp.Or(o.Damping, defaultDamping), cmp.Or(o.Tolerance, defaultTolerance)
	c := opt.Checks{Of: "ppr"}
	opt.Between(&c, "Damping", o.Damping, 0, 1)
	opt.Range(&c, "Tolerance", o.Tolerance, minTolerance, 1)
	return o, c.Err()
}

// Solver computes personalised PageRank on one graph. It is safe for concurrent use; queries reuse the memory
// of earlier ones.
type Solver struct {
	*system
	queries sync.Pool
}

// New prepares a solver for g. It keeps a reference to g until the first query.
func New(g *graph.Graph, opts Options) (*Solver, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	equations, err := newSystem(g, opts.Damping, opts.Tolerance)
	if err != nil {
		return nil, err
	}
	s := &Solver{system: equations}
	s.queries.New = func() any {
		n := len(equations.quotient.size)
		return &query{
			y: make([]float64, n), r: make([]float64, n), w: make([]float64, n),
			t: make([]float32, n), z: make([]float32, n),
		}
	}
	return s, nil
}

// Solve returns the personalised PageRank of every node for a reset vector. The values sum to 1. The result
// is written to dst if its capacity suffices. Errors wrap [ErrReset] or come from the context.
func (s *Solver) Solve(ctx context.Context, seeds []Seed, dst []float64) ([]float64, error) {
	v, err := s.checkReset(seeds)
	if err != nil {
		return nil, err
	}
	q, err := s.folded(ctx)
	if err != nil {
		return nil, fmt.Errorf("ppr: solve: %w", err)
	}
	x := s.queries.Get().(*query)
	defer s.queries.Put(x)
	if err := q.rows.solve(ctx, q, x, seeds, v, s.tolerance); err != nil {
		return nil, fmt.Errorf("ppr: solve: %w", err)
	}
	dst = slices.Grow(dst[:0], len(s.strength))[:len(s.strength)]
	x.results(q, seeds, v, dst)
	for _, seed := range seeds {
		if s.strength[seed.Node] == 0 { // a walk reaches a node without an edge only by restarts
			dst[seed.Node] += (1 - s.damping) * (seed.Weight / v.total) / v.sum
		}
	}
	return dst, nil
}

// Seed is a node of a reset vector. The vector is scaled to sum 1; if a node is named several times, its
// weights are added.
type Seed struct {
	Node   int32
	Weight float64
}

// ErrReset is wrapped by errors about reset vectors that are zero, negative, not finite, or name nodes that the
// graph does not have.
var ErrReset = errors.New("unusable reset vector")

// reset is a valid reset vector. A walk that ends at nodes without an edge is proportional to one that restarts
// there: the former is computed, and divided by its sum.
type reset struct {
	total float64 // sum of the weights of all seeds
	sum   float64 // sum of the result of the walk that ends
}

// checkReset checks the seeds for a graph.
func (s *system) checkReset(seeds []Seed) (reset, error) {
	total, lost, largest := 0.0, 0.0, 0.0
	for _, seed := range seeds {
		switch {
		case seed.Node < 0 || int(seed.Node) >= len(s.strength):
			return reset{}, fmt.Errorf("ppr: %w: node %d in a graph of %d nodes", ErrReset, seed.Node, len(s.strength))
		case !(seed.Weight >= 0) || math.IsInf(seed.Weight, 1):
			return reset{}, fmt.Errorf("ppr: %w: node %d has %v, want a finite number of 0 or more", ErrReset, seed.Node, seed.Weight)
		}
		largest = max(largest, seed.Weight)
		total += seed.Weight
		if s.strength[seed.Node] == 0 {
			lost += seed.Weight
		}
	}
	if total == 0 {
		return reset{}, fmt.Errorf("ppr: %w: all weights are zero: name a node", ErrReset)
	}
	if math.IsInf(total, 1) || largest < math.SmallestNonzeroFloat64*0x1p60 {
		return reset{}, fmt.Errorf("ppr: %w: the largest weight is %v: scale the weights down", ErrReset, largest)
	}
	return reset{total, 1 - s.damping*lost/total}, nil
}

// query is the memory of one query, in Eisenstat's form of conjugate gradients: y = D⁻¹x, its residual r after
// the preconditioner, a direction t, the part z of t that the next direction keeps, and w: t and w together are
// the image of t.
type query struct {
	y, r, w []float64
	t, z    []float32
}

// maxSweeps is far more than any tolerance needs: with damping d each sweep reduces the error by the factor
// (1-√(1-d²))/d or better.
const maxSweeps = 100_000

// solve iterates until the L1 norm of the residual is within the tolerance.
func (a *arcs[W]) solve(ctx context.Context, q *quotient, x *query, seeds []Seed, v reset, tolerance float64) error {
	if err := begin(ctx, a, q, x, seeds, v); err != nil {
		return err
	}
	rho, norm := x.measure(q)
	beta := 0.0
	for sweep := 0; (1+q.damping)*norm > tolerance*v.sum; sweep++ {
		if sweep == maxSweeps {
			return fmt.Errorf("the residual is %.3g after %d sweeps, want %.3g", norm, sweep, tolerance)
		}
		if err := backward(ctx, a, q, x, beta); err != nil {
			return err
		}
		dot, err := forward(ctx, a, q, x)
		if err != nil {
			return err
		}
		last := rho
		rho, norm = x.step(q, last/dot)
		beta = rho / last
	}
	return nil
}

// begin sets x = v, and computes the residual r by a forward sweep.
func begin[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *query, seeds []Seed, v reset) error {
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
			x.w[t] -= by * y * float64(weights[i])
		}
	}
	_, err := forward(ctx, a, q, x)
	copy(x.r, x.w)
	return err
}

// backward computes the next direction t from r and beta·z, row by row in descending order.
func backward[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *query, beta float64) error {
	by := q.damping * q.scale
	for c := len(x.t) - 1; c >= 0; c-- {
		if c%stride == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		targets, weights := a.part(a.middle[c], a.offsets[c+1])
		up := by * gather(targets, weights, x.t)
		part := up / q.pivot[c]
		t := float32(x.r[c] + float64(beta*float64(x.z[c])) + part)
		x.t[c] = t
		x.z[c] = float32(float64(t) - part)
		x.w[c] = up
	}
	return nil
}

// forward computes w from t, row by row in ascending order, and the dot product of t and its image.
func forward[W float32 | float64](ctx context.Context, a *arcs[W], q *quotient, x *query) (dot float64, err error) {
	by := q.damping * q.scale
	for c := range x.w {
		if c%stride == 0 && ctx.Err() != nil {
			return 0, context.Cause(ctx)
		}
		targets, weights := a.part(a.offsets[c], a.middle[c])
		up, t, pivot := x.w[c], float64(x.t[c]), q.pivot[c]
		w := (by*gather(targets, weights, x.w) - up) / pivot
		x.w[c] = w
		dot += float64((float64(t*pivot) - up) * (t + w))
	}
	return dot, nil
}

// step moves y along t by alpha, and updates the residual.
func (x *query) step(q *quotient, alpha float64) (rho, norm float64) {
	n := len(x.y)
	r, w, t := x.r[:n], x.w[:n], x.t[:n]
	for c, y := range x.y {
		d := float64(t[c])
		x.y[c] = y + alpha*d
		r[c] -= alpha * (d + w[c])
	}
	return x.measure(q)
}

// measure returns the square of the norm of r that E defines, and the L1 norm of D·r.
func (x *query) measure(q *quotient) (rho, norm float64) {
	pivot, strength := q.pivot[:len(x.r)], q.strength[:len(x.r)]
	for c, r := range x.r {
		rho += r * r * pivot[c]
		norm += math.Abs(r) * strength[c]
	}
	return rho, norm
}

// gather returns the sum of weights times p at the targets, in eight independent sums.
func gather[W, P float32 | float64](targets []int32, weights []W, p []P) float64 {
	var sums [8]float64
	for ; len(targets) >= len(sums); targets = targets[len(sums):] {
		weights = addProducts(&sums, targets[:len(sums)], weights, p)
	}
	addProducts(&sums, targets, weights, p)
	return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]))
}

// addProducts adds weights times p for up to eight targets to as many sums, and returns the remaining weights.
func addProducts[W, P float32 | float64](sums *[8]float64, targets []int32, weights []W, p []P) []W {
	for i, w := range weights[:len(targets)] {
		sums[i&7] += float64(float64(w) * float64(p[targets[i]]))
	}
	return weights[len(targets):]
}

// results writes the x of all nodes to dst. It overwrites y.
func (x *query) results(q *quotient, seeds []Seed, v reset, dst []float64) {
	for _, seed := range seeds {
		if own, c := q.own(seed, v); own > 0 {
			x.y[c] -= own / q.strength[c]
		}
	}
	for i, c := range q.class {
		dst[i] = 0
		if c >= 0 {
			dst[i] = max(0, x.y[c]*q.share[c]/v.sum)
		}
	}
	for _, seed := range seeds {
		own, _ := q.own(seed, v)
		dst[seed.Node] += own / v.sum
	}
}
