// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// certainFrom is the residual from which on a solution looks whether a ranking is certain:
// of the first ten of 5,800 passages none was before.
const certainFrom = 1e-3

// ranking is the memory of a ranking that may become certain.
type ranking struct {
	top   rank.Top[int32]
	first []rank.Scored[int32]
}

// SolveFirst is [Solver.Solve] for who wants the first k of the nodes from a place on: it
// ends as soon as no further step can change which they are, or their order, and writes the
// values of the nodes from there on. Where the order is close it goes on to the tolerance.
func (s *Solver) SolveFirst(ctx context.Context, seeds []Seed, from, k int, dst []float64) ([]float64, error) {
	if from < 0 || from > s.g.N() || k < 0 {
		return nil, fmt.Errorf("ppr: solve: the first %d nodes from %d on, of %d", k, from, s.g.N())
	}
	v, err := s.checkReset(seeds)
	if err != nil {
		return nil, err
	}
	q, err := s.exact(ctx)
	if err != nil {
		return nil, fmt.Errorf("ppr: solve: %w", err)
	}
	x := s.single.Get().(*single)
	defer s.single.Put(x)
	n := s.g.N() - from
	dst = slices.Grow(dst[:0], n)[:n]
	write := func() {
		x.results(q, seeds, v, from, dst)
		s.addLost(seeds, v, from, dst)
	}
	if err := x.solve(ctx, q, seeds, v, s.tolerance, func(norm float64) bool {
		if norm > certainFrom*v.sum {
			return false
		}
		write()
		return x.ranking.certain(dst, s.strength[from:], x.reach(q)/v.sum, k)
	}); err != nil {
		return nil, err
	}
	write()
	return dst, nil
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

// certain tells whether the first k values stay the first, and in their order, if each may
// be off by reach times its strength.
func (r *ranking) certain(values, strength []float64, reach float64, k int) bool {
	k = min(k, len(values))
	r.top.Reset(k)
	for u, value := range values {
		r.top.Push(int32(u), value)
	}
	if r.first = r.top.Append(r.first[:0]); k == 0 {
		return true
	}
	last, behind := r.first[k-1], 0.0 // the most that those behind may have
	for u, value := range values {
		if rank.Compare(rank.Scored[int32]{ID: int32(u), Score: value}, last) > 0 {
			behind = max(behind, value+reach*strength[u])
		}
	}
	for _, f := range slices.Backward(r.first) {
		off := reach * strength[f.ID]
		if f.Score-off <= behind {
			return false
		}
		behind = max(behind, f.Score+off)
	}
	return true
}
