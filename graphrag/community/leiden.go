// SPDX-License-Identifier: Apache-2.0

package community

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Leiden finds communities by the algorithm of Traag, Waltman and van Eck (2019); the package comment lists its
// guarantees. A node whose only edges are its self-loop or have weight 0 is a community of its own.
//
// Errors are invalid options, weights whose sum is infinite or, above 0, below 2^-1000, and a cancelled ctx.
// The result depends only on the graph and the options.
func Leiden(ctx context.Context, g *graph.Graph, opts Options) (Partition, error) {
	opts, err := opts.resolve()
	if err != nil {
		return Partition{}, err
	}
	about, err := surveyed(ctx, g)
	if err != nil {
		return Partition{}, err
	}
	var p Partition
	if about.exactIn32() {
		p, err = ofGraph[float32](ctx, g, about, opts)
	} else {
		p, err = ofGraph[float64](ctx, g, about, opts)
	}
	if err == nil {
		p.Quality, err = quality(ctx, g, about, p.Labels, opts.Resolution)
	}
	if err != nil {
		return Partition{}, fmt.Errorf("community: Leiden: %w", err)
	}
	return p, nil
}

// ofGraph returns the partition of a graph, but not its quality.
func ofGraph[W float](ctx context.Context, g *graph.Graph, about survey, opts Options) (Partition, error) {
	net, err := newNetwork[W](ctx, g, about)
	if err != nil {
		return Partition{}, err
	}
	net.spare = true
	p := apart(net.n())
	s := &solver[W]{ctx: ctx}
	s.configure(about.twice, opts)
	if err := s.run(net, g, &p); err != nil {
		return Partition{}, err
	}
	return p, nil
}

// solver holds the parameters of a run and the buffers that its levels share.
type solver[W float] struct {
	ctx       context.Context
	gamma     float64 // γ' in the package comment
	theta     float64
	maxPasses int
	draft     bool // the current pass is a draft, see draftRounds
	rng       rand.PCG

	masses  []W     // by community: sum of its nodes' weights
	members []int32 // by community: number of its nodes
	labels  int32   // labels from here on are unused
	empty   []int32 // unused labels below labels
	slack   []W     // by node, see visit
	queue   []int32
	order   []int32
	sizes   []int32
	levels  []*layer[W]
	refiner refiner[W]

	links      []W     // by community: weight of its arcs from the current node; zero otherwise
	touched    []int32 // communities with arcs from the current node
	neighbours []int32 // labels of the neighbours of a batch of nodes
	fetched    int32   // written only so that the compiler keeps the reads of fetch
}

// layer is the state of a level that is needed again after the coarser levels.
type layer[W float] struct {
	comms  groups
	parts  groups
	part   []int32 // by node: its part
	counts []int32 // by community: number of its parts
	coarse network[W]
	labels []int32
}

// configure sets the parameters for a graph whose strengths sum to 2m.
func (s *solver[W]) configure(twice float64, opts Options) {
	s.gamma = opts.Resolution
	if twice > 0 {
		s.gamma /= twice
	}
	s.theta, s.maxPasses = opts.Randomness, opts.MaxPasses
	s.rng.Seed(opts.Seed, 0)
}

// reserve allocates buffers for n nodes.
func (s *solver[W]) reserve(n int) {
	if n <= len(s.masses) {
		return
	}
	s.masses = make([]W, n)
	s.members = make([]int32, n)
	s.empty = make([]int32, 0, n)
	s.slack, s.links = make([]W, n), make([]W, n)
	s.queue = make([]int32, n)
	s.order = make([]int32, n)
	s.sizes = make([]int32, n)
}

// below returns a number from 0 to n-1.
func below(rng *rand.PCG, n int) int { return int((rng.Uint64() >> 32) * uint64(n) >> 32) }

func shuffle(rng *rand.PCG, order []int32) {
	for i := len(order) - 1; i > 0; i-- {
		j := below(rng, i+1)
		order[i], order[j] = order[j], order[i]
	}
}

// patience is the number of successive passes without a change after which a partition counts as stable. The
// refinement is random, so a pass may find an improvement where the one before found none.
const patience = 12

// minFolded is the number of nodes from which twins are folded: smaller networks fit into the cache unfolded.
const minFolded = 1 << 14

// The first of several passes is a draft for networks of at least minDraft nodes. A draft visits single nodes
// only draftRounds times, because of nodes visited later less than a tenth move, and it does not refine
// communities: the next pass splits what does not belong together. In smaller networks a draft would lower the
// modularity and save little time.
const (
	draftRounds = 2
	minDraft    = 1 << 17
)

