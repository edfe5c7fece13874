// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// HierarchyOptions are the options of [HierarchicalLeiden]. The zero value runs Leiden until stable at every
// level, with a MaxSize of 10.
type HierarchyOptions struct {
	Options
	// MaxSize is the number of nodes from which a community is split: leaves have fewer nodes, or cannot be
	// split. At least 2; 0 means 10, the max_cluster_size of Microsoft GraphRAG.
	MaxSize int
	// Start, when set, is the partition from which Leiden begins, for each level: any number per community, or
	// -1 for a node that begins alone; missing levels begin with single nodes. If the partitions come from a
	// similar graph, most communities stay the same, unlike in a new run.
	Start [][]int32
}

// Community is one community of a [Hierarchy].
type Community struct {
	// Level is 0 for communities of the whole graph, else one more than the parent's level.
	Level int32
	// Parent is the number of the community that contains this one, -1 at level 0.
	Parent int32
	// Children are the numbers of the communities that this one was split into; none for a leaf.
	Children []int32
	// Nodes are the nodes of the community, in ascending order.
	Nodes []int32
	// Unsplittable marks a leaf of MaxSize or more nodes in which Leiden finds no communities.
	Unsplittable bool
}

// Hierarchy is a forest of communities: the children of a community are its parts. Communities are numbered by
// level, then by parent, then by descending size, then by smallest node.
type Hierarchy struct {
	Communities []Community
	// Levels is the number of levels.
	Levels int
	// Nodes is the number of nodes of the graph.
	Nodes int
}

// Cut returns the community that contains each node at a level: one of that level, or a leaf of a lower one.
func (h Hierarchy) Cut(level int) []int32 {
	cut := make([]int32, h.Nodes)
	for id, c := range h.Communities {
		if int(c.Level) > level {
			break
		}
		for _, u := range c.Nodes {
			cut[u] = int32(id)
		}
	}
	return cut
}

// HierarchicalLeiden runs [Leiden] on each connected component of the graph, then on each community of MaxSize
// or more nodes as a graph of its own, with only its inner edges, then on the parts of these, until all are
// small or cannot be split. This is the hierarchy of Microsoft GraphRAG (graspologic's hierarchical Leiden),
// which uses only the largest component. The communities of a component depend only on the component, so
// unconnected nodes change none of them. A node without edges is a community of its own at level 0. Communities
// are split on all processors.
//
// Errors are the errors of [Leiden].
func HierarchicalLeiden(ctx context.Context, g *graph.Graph, opts HierarchyOptions) (Hierarchy, error) {
	opts.MaxSize = cmp.Or(opts.MaxSize, 10)
	checks := opt.Checks{Of: "community"}
	opt.Min(&checks, "MaxSize", opts.MaxSize, 2)
	for level, of := range opts.Start {
		checks.Want(len(of) == g.N(), fmt.Sprintf("Start[%d]", level), len(of), fmt.Sprintf("one for each of the %d nodes", g.N()))
	}
	o, err := opts.resolve()
	if err := errors.Join(checks.Err(), err); err != nil {
		return Hierarchy{}, err
	}
	about, err := surveyed(ctx, g)
	if err != nil {
		return Hierarchy{}, err
	}
	var h Hierarchy
	if about.exactIn32() {
		h, err = hierarchical[float32](ctx, g, about, opts, o)
	} else {
		h, err = hierarchical[float64](ctx, g, about, opts, o)
	}
	if err != nil {
		return Hierarchy{}, fmt.Errorf("community: hierarchical Leiden: %w", err)
	}
	return h, nil
}

// hierarchyBuilder builds a hierarchy level by level.
type hierarchyBuilder[W float] struct {
	opts    Options
	maxSize int
	start   [][]int32
	h       Hierarchy
}

// piece is a community to be split: its nodes in the graph and in the network of its parent, and after the
// split its own network and the parts in it.
type piece[W float] struct {
	id     int32
	nodes  []int32
	within *network[W]
	local  []int32
	net    *network[W]
	parts  [][]int32
}

func hierarchical[W float](ctx context.Context, g *graph.Graph, about survey, opts HierarchyOptions, resolved Options) (Hierarchy, error) {
	b := &hierarchyBuilder[W]{opts: resolved, maxSize: opts.MaxSize, start: opts.Start, h: Hierarchy{Nodes: g.N()}}
	net, err := newNetwork[W](ctx, g, about)
	if err != nil || net.n() == 0 {
		return b.h, err
	}
	top, err := b.top(ctx, net, g)
	if err != nil {
		return b.h, err
	}
	nodes := make([]int32, net.n())
	singletons(nodes)
	level := []*piece[W]{{id: -1, net: net, parts: top}}
	for ; len(level) > 0; b.h.Levels++ {
		var next []*piece[W]
		for _, p := range level {
			next = b.adopt(p, nodes, next)
		}
		if err := b.splitAll(ctx, b.h.Levels+1, next); err != nil {
			return Hierarchy{}, err
		}
		level = level[:0]
		for _, p := range next {
			if len(p.parts) > 1 {
				level = append(level, p)
			} else {
				b.h.Communities[p.id].Unsplittable = true
			}
		}
	}
	return b.h, nil
}

