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

// ErrWeights is wrapped by the error for graphs whose weights are too far apart,
// too small or too great.
var ErrWeights = errors.New("unusable weights")

// span is how far below the greatest strength another one may lie; directions
// are kept as float32, which end at 2^-126.
const span = 0x1p-100

// The greatest strength lies between these: products of weights and directions,
// which come down to span and up to its inverse, are then neither subnormal nor
// infinite.
const (
	leastStrength    = 0x1p-700
	greatestStrength = 0x1p910
)

// system is (D - d·A)·y = (1-d)·v for one graph.
type system struct {
	g         *graph.Graph
	damping   float64
	tolerance float64
	strength  []float64 // scaled by a power of two to at most 1; 0 is no way out
	inverse   []float64 // 1/strength, or 0
	loops     []float64 // scaled weights of self-loops; nil if there are none
	scale     float64   // what weights are multiplied by to fit strength
	mean      float64   // scaled weight of an arc
	total     float64   // of all strengths

	// For exact solutions, made when the first one asks; whoever holds the lock does it.
	lock     chan struct{}
	quotient *quotient
}

func newSystem(g *graph.Graph, damping, tolerance float64) (*system, error) {
	n := g.N()
	s := &system{
		g: g, damping: damping, tolerance: tolerance,
		strength: make([]float64, n), inverse: make([]float64, n),
		lock: make(chan struct{}, 1),
	}
	return s, s.measure()
}

// measure computes what the solver knows of each node.
func (s *system) measure() error {
	greatest := 0.0
	for u := range s.strength {
		s.strength[u] = s.g.Strength(int32(u))
		greatest = max(greatest, s.strength[u])
	}
	if greatest > greatestStrength || greatest > 0 && greatest < leastStrength {
		return fmt.Errorf("ppr: %w: the greatest sum at a node is %v, want %v to %v: scale the weights", ErrWeights, greatest, leastStrength, greatestStrength)
	}
	_, exponent := math.Frexp(greatest)
	s.scale = math.Ldexp(1, -exponent)
	arcs := int64(0)
	for u, w := range s.strength {
		if w == 0 {
			continue
		}
		w *= s.scale
		if w < span {
			return fmt.Errorf("ppr: %w: too far apart: node %d has %v, another one %v", ErrWeights, u, s.strength[u], greatest)
		}
		lo, hi := s.g.Row(int32(u))
		if at, ok := slices.BinarySearch(s.g.Targets()[lo:hi], int32(u)); ok {
			if s.loops == nil {
				s.loops = make([]float64, len(s.strength))
			}
			s.loops[u] = s.g.Weight(lo+int64(at)) * s.scale
		}
		s.strength[u], s.inverse[u] = w, 1/w
		s.total += w
		arcs += hi - lo
	}
	if arcs > 0 {
		s.mean = s.total / float64(arcs)
	}
	return nil
}

// loop returns the scaled weight of u's self-loop.
func (s *system) loop(u int32) float64 {
	if s.loops == nil {
		return 0
	}
	return s.loops[u]
}

// inflow returns what a step of the walk from x brings to u.
func (s *system) inflow(u int32, x []float64) float64 {
	lo, hi := s.g.Row(u)
	sum := 0.0
	for i, t := range s.g.Targets()[lo:hi] {
		if x[t] != 0 {
			sum += x[t] * s.inverse[t] * s.g.Weight(lo+int64(i))
		}
	}
	return sum*s.scale + s.inverse[u]*x[u]*s.loop(u)
}

// exact returns the system that exact solutions solve.
func (s *system) exact(ctx context.Context) (*quotient, error) {
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
		s.quotient = q
	}
	return s.quotient, nil
}
