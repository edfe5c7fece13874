// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// index is what the searches share: the described graph, its communities and
// their reports.
type index struct {
	kit    kit.Kit
	o      Options
	corpus *kit.Corpus
	last   previous
	// graph has entity e as node e. Its edges are the pairs of entities, by
	// direction; stated are the passages of each.
	graph    report.Graph
	stated   kg.Lists
	incident kg.Lists // the edges of each entity

	hierarchy community.Hierarchy
	reports   *report.Set
	// cover is the community whose report speaks for an entity, -1 if none does.
	cover []int32

	units retrieve.Texts // the chunks
}

func newIndex(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*index, error) {
	last := memo.Kept[previous](ctx)
	x := &index{kit: k, o: o, corpus: c, last: *last}
	var err error
	if x.units, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	related, weight := x.pairs()
	if err := x.describe(ctx, related); err != nil {
		return nil, err
	}
	if err := x.communities(ctx, weight); err != nil {
		return nil, err
	}
	spare, err := x.report(ctx)
	if err != nil {
		return nil, err
	}
	if *last = (previous{}); spare != nil {
		*last = x.next(spare)
	}
	x.covered()
	return x, nil
}

// pairs makes an edge of each pair of entities by direction, and returns the relations of
// each and their weight. What an entity has to do with itself is no edge.
func (x *index) pairs() (related kg.Lists, weight []float64) {
	g := x.corpus.Graph
	x.graph.Nodes = make([]report.Node, len(g.Entities))
	for e := range g.Entities {
		x.graph.Nodes[e] = report.Node{Title: g.Entities[e].Name}
	}
	all := g.Pairs(true)
	x.graph.Edges = make([]report.Edge, 0, all.Len())
	var stated []int32
	for _, relations := range all.All() {
		head, tail := g.Relations[relations[0]].Head, g.Relations[relations[0]].Tail
		if head == tail {
			continue
		}
		sum := 0.0
		stated = stated[:0]
		for _, id := range relations {
			sum += g.Relations[id].Weight
			for _, p := range g.RelationPassages(id) {
				stated = append(stated, p.ID)
			}
		}
		x.graph.Edges, weight = append(x.graph.Edges, report.Edge{Source: head, Target: tail}), append(weight, sum)
		related.Append(relations...)
		x.stated.Append(distinct(stated)...)
	}
	x.stated.Clip()
	x.connect()
	return related, weight
}

// connect finds the edges of each entity.
func (x *index) connect() {
	x.incident = kg.Incident(len(x.graph.Nodes), len(x.graph.Edges), func(e int32) [2]int32 {
		return [2]int32{x.graph.Edges[e].Source, x.graph.Edges[e].Target}
	})
}

// said are the descriptions of relations, equal texts once.
func (x *index) said(relations []int32) (all []kg.Description) {
	for _, r := range relations {
		all = merge(all, x.corpus.Graph.RelationDescriptions(r))
	}
	return all
}

// merge adds descriptions, equal texts once.
func merge(to, more []kg.Description) []kg.Description {
	if len(to) == 0 {
		return more
	}
	for _, d := range more {
		i := slices.IndexFunc(to, func(t kg.Description) bool { return t.Text == d.Text })
		if i < 0 {
			to = append(to, d)
			continue
		}
		to[i].Passages = distinct(slices.Concat(to[i].Passages, d.Passages))
	}
	return to
}

// describe summarises what is described more than once, of edges what is said of the
// relations of each.
func (x *index) describe(ctx context.Context, related kg.Lists) error {
	write, err := newDescriber(x.kit, x.o)
	if err != nil {
		return err
	}
	describe := func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
		if len(of) < 2 {
			return of, nil // one alone stays as it is
		}
		return write(ctx, subject, of)
	}
	nodes, edges := x.graph.Nodes, x.graph.Edges
	return kit.Each(ctx, len(nodes)+len(edges), func(ctx context.Context, i int) (err error) {
		if i < len(nodes) {
			n := &nodes[i]
			n.Descriptions, err = describe(ctx, n.Title, x.corpus.Graph.EntityDescriptions(int32(i)))
			return err
		}
		i -= len(nodes)
		e := &edges[i]
		e.Descriptions, err = describe(ctx, nodes[e.Source].Title+" – "+nodes[e.Target].Title, x.said(related.Of(int32(i))))
		return err
	})
}

