// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"slices"
)

// quotient is the system of the sums over classes of twins (an equitable partition):
// the mean of a class goes the same ways as each of its k nodes, so with one unknown for
// the sum of their y it is
//
//	(E - L - Lᵀ)·y = (1-d)·v/k  where  E = (D - d·(2·loop + (k-1)·inside))/k
//
// and L holds d times the weights of the arcs to classes before. What is left of v, the
// differences between twins, goes nowhere else: see [quotient.own].
type quotient struct {
	class    []int32 // of each node; -1 without a way out
	size     []float64
	inside   []float64 // scaled
	strength []float64 // of one node
	pivot    []float64 // E
	share    []float64 // what y is multiplied by for the x of one node
	damping  float64
	scale    float64
	rows     any // arcs of float32 or float64
}

// arcs are rows with weights of one kind, sorted by target; nil weights are all 1.
type arcs[W float32 | float64] struct {
	offsets []int64
	middle  []int64 // first arc to a later class
	targets []int32
	weights []W
}

// maxSweeps is far above what any tolerance needs: at damping d each sweep
// shrinks the error by (1-√(1-d²))/d or better.
const maxSweeps = 100_000

func newQuotient(ctx context.Context, s *system) (*quotient, error) {
	c, err := newTwins(ctx, s)
	if err != nil {
		return nil, err
	}
	var order []int32
	for u, first := range c.first {
		if first == int32(u) {
			order = append(order, first)
		}
	}
	if len(order) > cached {
		if order, err = grow(ctx, s.g, c.first, len(order)); err != nil {
			return nil, err
		}
	}
	q := &quotient{class: make([]int32, len(c.first)), damping: s.damping, scale: s.scale}
	for i := range q.class {
		q.class[i] = -1
	}
	q.measure(s, c, order)
	if w := s.g.Weights64(); w != nil {
		q.rows, err = fold(ctx, s, q.class, len(order), w)
	} else {
		q.rows, err = fold(ctx, s, q.class, len(order), s.g.Weights32())
	}
	// Until here only the first ones had a class.
	for u, first := range c.first {
		if first >= 0 {
			q.class[u] = q.class[first]
		}
	}
	return q, err
}

// measure computes what is known of each class.
func (q *quotient) measure(s *system, c *twins, order []int32) {
	n := len(order)
	q.size, q.inside, q.strength = make([]float64, n), make([]float64, n), make([]float64, n)
	q.pivot, q.share = make([]float64, n), make([]float64, n)
	for i, u := range order {
		k, inside, strength := float64(c.size[u]), c.inside[u]*s.scale, s.strength[u]
		q.class[u] = int32(i)
		q.size[i], q.inside[i], q.strength[i] = k, inside, strength
		q.pivot[i] = (strength - s.damping*(2*s.loop(u)+(k-1)*inside)) / k
		q.share[i] = strength / k
	}
}

// fold makes the rows of the classes, of which the first nodes have one by now.
func fold[W float32 | float64](ctx context.Context, s *system, class []int32, classes int, weights []W) (arcs[W], error) {
	a := arcs[W]{offsets: make([]int64, classes+1), middle: make([]int64, classes)}
	for u, c := range class {
		if u%stride == 0 && ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		if c < 0 {
			continue
		}
		for _, t := range s.g.Neighbors(int32(u)) {
			if class[t] >= 0 && class[t] != c {
				a.offsets[c+1]++
			}
		}
	}
	for c := range classes {
		a.offsets[c+1] += a.offsets[c]
	}
	a.targets = make([]int32, a.offsets[classes])
	if weights != nil {
		a.weights = make([]W, a.offsets[classes])
	}
	var row []uint64 // targets, and where they stood
	for u, c := range class {
		if u%stride == 0 && ctx.Err() != nil {
			return a, context.Cause(ctx)
		}
		if c < 0 {
			continue
		}
		lo, hi := s.g.Row(int32(u))
		row = row[:0]
		for i, t := range s.g.Targets()[lo:hi] {
			if class[t] >= 0 && class[t] != c {
				row = append(row, uint64(class[t])<<32|uint64(i))
			}
		}
		slices.Sort(row)
		to := a.offsets[c]
		for i, x := range row {
			a.targets[to+int64(i)] = int32(x >> 32)
		}
		if weights != nil {
			for i, x := range row {
				a.weights[to+int64(i)] = weights[lo+int64(uint32(x))]
			}
		}
		at, _ := slices.BinarySearch(row, uint64(c)<<32)
		a.middle[c] = to + int64(at)
	}
	return a, nil
}

// part returns the targets and weights of the arcs lo to hi.
func (a *arcs[W]) part(lo, hi int64) ([]int32, []W) {
	if a.weights == nil {
		return a.targets[lo:hi], nil
	}
	return a.targets[lo:hi], a.weights[lo:hi]
}

// own returns by how much a seed is above the mean of its class, times their number if
// the others hold nothing, in x, and its class. Vectors that sum to zero within a class go
// nowhere else: for them D - d·A is D + d·inside.
func (q *quotient) own(seed Seed, v reset) (x float64, class int32) {
	c := q.class[seed.Node]
	if c < 0 || q.size[c] == 1 {
		return 0, c
	}
	return (1 - q.damping) * (seed.Weight / v.total) * q.strength[c] / (q.strength[c] + q.damping*q.inside[c]), c
}