// top returns the communities of all connected components, the largest first.
func (b *hierarchyBuilder[W]) top(ctx context.Context, net *network[W], g *graph.Graph) ([][]int32, error) {
	component, count, err := g.Components(ctx)
	if err != nil {
		return nil, err
	}
	components := Partition{Labels: component, Communities: count}.Members()
	pieces := make([]*piece[W], count)
	for i, nodes := range components {
		pieces[i] = &piece[W]{nodes: nodes, within: net, local: nodes}
	}
	if err := b.splitAll(ctx, 0, pieces); err != nil {
		return nil, err
	}
	p := Partition{Labels: make([]int32, net.n())}
	for i, nodes := range components {
		for _, part := range pieces[i].parts {
			for _, u := range part {
				p.Labels[nodes[u]] = int32(p.Communities)
			}
			p.Communities++
		}
	}
	canonical(p.Labels)
	return p.Members(), nil
}

// adopt adds the parts of a piece to the hierarchy as communities, and appends the parts to be split next to
// next. If the piece is the whole graph, nodes are its nodes.
func (b *hierarchyBuilder[W]) adopt(p *piece[W], nodes []int32, next []*piece[W]) []*piece[W] {
	if p.id >= 0 {
		nodes = b.h.Communities[p.id].Nodes
	}
	for _, local := range p.parts {
		id := int32(len(b.h.Communities))
		c := Community{Level: int32(b.h.Levels), Parent: p.id, Nodes: make([]int32, len(local))}
		for i, u := range local {
			c.Nodes[i] = nodes[u]
		}
		b.h.Communities = append(b.h.Communities, c)
		if p.id >= 0 {
			parent := &b.h.Communities[p.id]
			parent.Children = append(parent.Children, id)
		}
		if len(local) >= b.maxSize {
			next = append(next, &piece[W]{id: id, nodes: c.Nodes, within: p.net, local: local})
		}
	}
	return next
}

// splitAll splits the pieces of a level on all processors. Their random numbers depend only on the seed.
func (b *hierarchyBuilder[W]) splitAll(ctx context.Context, level int, pieces []*piece[W]) error {
	var start []int32
	if level < len(b.start) {
		start = b.start[level]
	}
	type scratch struct {
		solver solver[W]
		places []int32
	}
	workers := make([]scratch, par.Workers(0))
	return par.Ranges(ctx, len(pieces), 1, len(workers), func(worker, i, _ int) error {
		s := &workers[worker]
		s.solver.ctx = ctx
		for len(s.places) < pieces[i].within.n() {
			s.places = append(s.places, -1)
		}
		return s.solver.split(b.opts, pieces[i], start, s.places)
	})
}

// split runs Leiden on one piece, beginning from the communities of start if it is not nil.
func (s *solver[W]) split(opts Options, p *piece[W], start, places []int32) error {
	p.net = p.within.part(p.local, places)
	p.within, p.local = nil, nil
	twice := 0.0
	for _, w := range p.net.weights {
		twice += float64(w)
	}
	s.configure(twice, opts)
	found := apart(p.net.n())
	first := make(map[int32]int32) // community of start → its first node in the piece
	for i, u := range p.nodes {
		if start == nil || start[u] < 0 {
			continue
		}
		if _, ok := first[start[u]]; !ok {
			first[start[u]] = int32(i)
		}
		found.Labels[i] = first[start[u]]
	}
	if err := s.run(p.net, nil, &found); err != nil {
		return err
	}
	p.parts = found.Members()
	return nil
}

// Partition assigns a community to each node.
type Partition struct {
	// Labels holds the number of each node's community. Communities are numbered from 0, by descending size,
	// then by smallest node.
	Labels []int32
	// Communities is the number of communities.
	Communities int
	// Quality is the modularity of the partition, at the resolution of the options.
	Quality float64
	// Passes is the number of passes that were run.
	Passes int
	// Stable reports whether the last pass changed nothing, so that no node would gain by a move.
	Stable bool
}