// communities finds the hierarchy in the graph of summed strengths, and the
// degrees.
func (x *index) communities(ctx context.Context, weight []float64) error {
	edges := make([]graph.Edge, len(x.graph.Edges))
	for i, e := range x.graph.Edges {
		edges[i] = graph.Edge{From: e.Source, To: e.Target, Weight: weight[i]}
	}
	g, err := graph.New(len(x.graph.Nodes), edges, graph.Options{})
	if err != nil {
		return err
	}
	for v := range x.graph.Nodes {
		x.graph.Nodes[v].Degree = g.Degree(int32(v))
	}
	o := community.HierarchyOptions{Options: community.Options{Randomness: randomness, MaxPasses: x.o.Passes, Seed: x.o.Seed}, MaxSize: x.o.MaxSize}
	x.hierarchy, err = trace.Do(ctx, "communities", func(ctx context.Context) (community.Hierarchy, error) {
		if !x.spares() {
			return community.HierarchicalLeiden(ctx, g, o)
		}
		return kit.Saved(ctx, "communities", x.outline(weight), func() (community.Hierarchy, error) {
			o.Start, o.MaxPasses = x.last.start(x.corpus.Graph), 0 // until stable: the next change begins there
			return community.HierarchicalLeiden(ctx, g, o)
		})
	})
	return err
}

// wanted are the communities whose reports a search at the level reads.
func (x *index) wanted() []int32 {
	out := []int32{}
	for _, c := range distinct(x.hierarchy.Cut(x.o.Level)) {
		if c >= 0 {
			out = append(out, c)
		}
	}
	return out
}

// report writes the reports. Where they may be stale, it returns what they were written from.
func (x *index) report(ctx context.Context) (*sparing, error) {
	o := report.Options{Reporter: x.o.Reporter, CountTokens: x.kit.Count, MinSize: x.o.MinSize}
	if o.Reporter == nil {
		o.Reporter = x.kit.Report
	}
	if x.kit.IndexModel != nil && !x.o.AllReports { // without a model they cost nothing
		o.Wanted = x.wanted()
	}
	var spare *sparing
	if x.spares() {
		spare = x.sparing(o.Reporter)
		o.Reporter = spare
	}
	var err error
	if x.reports, err = report.Write(ctx, &x.graph, x.hierarchy, o); err != nil {
		return nil, err
	}
	for _, r := range x.reports.Reports {
		if spare != nil && spare.stale[r.Community] {
			kit.Stale(ctx, "report")
		} else {
			kit.Done(ctx, "report", nil)
		}
	}
	for _, f := range x.reports.Failed {
		kit.Done(ctx, "report", f.Err)
		c := x.hierarchy.Communities[f.Community]
		x.o.Logger.Warn("no report", "community", f.Community, "level", c.Level, "members", len(c.Nodes), "error", f.Err)
	}
	return spare, nil
}

// covered finds for each entity the deepest report down to the level.
func (x *index) covered() {
	x.cover = x.hierarchy.Cut(x.o.Level)
	for v, c := range x.cover {
		for c >= 0 && x.reports.Of(c) == nil {
			c = x.hierarchy.Communities[c].Parent
		}
		x.cover[v] = c
	}
}

// derived is a piece of the prompt with the documents behind it.
func (x *index) derived(kind, text string, sources []int32) graphrag.Derived {
	return graphrag.Derived{Kind: kind, Text: text, Provenance: x.corpus.Provenance(sources)}
}

// shuffle puts a list into a random order that the seed decides.
func shuffle[T any](seed, stream uint64, list []T) {
	rand.New(rand.NewPCG(seed, stream)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}
