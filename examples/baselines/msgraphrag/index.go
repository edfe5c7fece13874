// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/report"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
)

// index is the described graph with its communities and their reports, shared by all searches.
type index struct {
	kit    kit.Kit
	o      Options
	corpus *kit.Corpus
	last   previous

	graph    report.Graph // node e is entity e; edges are pairs of entities by direction
	stated   kg.Lists     // the passages of each edge
	incident kg.Lists     // the edges of each entity

	hierarchy community.Hierarchy
	reports   *report.Set
	cover     []int32        // by entity: the community with its report, -1 without one
	units     retrieve.Texts // the chunks
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

// pairs makes an edge of each pair of entities by direction, without loops, and returns the relations and
// the weight of each.
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

// connect lists the edges of each entity.
func (x *index) connect() {
	x.incident = kg.Incident(len(x.graph.Nodes), len(x.graph.Edges), func(e int32) [2]int32 {
		return [2]int32{x.graph.Edges[e].Source, x.graph.Edges[e].Target}
	})
}

// descriptions returns the descriptions of relations, equal texts once.
func (x *index) descriptions(relations []int32) (all []kg.Description) {
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

// describe condenses several descriptions of an entity, and of the relations of an edge.
func (x *index) describe(ctx context.Context, related kg.Lists) error {
	write, err := newDescriber(x.kit, x.o)
	if err != nil {
		return err
	}
	describe := func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
		if len(of) < 2 {
			return of, nil
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
		e.Descriptions, err = describe(ctx, nodes[e.Source].Title+" – "+nodes[e.Target].Title, x.descriptions(related.Of(int32(i))))
		return err
	})
}

// communities finds the hierarchy and the degrees in the graph of summed weights.
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
			o.Start, o.MaxPasses = x.last.start(x.corpus.Graph), 0 // until stable, as the start of the next change
			return community.HierarchicalLeiden(ctx, g, o)
		})
	})
	return err
}

// wanted returns the communities whose reports a search at the level reads.
func (x *index) wanted() []int32 {
	return slices.DeleteFunc(distinct(x.hierarchy.Cut(x.o.Level)), func(c int32) bool { return c < 0 })
}

// report writes the reports. If they may be stale, it returns the reporter, which knows their rows.
func (x *index) report(ctx context.Context) (*sparing, error) {
	o := report.Options{Reporter: x.o.Reporter, CountTokens: x.kit.Count, MinSize: x.o.MinSize}
	if o.Reporter == nil {
		o.Reporter = x.kit.Report
	}
	if x.kit.IndexModel != nil && !x.o.AllReports { // without a model reports cost nothing
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
			kit.Count(ctx, graphrag.IndexStats{Stages: []graphrag.Stage{{Name: "report", Asked: 1, Stale: 1}}})
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

// covered sets the deepest report of each entity, down to the level.
func (x *index) covered() {
	x.cover = x.hierarchy.Cut(x.o.Level)
	for v, c := range x.cover {
		for c >= 0 && x.reports.Of(c) == nil {
			c = x.hierarchy.Communities[c].Parent
		}
		x.cover[v] = c
	}
}

// derived returns a derived text with its source documents.
func (x *index) derived(kind, text string, sources []int32) graphrag.Derived {
	return graphrag.Derived{Kind: kind, Text: text, Provenance: x.corpus.Provenance(sources)}
}

// shuffle shuffles a list by seed and stream.
func shuffle[T any](seed, stream uint64, list []T) {
	rand.New(rand.NewPCG(seed, stream)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
}

// StageDescribe names the calls for descriptions in accounts.
const StageDescribe = "summarise descriptions"

// describer condenses the descriptions of a thing to one by the model, or to quotes, each with its passages.
type describer func(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error)

func newDescriber(k kit.Kit, o Options) (describer, error) {
	s, err := k.Quoter(offlineWords)
	return kit.Step(k.IndexModel, func(m llm.Model) describer { return writer{m, k.Count, o, k.Language, quoter(s)}.describe }, quoter(s)), err
}

// quoter returns a describer that selects quotes.
func quoter(by summary.Summarizer) describer {
	return func(ctx context.Context, _ string, of []kg.Description) ([]kg.Description, error) {
		texts := make([]string, len(of))
		for i := range of {
			texts[i] = of[i].Text
		}
		s, err := by.Summarize(ctx, texts)
		if err != nil {
			return nil, err
		}
		quotes := make([]kg.Description, len(s.Quotes))
		for i, q := range s.Quotes {
			text := s.Text[q.Start:q.End]
			if source := texts[q.Source][q.SourceStart:q.SourceEnd]; source == text {
				text = source // shares memory with the description
			} else {
				text = strings.Clone(text) // does not keep the summary in memory
			}
			quotes[i] = kg.Description{Text: text, Passages: of[q.Source].Passages}
		}
		return quotes, nil
	}
}

// writer condenses by a model, and by quotes if its reply cannot be used.
type writer struct {
	model    llm.Model
	count    func(string) int
	o        Options
	language string
	quote    describer
}

func (w writer) describe(ctx context.Context, subject string, of []kg.Description) ([]kg.Description, error) {
	if tokens := 0; len(of) < w.o.FoldFrom {
		for _, d := range of {
			tokens += w.count(d.Text)
		}
		if tokens < longDescriptions {
			return of, nil
		}
	}
	text, err := w.fold(ctx, subject, of)
	if err := llm.Fatal(err); err != nil {
		return nil, err
	}
	kit.Done(ctx, "describe", err)
	if err == nil {
		return []kg.Description{{Text: text, Passages: passages(of)}}, nil
	}
	w.o.Logger.Warn("no summary of the descriptions, quotes instead", "of", subject, "error", err)
	return w.quote(ctx, subject, of)
}

// fold has the model summarise the sorted descriptions, as many as fit into a prompt. The reply to one
// prompt is the first description in the next.
func (w writer) fold(ctx context.Context, subject string, of []kg.Description) (string, error) {
	texts := make([]string, len(of))
	for i := range of {
		texts[i] = of[i].Text
	}
	slices.Sort(texts)
	var pack []string
	tokens := 0
	for _, t := range texts {
		cost := w.count(t)
		if len(pack) > 1 && tokens+cost > foldTokens {
			partial, err := w.write(ctx, subject, pack)
			if err != nil {
				return "", err
			}
			pack, tokens = []string{partial}, w.count(partial)
		}
		pack, tokens = append(pack, t), tokens+cost
	}
	return w.write(ctx, subject, pack)
}

func (w writer) write(ctx context.Context, subject string, texts []string) (string, error) {
	req, err := templates.Request(ctx, StageDescribe, "describe", map[string]any{"Words": foldWords, "Language": w.language},
		prompts.Data{Label: "subject", Text: subject}, prompts.Data{Label: "descriptions", Rows: texts, First: 1})
	if err != nil {
		return "", err
	}
	reply, err := w.model.Generate(ctx, req)
	if err != nil {
		return "", err
	}
	if text := strings.TrimSpace(reply.Text); text != "" {
		return text, nil
	}
	return "", llm.ErrEmpty
}

// passages returns the passages of all descriptions, sorted and distinct.
func passages(of []kg.Description) []int32 {
	var all []int32
	for i := range of {
		all = append(all, of[i].Passages...)
	}
	return distinct(all)
}

func distinct(ids []int32) []int32 {
	slices.Sort(ids)
	return slices.Compact(ids)
}
