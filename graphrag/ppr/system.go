// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// ErrWeights is wrapped by errors about graphs whose weights are too far apart, too small or too large.
var ErrWeights = errors.New("unusable weights")

// span is the least ratio of the smallest strength to the largest one: directions are float32, whose normal
// numbers end at 2^-126.
const span = 0x1p-100

// Limits of the largest strength: products of weights and directions, which are between span and its inverse,
// are then neither subnormal nor infinite.
const (
	leastStrength    = 0x1p-700
	greatestStrength = 0x1p910
)

// system is the system of equations (D - d·A)·y = (1-d)·v for one graph.
type system struct {
	g         *graph.Graph // nil after the quotient was made
	damping   float64
	tolerance float64
	strength  []float64 // strengths times a power of two, at most 1; 0 for nodes without edges
	loops     []float64 // scaled weights of self-loops; nil if there are none
	scale     float64   // factor from weights to strength

	// The quotient is made by the first query, which holds the lock.
	lock     chan struct{}
	quotient *quotient
}

func newSystem(g *graph.Graph, damping, tolerance float64) (*system, error) {
	s := &system{
		g: g, damping: damping, tolerance: tolerance,
		strength: make([]float64, g.N()),
		lock:     make(chan struct{}, 1),
	}
	greatest := 0.0
	for u := range s.strength {
		s.strength[u] = g.Strength(int32(u))
		greatest = max(greatest, s.strength[u])
	}
	if greatest > greatestStrength || greatest > 0 && greatest < leastStrength {
		return nil, fmt.Errorf("ppr: %w: the greatest sum at a node is %v, want %v to %v: scale the weights", ErrWeights, greatest, leastStrength, greatestStrength)
	}
	_, exponent := math.Frexp(greatest)
	s.scale = math.Ldexp(1, -exponent)
	for u, w := range s.strength {
		if w == 0 {
			continue
		}
		w *= s.scale
		if w < span {
			return nil, fmt.Errorf("ppr: %w: the sums at nodes are too far apart: node %d has %v, another node %v", ErrWeights, u, s.strength[u], greatest)
		}
		lo, hi := g.Row(int32(u))
		if at, ok := slices.BinarySearch(g.Targets()[lo:hi], int32(u)); ok {
			if s.loops == nil {
				s.loops = make([]float64, len(s.strength))
			}
			s.loops[u] = g.Weight(lo+int64(at)) * s.scale
		}
		s.strength[u] = w
	}
	return s, nil
}

// loop returns the scaled weight of u's self-loop.
func (s *system) loop(u int32) float64 {
	if s.loops == nil {
		return 0
	}
	return s.loops[u]
}

// folded returns the quotient, which the first call makes.
func (s *system) folded(ctx context.Context) (*quotient, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-s.lock }()
	if s.quotient == nil {
		q, err := newQuotient(ctx, s)
		if err != nil {
			return nil, err
		}
		s.quotient, s.g = q, nil
	}
	return s.quotient, nil
}

// quotient is the system of the sums over classes of twins (an equitable partition).
// With one unknown for the sum of the y of the k nodes of a class it is
//
//	(E - L - Lᵀ)·y = (1-d)·v/k  where  E = (D - d·(2·loop + (k-1)·inside))/k
//
// and L has d times the weights of the arcs to earlier classes. The rest of v, the
// differences between twins, stays within the class: see [quotient.own].
type quotient struct {
	class    []int32 // class of each node, -1 without edges
	size     []float64
	inside   []float64 // scaled weight of the edge between two twins
	strength []float64 // strength of one node of each class
	pivot    []float64 // E, the diagonal
	share    []float64 // factor from y to the x of one node of the class
	damping  float64
	scale    float64
	rows     interface { // *arcs[float32] if it represents all weights exactly, otherwise *arcs[float64]
		solve(ctx context.Context, q *quotient, x *query, seeds []Seed, v reset, tolerance float64) error
	}
}

// arcs holds the rows of a matrix with weights of one type, sorted by target.
type arcs[W float32 | float64] struct {
	offsets []int64
	middle  []int64 // index of the first arc to a later class
	targets []int32
	weights []W
}

// stride is the number of rows between two checks of the context.
const stride = 1 << 14

func newQuotient(ctx context.Context, s *system) (*quotient, error) {
	c, err := s.g.Twins(ctx)
	if err != nil {
		return nil, err
	}
	var order []int32
	for u, first := range c.First {
		if s.strength[u] == 0 {
			c.First[u] = -1
		} else if first == int32(u) {
			order = append(order, first)
		}
	}
	q := &quotient{class: make([]int32, len(c.First)), damping: s.damping, scale: s.scale}
	for i := range q.class {
		q.class[i] = -1
	}
	q.measure(s, c, order)
	if slices.ContainsFunc(s.g.Weights(), func(w float64) bool { return w != float64(float32(w)) }) {
		q.rows, err = quotientRows[float64](ctx, s, q.class, len(order))
	} else {
		q.rows, err = quotientRows[float32](ctx, s, q.class, len(order))
	}
	// Here only the first node of each class has a class.
	for u, first := range c.First {
		if first >= 0 {
			q.class[u] = q.class[first]
		}
	}
	return q, err
}

// measure computes the vectors with an entry for each class.
func (q *quotient) measure(s *system, c graph.Classes, order []int32) {
	n := len(order)
	q.size, q.inside, q.strength = make([]float64, n), make([]float64, n), make([]float64, n)
	q.pivot, q.share = make([]float64, n), make([]float64, n)
	for i, u := range order {
		k, inside, strength := float64(c.Size[u]), c.Inside[u]*s.scale, s.strength[u]
		q.class[u] = int32(i)
		q.size[i], q.inside[i], q.strength[i] = k, inside, strength
		q.pivot[i] = (strength - s.damping*(2*s.loop(u)+(k-1)*inside)) / k
		q.share[i] = strength / k
	}
}

// quotientRows returns the rows of the classes, made from the rows of their first nodes, the only nodes whose
// class is not -1.
func quotientRows[W float32 | float64](ctx context.Context, s *system, class []int32, classes int) (*arcs[W], error) {
	a := &arcs[W]{offsets: make([]int64, classes+1), middle: make([]int64, classes)}
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
	a.targets, a.weights = make([]int32, a.offsets[classes]), make([]W, a.offsets[classes])
	var row []uint64 // class of the target in the upper half, index of the arc in the lower half
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
			a.targets[to+int64(i)], a.weights[to+int64(i)] = int32(x>>32), W(s.g.Weight(lo+int64(uint32(x))))
		}
		at, _ := slices.BinarySearch(row, uint64(c)<<32)
		a.middle[c] = to + int64(at)
	}
	return a, nil
}

// part returns the targets and weights of the arcs lo to hi-1.
func (a *arcs[W]) part(lo, hi int64) ([]int32, []W) { return a.targets[lo:hi], a.weights[lo:hi] }

// own returns, for a seed whose twins are not seeds, its class, and the difference of its x to the mean of the
// class, times the size of the class. Vectors that sum to zero within a class remain in the class: for them D -
// d·A is D + d·inside.
func (q *quotient) own(seed Seed, v reset) (x float64, class int32) {
	c := q.class[seed.Node]
	if c < 0 || q.size[c] == 1 {
		return 0, c
	}
	return (1 - q.damping) * (seed.Weight / v.total) * q.strength[c] / (q.strength[c] + q.damping*q.inside[c]), c
}
