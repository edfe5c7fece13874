// SPDX-License-Identifier: Apache-2.0

package msgraphrag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// LocalOptions of [NewLocal]. The zero value is the setting of the code.
type LocalOptions struct {
	Options
	// Tokens is the largest number of tokens of the context. CommunityShare of it is for reports, ChunkShare
	// for chunks, the rest for entities and relations. If both are 0, they are .15 and .5.
	Tokens         int     `default:"12000" min:"0" source:"its program"`
	CommunityShare float64 `min:"0" source:"its program"`
	ChunkShare     float64 `min:"0" source:"its program"`
	// Entities is the number of entities read, Relations the number of relations of each to other entities.
	Entities  int `default:"10" min:"0" source:"its program"`
	Relations int `default:"10" min:"0" source:"its program"`
}

// Defaults returns the options with default shares if both are 0.
func (o LocalOptions) Defaults() LocalOptions {
	if o.CommunityShare == 0 && o.ChunkShare == 0 {
		o.CommunityShare, o.ChunkShare = 0.15, 0.5
	}
	return o
}

// NewLocal returns the system that searches around the entities nearest to a question.
func NewLocal(k kit.Kit, o LocalOptions) (*kit.System, error) {
	var c kit.Checks
	c.Fill(&o)
	o = o.Defaults()
	c.Want(!(o.CommunityShare+o.ChunkShare > 1), "CommunityShare+ChunkShare", o.CommunityShare+o.ChunkShare, "1 or less")
	return frame(NameLocal, k, o.Options, c, func(ctx context.Context, x *index) (graphrag.Retriever, error) {
		return newLocal(ctx, x, o)
	})
}

// local searches around the entities of a question.
type local struct {
	*index
	o                        LocalOptions
	nearest                  retrieve.Texts // finds entities
	entityTokens, edgeTokens []int          // length of the row of each entity and edge
}

func newLocal(ctx context.Context, x *index, o LocalOptions) (*local, error) {
	l := &local{index: x, o: o}
	l.entityTokens, l.edgeTokens = make([]int, len(x.graph.Nodes)), make([]int, len(x.graph.Edges))
	texts := text.NewList(len(x.graph.Nodes), func(e int) string { return rowText(x.graph.Nodes[e].Title, x.graph.Nodes[e].Descriptions) })
	for e := range l.entityTokens {
		l.entityTokens[e] = x.kit.Count(texts.At(e))
	}
	for e := range x.graph.Edges {
		l.edgeTokens[e] = x.kit.Count(rowText(l.pair(int32(e)), x.graph.Edges[e].Descriptions))
	}
	var err error
	l.nearest, err = x.corpus.Find(ctx, texts)
	return l, err
}

// Retrieve finds entities for a question and reads the context around them.
func (l *local) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	entities, order, err := l.search(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	ranked, err := l.corpus.InOrder(ctx, order, q.Want(), NameLocal)
	if err != nil {
		return graphrag.Found{}, err
	}
	step := graphrag.Step{Kind: "entities", Query: q.Text}
	for _, e := range entities {
		step.Found = append(step.Found, l.graph.Nodes[e].Title)
	}
	return graphrag.Found{Ranked: ranked, Evidence: l.read(ranked, q), Derived: l.context(entities), Steps: []graphrag.Step{step}}, nil
}

// search finds the entities of a question and their chunks.
func (l *local) search(ctx context.Context, question string) (entities, chunks []int32, err error) {
	if entities, err = l.entities(ctx, question); err != nil {
		return nil, nil, err
	}
	likeness, err := l.units.Scores(ctx, question, nil)
	return entities, l.sources(entities, likeness), err
}

// entities returns the entities nearest to the question, best first. For an empty question it returns the
// entities of the highest degree.
func (l *local) entities(ctx context.Context, question string) ([]int32, error) {
	if strings.TrimSpace(question) == "" {
		order := make([]int32, len(l.graph.Nodes))
		for v := range order {
			order[v] = int32(v)
		}
		degree := func(v int32) int { return l.graph.Nodes[v].Degree }
		slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(degree(b), degree(a)) })
		return order[:min(l.o.Entities, len(order))], nil
	}
	near, err := l.nearest.Best(ctx, question, l.o.Entities)
	var out []int32
	for _, r := range near {
		if r.Score > 0 {
			out = append(out, r.ID)
		}
	}
	return out, err
}

// context returns reports, entities and relations, each up to its share of the tokens.
func (l *local) context(entities []int32) []graphrag.Derived {
	reports := int(float64(l.o.Tokens) * l.o.CommunityShare)
	rest := l.o.Tokens - reports - int(float64(l.o.Tokens)*l.o.ChunkShare)
	out := l.reportTable(entities, reports)
	for _, e := range tokens.Within(entities, rest, func(e int32) int { return l.entityTokens[e] }) {
		rest -= l.entityTokens[e]
		n := &l.graph.Nodes[e]
		out = append(out, graphrag.Row("entity", n.Title, joined(n.Descriptions), l.corpus.Provenance(passages(n.Descriptions))))
	}
	for _, e := range l.relationTable(entities, rest) {
		sources := passages(l.graph.Edges[e].Descriptions)
		if len(sources) == 0 {
			sources = l.stated.Of(e)
		}
		out = append(out, graphrag.Row("relationship", l.pair(e), joined(l.graph.Edges[e].Descriptions), l.corpus.Provenance(sources)))
	}
	return out
}

