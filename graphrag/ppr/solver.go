// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Defaults of [Options].
const (
	DefaultDamping   = .85 // Brin and Page 1998; igraph
	DefaultTolerance = 1e-9
)

// minTolerance is the least residual that float64 can be relied on to reach.
const minTolerance = 1e-13

// Options for [New].
type Options struct {
	// Damping is the probability of going on walking, above 0 and below 1;
	// 0 means DefaultDamping.
	Damping float64
	// Tolerance is the L1 norm of the residual at which exact solutions stop,
	// 1e-13 to 1; 0 means DefaultTolerance. The L1 error of a solution is at
	// most Tolerance/(1-Damping).
	Tolerance float64
	// Workers is the number of goroutines that share a batch; 0 means 1.
	Workers int
}

func (o Options) check() error {
	var errs []error
	if !(o.Damping > 0 && o.Damping < 1) {
		errs = append(errs, fmt.Errorf("ppr: damping %v, want a number above 0 and below 1", o.Damping))
	}
	if !(o.Tolerance >= minTolerance && o.Tolerance <= 1) {
		errs = append(errs, fmt.Errorf("ppr: tolerance %v, want %v to 1", o.Tolerance, minTolerance))
	}
	if o.Workers < 0 {
		errs = append(errs, fmt.Errorf("ppr: %d workers, want 0 or more", o.Workers))
	}
	return errors.Join(errs...)
}

// ErrReset is wrapped by the errors for reset vectors that are zero, negative,
// not finite, or name nodes a graph does not have.
var ErrReset = errors.New("unusable reset vector")

// ErrWeights is wrapped by the error for graphs whose weights are too far apart.
var ErrWeights = errors.New("weights too far apart")

// span is how far below the greatest strength another one may lie; directions
// are kept as float32, which end at 2^-126.
const span = 0x1p-100

// Solver computes personalised PageRank on one graph. It is safe for concurrent
// use; memory for queries is kept and used again.
type Solver struct {
	g        *graph.Graph
	rows     rows
	opts     Options
	strength []float64 // scaled by a power of two to at most 1; 0 is no way out
	inverse  []float64 // 1/strength, or 0
	diagonal []float64 // of D - d·A without the arcs, which hold a loop once
	pivot    []float64 // of D - d·A; 1 for a node without a way out
	middle   []int64   // first arc of a row that leads to the node itself or a later one
	scale    float64   // what weights are multiplied by to fit strength
	mean     float64   // scaled weight of an arc
	total    float64   // of all strengths

	// components gives the component of each node, and their strengths.
	components func() ([]int32, []float64)

	single, batch, push sync.Pool
}

// New prepares a solver for g. It reads the graph once and keeps it.
func New(g *graph.Graph, opts Options) (*Solver, error) {
	if opts.Damping == 0 {
		opts.Damping = DefaultDamping
	}
	if opts.Tolerance == 0 {
		opts.Tolerance = DefaultTolerance
	}
	if err := opts.check(); err != nil {
		return nil, err
	}
	opts.Workers = max(1, opts.Workers)
	n := g.N()
	s := &Solver{
		g: g, rows: rowsOf(g), opts: opts,
		strength: make([]float64, n), inverse: make([]float64, n), diagonal: make([]float64, n), pivot: make([]float64, n),
		middle: make([]int64, n),
	}
	if err := s.measure(); err != nil {
		return nil, err
	}
	s.single.New = func() any { return newSingle(n) }
	s.components = sync.OnceValues(s.measureComponents)
	s.batch.New = func() any { return newBatch(s) }
	s.push.New = func() any { return newPusher(n) }
	return s, nil
}

// measure computes what the solver knows of each node.
func (s *Solver) measure() error {
	greatest := 0.0
	for u := range s.strength {
		s.strength[u] = s.g.Strength(int32(u))
		greatest = max(greatest, s.strength[u])
	}
	if math.IsInf(greatest, 1) {
		return fmt.Errorf("ppr: %w: the sum at a node overflows", ErrWeights)
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
			return fmt.Errorf("ppr: %w: node %d has %v, another one %v", ErrWeights, u, s.strength[u], greatest)
		}
		loop := s.opts.Damping * s.loop(int32(u))
		s.strength[u], s.inverse[u], s.diagonal[u], s.pivot[u] = w, 1/w, w-loop, w-2*loop
		s.total += w
		arcs += hi - lo
	}
	if arcs > 0 {
		s.mean = s.total / float64(arcs)
	}
	return nil
}

func (s *Solver) measureComponents() (component []int32, totals []float64) {
	component, count := s.g.Components()
	totals = make([]float64, count)
	for u, c := range component {
		totals[c] += s.strength[u]
	}
	return component, totals
}

// loop returns the scaled weight of u's self-loop.
func (s *Solver) loop(u int32) float64 {
	at := s.middle[u]
	if _, hi := s.g.Row(u); at == hi || s.g.Targets()[at] != u {
		return 0
	}
	return s.g.Weight(at) * s.scale
}