// Members returns the nodes of each community in ascending order. The lists share one array.
func (p Partition) Members() [][]int32 {
	sizes := make([]int, p.Communities)
	for _, c := range p.Labels {
		sizes[c]++
	}
	all := make([]int32, len(p.Labels))
	members := make([][]int32, p.Communities)
	for c, size := range sizes {
		members[c], all = all[:0:size], all[size:]
	}
	for u, c := range p.Labels {
		members[c] = append(members[c], int32(u))
	}
	return members
}

// canonical renumbers communities by descending size, then by smallest node, and returns their number. Labels
// must be below len(labels).
func canonical(labels []int32) int {
	type community struct{ label, size, first int32 }
	if len(labels) == 0 {
		return 0
	}
	comms := make([]community, slices.Max(labels)+1)
	for u, c := range labels {
		if comms[c].size == 0 {
			comms[c] = community{c, 0, int32(u)}
		}
		comms[c].size++
	}
	numbers := make([]int32, len(comms))
	comms = slices.DeleteFunc(comms, func(c community) bool { return c.size == 0 })
	slices.SortFunc(comms, func(a, b community) int {
		return cmp.Or(cmp.Compare(b.size, a.size), cmp.Compare(a.first, b.first))
	})
	for i, c := range comms {
		numbers[c.label] = int32(i)
	}
	for u, c := range labels {
		labels[u] = numbers[c]
	}
	return len(comms)
}

// apart returns the partition in which each of n nodes is a community of its own.
func apart(n int) Partition {
	p := Partition{Labels: make([]int32, n), Communities: n}
	singletons(p.Labels)
	return p
}

func singletons(labels []int32) {
	for u := range labels {
		labels[u] = int32(u)
	}
}

// quality returns the modularity of a partition at resolution γ,
//
//	Q = Σ over the communities C of  in(C)/2m - γ·(W(C)/2m)²
//
// where in(C) is the weight of the edge ends inside C, W(C) the sum of the strengths of its nodes, and 2m the
// sum of all strengths; a self-loop has both ends at its node. The quality of a graph without weight is 0.
// Newman and Girvan (2004), with the resolution of Reichardt and Bornholdt (2006). The only error is the
// context's.
func quality(ctx context.Context, g *graph.Graph, about survey, labels []int32, resolution float64) (float64, error) {
	inside := make([]float64, g.N()) // by node: weight of its edge ends within its community
	if err := par.Ranges(ctx, g.N(), surveyRows, 0, func(_, lo, hi int) error {
		for u := lo; u < hi; u++ {
			inside[u] = insideOf(g, labels, int32(u))
		}
		return nil
	}); err != nil {
		return 0, err
	}
	type totals struct {
		inside float64 // weight of edge ends within the community
		weight float64
	}
	comms := make([]totals, g.N())
	for u, c := range labels {
		comms[c].inside += inside[u]
		comms[c].weight += about.strengths[u]
	}
	sum := 0.0
	for _, c := range comms {
		if about.twice > 0 {
			share := c.weight / about.twice
			sum += c.inside/about.twice - resolution*share*share
		}
	}
	return sum, nil
}

// insideOf returns the weight of the edge ends of u within its community. It has no branch, because whether an
// edge is within is unpredictable.
func insideOf(g *graph.Graph, labels []int32, u int32) float64 {
	inside, own := 0.0, labels[u]
	lo, hi := g.Row(u)
	targets := g.Targets()
	for a := lo; a < hi; a++ {
		w := g.Weight(a)
		if targets[a] == u {
			w *= 2
		}
		bits := math.Float64bits(w)
		if labels[targets[a]] != own {
			bits = 0
		}
		inside += math.Float64frombits(bits)
	}
	return inside
}

// Options are the options of [Leiden] and [HierarchicalLeiden]. The zero value maximizes modularity, as in the
// paper, until the partition is stable.
type Options struct {
	// Resolution is γ: the larger it is, the more and smaller communities there are. It is finite and above 0;
	// 0 means 1.
	Resolution float64 `default:"1" min:"0"`
	// Randomness is θ of the refinement: a node joins a community with a probability proportional to
	// exp(gain/θ), where the gain is an edge weight. It is finite and above 0; 0 means 0.01, as in Traag,
	// Waltman and van Eck (2019), "Experimental analysis".
	Randomness float64 `default:"0.01" min:"0"`
	// MaxPasses is the most passes, each of which goes through all levels from single nodes up; 0 means 50.
	// Most libraries run two by default; large graphs gain little after two.
	MaxPasses int `default:"50" min:"0"`
	// Seed is the seed of all random numbers.
	Seed uint64
}

// resolve returns the options with their defaults, and an error that lists all invalid ones.
func (o Options) resolve() (Options, error) {
	checks := opt.Checks{Of: "community"}
	checks.Fill(&o)
	return o, checks.Err()
}
