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
	rows      rows
	damping   float64
	tolerance float64
	strength  []float64 // scaled by a power of two to at most 1; 0 is no way out
	inverse   []float64 // 1/strength, or 0
	diagonal  []float64 // of D - d·A without the arcs, which hold a loop once
	pivot     []float64 // of D - d·A; 1 for a node without a way out
	middle    []int64   // first arc of a row that leads to the node itself or a later one
	scale     float64   // what weights are multiplied by to fit strength
	mean      float64   // scaled weight of an arc
	total     float64   // of all strengths

	// For batches, measured when the first one asks; whoever holds the lock does it.
	lock      chan struct{}
	component []int32   // of each node
	totals    []float64 // of the strengths of each component
}

func newSystem(g *graph.Graph, damping, tolerance float64) (*system, error) {
	n := g.N()
	s := &system{
		g: g, rows: rowsOf(g), damping: damping, tolerance: tolerance,
		strength: make([]float64, n), inverse: make([]float64, n), diagonal: make([]float64, n), pivot: make([]float64, n),
		middle: make([]int64, n),
		lock:   make(chan struct{}, 1),
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
		lo, hi := s.g.Row(int32(u))
		at, _ := slices.BinarySearch(s.g.Targets()[lo:hi], int32(u))
		s.middle[u] = lo + int64(at)
		s.pivot[u] = 1
		if w == 0 {
			continue
		}
		w *= s.scale
		if w < span {
			return fmt.Errorf("ppr: %w: too far apart: node %d has %v, another one %v", ErrWeights, u, s.strength[u], greatest)
		}
		loop := s.damping * s.loop(int32(u))
		s.strength[u], s.inverse[u], s.diagonal[u], s.pivot[u] = w, 1/w, w-loop, w-2*loop
		s.total += w
		arcs += hi - lo
	}
	if arcs > 0 {
		s.mean = s.total / float64(arcs)
	}
	return nil
}

// components gives the component of each node, and their strengths.
func (s *system) components(ctx context.Context) ([]int32, []float64, error) {
	select {
	case s.lock <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-s.lock }()
	if s.totals == nil {
		component, count, err := s.g.Components(ctx)
		if err != nil {
			return nil, nil, err
		}
		s.component, s.totals = component, make([]float64, count)
		for u, c := range component {
			s.totals[c] += s.strength[u]
		}
	}
	return s.component, s.totals, nil
}

// loop returns the scaled weight of u's self-loop.
func (s *system) loop(u int32) float64 {
	at := s.middle[u]
	if _, hi := s.g.Row(u); at == hi || s.g.Targets()[at] != u {
		return 0
	}
	return s.g.Weight(at) * s.scale
}