// reportTable returns the reports of the communities with the most of the entities, then those with the highest
// rating, up to the first that does not fit.
func (l *local) reportTable(entities []int32, budget int) []graphrag.Derived {
	count := make(map[int32]int)
	var found []int32
	for _, e := range entities {
		if c := l.cover[e]; c >= 0 {
			if count[c] == 0 {
				found = append(found, c)
			}
			count[c]++
		}
	}
	slices.SortFunc(found, func(a, b int32) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), cmp.Compare(l.reports.Of(b).Rating, l.reports.Of(a).Rating), cmp.Compare(a, b))
	})
	out := make([]graphrag.Derived, len(found))
	for i, c := range found {
		r := l.reports.Of(c)
		out[i] = l.derived("report", r.Text(), r.Sources)
	}
	return tokens.Within(out, budget, func(d graphrag.Derived) int { return l.kit.Count(d.Text) })
}

// relationTable returns the relations of as many entities, from the first on, as fit.
func (l *local) relationTable(entities []int32, budget int) []int32 {
	var kept []int32
	for n := 1; n <= len(entities); n++ {
		edges, tokens := l.relations(entities[:n]), 0
		for _, e := range edges {
			tokens += l.edgeTokens[e]
		}
		if tokens > budget {
			break
		}
		kept = edges
	}
	return kept
}

// relations returns the edges between the entities by combined degree, then edges to other entities by the
// number of the entities with which their other end is connected.
func (l *local) relations(entities []int32) []int32 {
	among := func(v int32) bool { return slices.Contains(entities, v) }
	var inside, outside []int32
	links := make(map[int32]int)
	for i, v := range entities {
		var ends []int32
		for _, e := range l.incident.Of(v) {
			other := l.graph.Edges[e].Source + l.graph.Edges[e].Target - v // the graph has no loops
			switch {
			case !among(other):
				outside = append(outside, e)
				ends = append(ends, other)
			case !slices.Contains(entities[:i], other):
				inside = append(inside, e)
			}
		}
		for _, end := range distinct(ends) { // edges in both directions count once
			links[end]++
		}
	}
	rank := func(a, b int32) int {
		return cmp.Or(cmp.Compare(l.graph.CombinedDegree(b), l.graph.CombinedDegree(a)), cmp.Compare(a, b))
	}
	slices.SortFunc(inside, rank)
	end := func(e int32) int32 {
		if s := l.graph.Edges[e].Source; !among(s) {
			return s
		}
		return l.graph.Edges[e].Target
	}
	slices.SortFunc(outside, func(a, b int32) int { return cmp.Or(cmp.Compare(links[end(b)], links[end(a)]), rank(a, b)) })
	return append(inside, outside[:min(len(outside), l.o.Relations*len(entities))]...)
}

// sources returns the chunks of each entity in turn, by the number of its relations that they state.
func (l *local) sources(entities []int32, likeness []float64) []int32 {
	type unit struct {
		passage, relations, entities int32
		likeness                     float64
	}
	g := l.corpus.Graph
	selected := make(map[int32]int32) // number of the entities that each chunk names
	for _, e := range entities {
		for _, p := range g.EntityPassages(e) {
			selected[p.ID]++
		}
	}
	var order []int32
	taken := make(map[int32]bool)
	for _, e := range entities {
		relations := make(map[int32]int32)
		for _, edge := range l.incident.Of(e) {
			for _, p := range l.stated.Of(edge) {
				relations[p]++
			}
		}
		var units []unit
		for _, p := range g.EntityPassages(e) {
			if !taken[p.ID] {
				taken[p.ID] = true
				units = append(units, unit{p.ID, relations[p.ID], selected[p.ID], likeness[p.ID]})
			}
		}
		slices.SortFunc(units, func(a, b unit) int {
			return cmp.Or(cmp.Compare(b.relations, a.relations), cmp.Compare(b.entities, a.entities), cmp.Compare(b.likeness, a.likeness), cmp.Compare(a.passage, b.passage))
		})
		for _, u := range units {
			order = append(order, u.passage)
		}
	}
	return order
}

// read returns the first chunks, at most K, that fit into the budget.
func (l *local) read(ranked []graphrag.Hit, q graphrag.Question) []graphrag.Hit {
	budget := int(float64(l.o.Tokens) * l.o.ChunkShare)
	first := ranked[:min(q.Reads(), len(ranked))]
	return append([]graphrag.Hit{}, tokens.Within(first, budget, func(h graphrag.Hit) int { return l.kit.Count(h.Chunk.Text) })...)
}

// rowText returns the row of an entity or an edge in the context.
func rowText(title string, of []kg.Description) string {
	return graphrag.Row("", title, joined(of), graphrag.Provenance{}).Text
}

func (l *local) pair(edge int32) string {
	e := &l.graph.Edges[edge]
	return l.graph.Nodes[e.Source].Title + " – " + l.graph.Nodes[e.Target].Title
}

func joined(of []kg.Description) string { return strings.Join(wordings(of), " ") }

func wordings(of []kg.Description) []string {
	out := make([]string, len(of))
	for i := range of {
		out[i] = of[i].Text
	}
	return out
}
