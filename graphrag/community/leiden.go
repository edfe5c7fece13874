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
// The error reports options that cannot be used, weights whose sum is not finite,
// or the end of ctx. The result depends on the graph, the options and nothing
// else.
func Leiden(ctx context.Context, g *graph.Graph, opts Options) (Partition, error) {
	opts, err := opts.resolve(g.N())
	if err != nil {
		return Partition{}, err
	}
	twice, err := twiceWeight(g)
	if err != nil {
		return Partition{}, err
	}
	var p Partition
	if exactIn32(g, twice) {
		p, err = leiden(ctx, newNetwork[float32](g, opts.strengths()), twice, opts)
	} else {
		p, err = leiden(ctx, newNetwork[float64](g, opts.strengths()), twice, opts)
	}
	if err != nil {
		return Partition{}, fmt.Errorf("community: Leiden: %w", err)
	}
	p.Quality = quality(g, p.Labels, opts)
	return p, nil
}

// twiceWeight returns 2m, the sum of all strengths.
func twiceWeight(g *graph.Graph) (float64, error) {
	sum := 0.0
	for u := range int32(g.N()) {
		sum += g.Strength(u)
	}
	switch {
	case math.IsInf(sum, 1):
		return 0, fmt.Errorf("community: the weights of the graph sum to more than a float64 holds, scale them down: %w", graph.ErrEdge)
	case sum > 0 && sum < leastWeight:
		return 0, fmt.Errorf("community: the weights of the graph sum to %v, too little to divide by, scale them up: %w", sum, graph.ErrEdge)
	}
	return sum, nil
}

// leastWeight is the least sum of weights that others can be divided by without
// leaving the range of a float64.
const leastWeight = 0x1p-1000

// leiden returns the partition of a network, all but its quality.
func leiden[W weight](ctx context.Context, net *network[W], twice float64, opts Options) (Partition, error) {
	p := Partition{Labels: make([]int32, net.n())}
	if opts.Initial != nil {
		copy(p.Labels, opts.Initial)
	} else {
		singletons(p.Labels)
	}
	s := &solver[W]{ctx: ctx}
	s.configure(twice, opts, 0)
	if err := s.run(net, &p); err != nil {
		return Partition{}, err
	}
	return p, nil
}

// solver holds the parameters of a run and the storage that its levels share.
type solver[W weight] struct {
	ctx       context.Context
	gamma     float64 // γ'
	theta     float64
	maxPasses int
	rng       rand.PCG

	tallies    []tally[W]
	sizes      []int32
	empty      []int32
	queue      []int32
	slack      []W
	alone      []bool
	touched    []int32
	order      []int32
	subsets    []subset[W]
	parts      []int32
	candidates []int32
	choices    []int32
	gains      []float64
	links      []W
	levels     []*level[W]
}

// level is what has to live while coarser levels are worked on.
type level[W weight] struct {
	comms  groups
	parts  groups
	part   []int32
	coarse network[W]
	labels []int32
}

// configure prepares for a graph of weight 2m, with a stream of random numbers
// of its own.
func (s *solver[W]) configure(twice float64, opts Options, stream uint64) {
	s.gamma = opts.Resolution
	if opts.strengths() && twice > 0 {
		s.gamma /= twice
	}
	s.theta, s.maxPasses = opts.Randomness, opts.MaxPasses
	s.rng.Seed(opts.Seed, stream)
}

// reserve makes room for n nodes.
func (s *solver[W]) reserve(n int) {
	if n <= len(s.sizes) {
		return
	}
	s.tallies = make([]tally[W], n)
	s.sizes = make([]int32, n)
	s.empty = make([]int32, 0, n)
	s.queue = make([]int32, n)
	s.slack = make([]W, n)
	s.alone = make([]bool, n)
	s.touched = make([]int32, n+1)
	s.order = make([]int32, n)
	s.subsets = make([]subset[W], n)
	s.parts = make([]int32, n)
	s.links = make([]W, n)
}

func (s *solver[W]) level(depth int) *level[W] {
	if depth == len(s.levels) {
		s.levels = append(s.levels, &level[W]{})
	}
	return s.levels[depth]
}

