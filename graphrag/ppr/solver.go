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

// Options for [New].
type Options struct {
	// Damping is the probability of following an edge, above 0 and below 1; 0 means 0.85.
	Damping float64
	// Tolerance is the L1 norm of the residual at which solutions stop, 1e-13 to 1; 0 means 1e-9. The L1
	// error of a solution is at most Tolerance/(1-Damping).
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

// Solver computes personalised PageRank on one graph. It is safe for concurrent
// use; the memory of a query is reused by later ones.
type Solver struct {
	*system
	queries sync.Pool
}

// New prepares a solver for g, which it keeps until the first query.
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
	if err := x.solve(ctx, q, seeds, v, s.tolerance); err != nil {
		return nil, fmt.Errorf("ppr: solve: %w", err)
	}
	dst = slices.Grow(dst[:0], len(s.strength))[:len(s.strength)]
	x.results(q, seeds, v, dst)
	for _, seed := range seeds {
		if s.strength[seed.Node] == 0 { // only restarts reach a node without an edge
			dst[seed.Node] += (1 - s.damping) * (seed.Weight / v.total) / v.sum
		}
	}
	return dst, nil
}

// Seed is a node of a reset vector. A vector is scaled to sum 1; the weights of a
// node that is named several times are added.
type Seed struct {
	Node   int32
	Weight float64
}

// ErrReset is wrapped by the errors for reset vectors that are zero, negative,
// not finite, or name nodes that the graph does not have.
var ErrReset = errors.New("unusable reset vector")

// reset is a checked reset vector. A walk that ends at nodes without an edge is proportional to one that
// restarts there: the former is computed and divided by its sum.
type reset struct {
	total float64 // weight of all seeds
	sum   float64 // of the walk that ends
}

// checkReset checks seeds for a graph.
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
		return reset{}, fmt.Errorf("ppr: %w: it is zero, name a node", ErrReset)
	}
	if math.IsInf(total, 1) || largest < math.SmallestNonzeroFloat64*0x1p60 {
		return reset{}, fmt.Errorf("ppr: %w: weights of up to %v, scale them", ErrReset, largest)
	}
	return reset{total, 1 - s.damping*lost/total}, nil
}
