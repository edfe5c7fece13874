// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Leiden finds communities by the algorithm of Traag, Waltman and van Eck
// (2019). See the package comment for what it guarantees. A node without edges,
// or with none of a weight above 0 but its own loop, is a community of its own.
//
// The error reports options that cannot be used (wrapping [ErrOptions]), weights
// whose sum is not finite, or the end of ctx. The result depends on the graph,
// the options and nothing else.
func Leiden(ctx context.Context, g *graph.Graph, opts Options) (Partition, error) {
	opts, err := opts.resolve(g.N())
	if err != nil {
		return Partition{}, err
	}
	p, err := leiden(ctx, g, opts)
	if err != nil {
		return Partition{}, fmt.Errorf("community: Leiden: %w", err)
	}
	return p, nil
}

func leiden(ctx context.Context, g *graph.Graph, opts Options) (Partition, error) {
	twice := twiceWeight(g)
	if math.IsInf(twice, 1) {
		return Partition{}, fmt.Errorf("the weights of the graph sum to more than a float64 holds: scale them down: %w", graph.ErrEdge)
	}
	gamma, strengths := opts.scale(twice)
	s := &solver{ctx: ctx}
	s.configure(gamma, opts)
	labels := make([]int32, g.N())
	if opts.Initial != nil {
		copy(labels, opts.Initial)
	} else {
		singletons(labels)
	}
	var passes int
	var stable bool
	var err error
	if weights := g.Weights64(); weights != nil {
		passes, stable, err = run(s, newNetwork(g, weights, strengths), labels)
	} else {
		passes, stable, err = run(s, newNetwork(g, g.Weights32(), strengths), labels)
	}
	if err != nil {
		return Partition{}, err
	}
	p := Partition{Labels: labels, Passes: passes, Stable: stable}
	p.Communities = canonical(labels)
	p.Quality = quality(g, labels, opts)
	return p, nil
}

// solver holds the parameters of a run and the storage that its levels share.
type solver struct {
	ctx       context.Context
	gamma     float64 // γ'
	theta     float64
	maxPasses int
	rng       rand.PCG

	tallies    []tally
	sizes      []int32
	empty      []int32
	queue      []int32
	queued     []bool
	touched    []int32
	order      []int32
	subsets    []subset
	parts      []int32
	candidates []int32
	choices    []int32
	gains      []float64
	links      []float64
	levels     []*level
}

// level is what has to live while coarser levels are worked on.
type level struct {
	comms  groups
	parts  groups
	part   []int32
	coarse network[float64]
	labels []int32
}

func (s *solver) configure(gamma float64, opts Options) {
	s.gamma, s.theta, s.maxPasses = gamma, opts.Randomness, opts.MaxPasses
	s.seed(opts.Seed, 0)
}

// seed starts a stream of random numbers.
func (s *solver) seed(seed, stream uint64) { s.rng.Seed(seed, stream) }

// reserve makes room for n nodes.
func (s *solver) reserve(n int) {
	if n <= len(s.sizes) {
		return
	}
	s.tallies = make([]tally, n)
	s.sizes = make([]int32, n)
	s.empty = make([]int32, 0, n)
	s.queue = make([]int32, n)
	s.queued = make([]bool, n)
	s.touched = make([]int32, n+1)
	s.order = make([]int32, n)
	s.subsets = make([]subset, n)
	s.parts = make([]int32, n)
	s.links = make([]float64, n)
}

func (s *solver) part(n int) []int32 { return s.parts[:n] }

func (s *solver) level(depth int) *level {
	if depth == len(s.levels) {
		s.levels = append(s.levels, &level{})
	}
	return s.levels[depth]
}

func (s *solver) shuffle(order []int32) {
	for i := len(order) - 1; i > 0; i-- {
		j := (s.rng.Uint64() >> 32) * uint64(i+1) >> 32
		order[i], order[j] = order[j], order[i]
	}
}

// float returns a number from 0 up to 1.
func (s *solver) float() float64 { return float64(s.rng.Uint64()>>11) / (1 << 53) }

// patience is how many passes in a row have to change nothing before a partition
// counts as stable. The refinement is random, so a pass that found nothing does
// not say that the next one will find nothing.
const patience = 12

// run repeats passes until the partition is stable.
func run[W weight](s *solver, net *network[W], labels []int32) (passes int, stable bool, err error) {
	n := net.n()
	s.reserve(n)
	isolate(net, labels)
	before := slices.Clone(labels)
	canonical(before)
	quiet := 0
	for passes < s.maxPasses && quiet < patience && n > 0 {
		if err := optimise(s, net, labels, 0); err != nil {
			return passes, false, err
		}
		passes++
		canonical(labels)
		if quiet++; !slices.Equal(labels, before) {
			quiet = 0
			copy(before, labels)
		}
	}
	return passes, quiet > 0 || n == 0, nil
}

// optimise is one pass of the Leiden algorithm over a network and all coarser
// ones: move the nodes, refine the communities, make each part a node, go on
// with those in the communities that were found.
func optimise[W weight](s *solver, net *network[W], labels []int32, depth int) error {
	n, lv := net.n(), s.level(depth)
	for count := n; count == n; {
		moved, err := moveNodes(s, net, labels)
		if err != nil {
			return err
		}
		lv.comms.gather(labels, s.order)
		if lv.comms.count() == n {
			return nil
		}
		count = refine(s, net, labels, &lv.comms, false)
		if count == n && !moved {
			// Chance left every node alone. If no merge is worth while either,
			// the communities are ties.
			if count = refine(s, net, labels, &lv.comms, true); count == n {
				return nil
			}
		}
	}
	lv.number(s.parts[:n], s.order)
	lv.labels = resize(lv.labels, lv.parts.count())
	for p := range lv.labels {
		lv.labels[p] = labels[lv.parts.of(p)[0]]
	}
	coarsen(net, &lv.parts, lv.part, &lv.coarse, s.links)
	if err := optimise(s, &lv.coarse, lv.labels, depth+1); err != nil {
		return err
	}
	for u, p := range lv.part {
		labels[u] = lv.labels[p]
	}
	return nil
}

// number numbers the parts community by community, so that the next level has
// nodes of one community side by side.
func (lv *level) number(parts, order []int32) {
	n := len(parts)
	lv.part = resize(lv.part, n)
	for u := range lv.part {
		lv.part[u] = -1
	}
	next := int32(0)
	for _, u := range lv.comms.members {
		if p := parts[u]; lv.part[p] < 0 {
			lv.part[p] = next
			next++
		}
	}
	// A part is named after its first node, which stays in it.
	for u := range int32(n) {
		if p := parts[u]; p != u {
			lv.part[u] = lv.part[p]
		}
	}
	lv.parts.gather(lv.part, order)
}
