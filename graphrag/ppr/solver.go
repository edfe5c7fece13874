// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

const (
	defaultDamping   = .85 // Brin and Page 1998; igraph
	defaultTolerance = 1e-9
	minTolerance     = 1e-13 // the least residual that float64 can be relied on to reach
)

// Options for [New].
type Options struct {
	// Damping is the probability of going on walking, above 0 and below 1;
	// 0 means 0.85.
	Damping float64
	// Tolerance is the L1 norm of the residual at which exact solutions stop,
	// 1e-13 to 1; 0 means 1e-9. The L1 error of a solution is at most
	// Tolerance/(1-Damping).
	Tolerance float64
	// Workers is the number of goroutines that share a batch; 0 means GOMAXPROCS.
	Workers int
}

// Check reports all that is wrong with the options.
func (o Options) Check() error {
	_, err := o.resolve()
	return err
}

func (o Options) resolve() (Options, error) {
	o.Damping, o.Tolerance = cmp.Or(o.Damping, defaultDamping), cmp.Or(o.Tolerance, defaultTolerance)
	c := opt.Checks{Of: "ppr"}
	opt.Between(&c, "Damping", o.Damping, 0, 1)
	opt.Range(&c, "Tolerance", o.Tolerance, minTolerance, 1)
	opt.Min(&c, "Workers", o.Workers, 0)
	return o, c.Err()
}

// Solver computes personalised PageRank on one graph. It is safe for concurrent
// use; memory for queries is kept and used again.
type Solver struct {
	*system
	workers             int
	single, batch, push sync.Pool
}

// New prepares a solver for g. It reads the graph once and keeps it.
func New(g *graph.Graph, opts Options) (*Solver, error) {
	opts, err := opts.resolve()
	if err != nil {
		return nil, err
	}
	system, err := newSystem(g, opts.Damping, opts.Tolerance)
	if err != nil {
		return nil, err
	}
	s := &Solver{system: system, workers: opts.Workers}
	s.single.New = func() any { return newSingle(system.quotient) }
	s.batch.New = func() any { return newBatch(system.quotient) }
	s.push.New = func() any { return newPusher(g.N()) }
	return s, nil
}

// Solve returns the personalised PageRank of every node for a reset vector. The
// values sum to 1. The result is written over dst if that is large enough.
// Errors wrap [ErrReset] or are those of the context.
func (s *Solver) Solve(ctx context.Context, seeds []Seed, dst []float64) ([]float64, error) {
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
	if err := x.solve(ctx, q, seeds, v, s.tolerance, never); err != nil {
		return nil, err
	}
	dst = slices.Grow(dst[:0], s.g.N())[:s.g.N()]
	x.results(q, seeds, v, 0, dst)
	s.addLost(seeds, v, 0, dst)
	return dst, nil
}

// certainFrom is the residual from which on a solution looks whether a ranking is certain:
// of the first ten of 5,800 passages none was before.
const certainFrom = 1e-3

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