// below returns a number from 0 to n-1.
func (s *solver[W]) below(n int) int { return int((s.rng.Uint64() >> 32) * uint64(n) >> 32) }

// float returns a number from 0 up to 1.
func (s *solver[W]) float() float64 { return float64(s.rng.Uint64()>>11) / (1 << 53) }

func (s *solver[W]) shuffle(order []int32) {
	for i := len(order) - 1; i > 0; i-- {
		j := s.below(i + 1)
		order[i], order[j] = order[j], order[i]
	}
}

// patience is how many passes in a row have to change nothing before a partition
// counts as stable. The refinement is random, so a pass that found nothing does
// not say that the next one will find nothing.
const patience = 12

// minArranged is the size from which on the nodes are arranged by community
// after the first pass: smaller networks are in the cache in any order.
const minArranged = 1 << 14

// run repeats passes until the partition is stable.
func (s *solver[W]) run(net *network[W], p *Partition) error {
	n := net.n()
	if n == 0 {
		p.Stable = true
		return nil
	}
	s.reserve(n)
	isolate(net, p.Labels)
	p.Communities = canonical(p.Labels)
	before, labels := slices.Clone(p.Labels), slices.Clone(p.Labels)
	order := make([]int32, n)
	singletons(order)
	for quiet := 0; p.Passes < s.maxPasses && quiet < patience; p.Passes++ {
		if p.Passes == 1 && n >= minArranged {
			order = s.byCommunity(p.Labels)
			net = net.arrange(order)
			for i, u := range order {
				labels[i] = p.Labels[u]
			}
		}
		if err := s.optimise(net, labels, 0); err != nil {
			return err
		}
		for i, u := range order {
			p.Labels[u] = labels[i]
		}
		p.Communities = canonical(p.Labels)
		if p.Stable = slices.Equal(p.Labels, before); p.Stable {
			quiet++
		} else {
			quiet = 0
			copy(before, p.Labels)
		}
	}
	return nil
}

// byCommunity returns the nodes sorted by community.
func (s *solver[W]) byCommunity(labels []int32) []int32 {
	var g groups
	g.gather(slices.Clone(labels), s.order)
	return g.members
}

// optimise is one pass of the Leiden algorithm over a network and all coarser
// ones: move the nodes, refine the communities, make each part a node, go on
// with those in the communities that were found.
func (s *solver[W]) optimise(net *network[W], labels []int32, depth int) error {
	n, lv := net.n(), s.level(depth)
	for count := n; count == n; {
		moved, err := s.moveNodes(net, labels)
		if err != nil {
			return err
		}
		lv.comms.gather(labels, s.order)
		if lv.comms.count() == n {
			if !moved {
				return nil // each node has been compared with all others: γ-separated
			}
			continue
		}
		count = s.refine(net, labels, &lv.comms, false)
		if count == n && !moved {
			// Chance left every node alone. If no merge is worth while either,
			// the communities are ties.
			if count = s.refine(net, labels, &lv.comms, true); count == n {
				return nil
			}
		}
	}
	lv.number(s.parts[:n], s.order)
	lv.labels = lv.labels[:0]
	for p := range lv.parts.count() {
		lv.labels = append(lv.labels, labels[lv.parts.of(p)[0]])
	}
	coarsen(net, &lv.parts, lv.part, &lv.coarse, s.links)
	if err := s.optimise(&lv.coarse, lv.labels, depth+1); err != nil {
		return err
	}
	for u, p := range lv.part {
		labels[u] = lv.labels[p]
	}
	return nil
}

// number numbers the parts community by community, so that the next level has
// nodes of one community side by side.
func (lv *level[W]) number(parts, order []int32) {
	lv.part = lv.part[:0]
	for range parts {
		lv.part = append(lv.part, -1)
	}
	next := int32(0)
	for _, u := range lv.comms.members {
		if p := parts[u]; lv.part[p] < 0 {
			lv.part[p] = next
			next++
		}
	}
	// A part is named after its first node, which stays in it.
	for u, p := range parts {
		lv.part[u] = lv.part[p]
	}
	lv.parts.gather(lv.part, order)
}