// run repeats passes until the partition is stable.
func (s *solver[W]) run(net *network[W], g *graph.Graph, p *Partition) error {
	n := net.n()
	if n == 0 {
		p.Stable = true
		return nil
	}
	s.reserve(n)
	before, labels, places := slices.Clone(p.Labels), slices.Clone(p.Labels), make([]int32, n)
	if singletons(places); g != nil && n >= minFolded {
		var err error
		if net, places, err = s.fold(net, g); err != nil {
			return err
		}
		labels = labels[:net.n()]
		singletons(labels)
	}
	for quiet := 0; p.Passes < s.maxPasses && quiet < patience; p.Passes++ {
		s.draft = p.Passes == 0 && s.maxPasses > 1
		if err := s.optimise(net, labels, 0); err != nil {
			return err
		}
		for u, place := range places {
			p.Labels[u] = labels[place]
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

// fewTwins is the least share of nodes that folding must remove to be worth a copy of the network.
const fewTwins = 1. / 32

// fold replaces each class of adjacent twins v by one node, if the weight between them is at least γ'·w(v)². If
// two of them were in different communities, one would gain by joining the other; and any number of them are
// γ-connected. So each class is within one community from the start. fold returns the network of the classes,
// in the order of their first nodes, and the class of each node; or the network itself, if there are few twins.
func (s *solver[W]) fold(net *network[W], g *graph.Graph) (*network[W], []int32, error) {
	n := net.n()
	class := make([]int32, n)
	t, err := g.Twins(s.ctx)
	if err != nil {
		return nil, nil, err
	}
	firsts := s.queue[:0]
	for u, first := range t.First {
		if weight := float64(net.weights[u]); first != int32(u) && (t.Inside[first] == 0 ||
			t.Inside[first] < s.gamma*weight*weight || net.weights[u] != net.weights[first]) {
			t.Size[first]--
			t.First[u], t.Size[u], first = int32(u), 1, int32(u)
		}
		class[u] = -1
		if first == int32(u) {
			class[u] = int32(len(firsts))
			firsts = append(firsts, first)
		}
	}
	if float64(n-len(firsts)) < fewTwins*float64(n) {
		singletons(class)
		return net, class, nil
	}
	out := &network[W]{}
	if net.spare {
		out.arcs = net.arcs // safe, because each row is read before it is overwritten
	}
	out.reset(len(firsts), len(net.arcs))
	for c, u := range firsts {
		if c%looked == 0 && s.ctx.Err() != nil {
			return nil, nil, s.ctx.Err()
		}
		k := W(t.Size[u])
		for _, a := range net.row(u) {
			if other := class[a.to]; other >= 0 { // only the first node of each class has a class yet
				out.arcs = append(out.arcs, arc[W]{other, k * W(t.Size[a.to]) * a.w})
			}
		}
		out.end(k * net.weights[u])
	}
	for u, first := range t.First {
		class[u] = class[first]
	}
	return out, class, nil
}

// optimise is one pass of the Leiden algorithm over a network and all coarser ones: it moves nodes, refines
// communities, makes each refined part a node of the coarser network, and continues there from the communities
// found.
func (s *solver[W]) optimise(net *network[W], labels []int32, depth int) error {
	if depth == len(s.levels) {
		s.levels = append(s.levels, &layer[W]{})
	}
	n, lv := net.n(), s.levels[depth]
	for count := n; count == n; {
		draft := s.draft && n >= minDraft
		moved, err := s.moveNodes(net, labels, draft && depth == 0)
		if err != nil {
			return err
		}
		lv.comms.gather(labels, s.order)
		if lv.comms.count() == n {
			if !moved {
				return nil // every node is a community, and no move of one would gain
			}
			continue
		}
		if draft {
			count = lv.whole(labels)
			continue
		}
		if count, err = s.refine(net, lv, false); err != nil {
			return err
		}
		if count == n && !moved {
			// The random refinement joined no nodes. If a greedy one does not either, the communities are ties.
			if count, err = s.refine(net, lv, true); count == n || err != nil {
				return err
			}
		}
	}
	lv.labels = lv.labels[:0]
	for p := range lv.parts.count() {
		lv.labels = append(lv.labels, labels[lv.parts.of(p)[0]])
	}
	if err := s.coarsen(net, lv); err != nil {
		return err
	}
	if err := s.optimise(&lv.coarse, lv.labels, depth+1); err != nil {
		return err
	}
	for u, p := range lv.part {
		labels[u] = lv.labels[p]
	}
	return nil
}