// SolveBatch is [Solver.Solve] for many reset vectors. Groups of 16 read the
// edges together; [Options.Workers] groups run side by side, each of which needs
// 520 bytes a node. A result does not depend on the other queries of the batch,
// their order or the workers; it differs from that of Solve within the tolerance.
// Results are written over dst as far as its slices are large enough.
func (s *Solver) SolveBatch(ctx context.Context, resets [][]Seed, dst [][]float64) ([][]float64, error) {
	vectors := make([]reset, len(resets))
	for i, seeds := range resets {
		var err error
		if vectors[i], err = s.checkReset(seeds); err != nil {
			return nil, fmt.Errorf("ppr: query %d: %w", i, err)
		}
	}
	for len(dst) < len(resets) {
		dst = append(dst, nil)
	}
	dst = dst[:len(resets)]
	q, err := s.exact(ctx)
	if err != nil {
		return nil, fmt.Errorf("ppr: solve batch: %w", err)
	}
	err = par.Ranges(ctx, len(resets), lanes, s.workers, func(_, first, last int) error {
		b := s.batch.Get().(*batch)
		defer s.batch.Put(b)
		if err := b.solve(ctx, q, resets[first:last], vectors[first:last], s.tolerance); err != nil {
			return fmt.Errorf("ppr: solve batch: %w", err)
		}
		b.results(q, resets[first:last], vectors[first:last], dst[first:last])
		for i := first; i < last; i++ {
			s.addLost(resets[i], vectors[i], 0, dst[i])
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return dst, nil
}

// Push computes lower bounds of the personalised PageRank of the nodes around the
// reset vector, best first, and by how much they fall short of the truth, over all
// nodes together: the L1 error. It stops when no node u holds more unspent
// probability than epsilon·degree(u), where degree is strength over mean weight;
// no value then falls short by more than that. The time is at most in proportion
// to 1/epsilon, independent of the graph. Scores are written over dst if it is
// large enough.
func (s *Solver) Push(ctx context.Context, seeds []Seed, epsilon float64, dst []rank.Scored[int32]) (scores []rank.Scored[int32], short float64, err error) {
	x, v, err := s.pushed(ctx, seeds, epsilon, math.MaxInt64)
	if err != nil {
		return nil, 0, err
	}
	defer s.push.Put(x)
	scores = dst[:0]
	for _, u := range x.touched {
		if x.value[u] > 0 {
			scores = append(scores, rank.Scored[int32]{ID: u, Score: x.value[u] / v.sum})
		}
		short += x.unspent[u] / v.sum
	}
	return rank.Best(scores, len(scores)), short, nil
}

// Top estimates the k nodes with the highest personalised PageRank, best first,
// equal ones by node. It pushes, see [Solver.Push], guesses how what is left would
// spread, and looks how far a further step of the walk moves the first nodes. If
// it could move one of them across the k-th place, Top pushes ten times as far and
// looks again, down to epsilon at the most; 0 means 1e-7. Where pushes go through so
// many edges that they no longer pay, it solves as [Solver.Solve] does, down to a
// residual of 1e-3. So most rankings take little time, and close ones more, but less
// than an exact solution.
//
// The values are estimates, neither bounds nor a distribution, meant for ranking;
// near ties may stand in the wrong order. [Solver.Solve] is exact. Scores are
// written over dst if it is large enough.
func (s *Solver) Top(ctx context.Context, seeds []Seed, k int, epsilon float64, dst []rank.Scored[int32]) ([]rank.Scored[int32], error) {
	if k < 0 {
		return nil, fmt.Errorf("ppr: top: k is %d, want 0 or more", k)
	}
	if epsilon == 0 {
		epsilon = defaultEpsilon
	}
	if err := checkEpsilon(epsilon); err != nil {
		return nil, err
	}
	k = min(k, len(s.strength))
	look := max(epsilon, firstEpsilon)
	x, v, err := s.pushed(ctx, seeds, look, max(s.g.Arcs()/pushShare, leastWork))
	if err != nil {
		return nil, err
	}
	defer s.push.Put(x)
	for x.rank(s.system, k); look > epsilon && !x.settled(s.system, k) && x.work < x.most; x.rank(s.system, k) {
		look = max(epsilon, look/finer)
		if err := x.spend(ctx, s.system, look); err != nil {
			return nil, err
		}
	}
	if x.work >= x.most {
		if err := s.solved(ctx, x, seeds, v, k); err != nil {
			return nil, err
		}
	}
	best := dst[:0]
	for _, c := range x.ranked[:min(k, len(x.ranked))] {
		best = append(best, rank.Scored[int32]{ID: c.node, Score: c.value / v.sum})
	}
	return best, nil
}

// solved ranks by a solution that is good enough for that. It starts again from the seeds:
// from what was not spent, on thousands of nodes, the first residual alone would cost a
// sweep.
func (s *Solver) solved(ctx context.Context, x *pusher, seeds []Seed, v reset, k int) error {
	q, err := s.exact(ctx)
	if err != nil {
		return fmt.Errorf("ppr: top: %w", err)
	}
	y := s.single.Get().(*single)
	defer s.single.Put(y)
	if err := y.solve(ctx, q, seeds, v, max(rankTolerance, s.tolerance), never); err != nil {
		return err
	}
	v.sum = 1 // by which the ranking is divided later
	y.values = slices.Grow(y.values[:0], s.g.N())[:s.g.N()]
	y.results(q, seeds, v, 0, y.values)
	s.addLost(seeds, v, 0, y.values)
	x.best(y.values, k)
	return nil
}

// pushed runs a push through at most so many arcs; the caller puts the pusher back.
func (s *Solver) pushed(ctx context.Context, seeds []Seed, epsilon float64, arcs int64) (*pusher, reset, error) {
	v, err := s.checkReset(seeds)
	if err != nil {
		return nil, v, err
	}
	if err := checkEpsilon(epsilon); err != nil {
		return nil, v, err
	}
	x := s.push.Get().(*pusher)
	x.most = arcs
	if err := x.start(ctx, s.system, seeds, v, epsilon); err != nil {
		s.push.Put(x)
		return nil, v, err
	}
	return x, v, nil
}

func checkEpsilon(epsilon float64) error {
	c := opt.Checks{Of: "ppr: push"}
	opt.Between(&c, "epsilon", epsilon, 0, 1)
	return c.Err()
}
