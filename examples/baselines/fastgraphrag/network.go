// SPDX-License-Identifier: Apache-2.0

package fastgraphrag

import (
	"context"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

const (
	// MaxDescription is the largest number of characters of descriptions that are joined and not condensed
	// (NodeUpsertPolicy_SummarizeDescription).
	MaxDescription = 512
	// MaxParallel is the largest number of facts of a pair that are not merged
	// (EdgeUpsertPolicy_UpsertValidAndMergeSimilarByLLM).
	MaxParallel = 5
	// mergedAtOnce is the largest number of facts in a prompt. The code never has more.
	mergedAtOnce = 50
)

// StageMerge names the calls that merge facts in usage figures.
const StageMerge = "merge facts"

// network is the graph of entities, with an edge for each fact.
type network struct {
	g         *kg.Graph
	described []kg.Description // description of each entity
	edges     []edge
	incident  kg.Lists // edges of each entity
}

// entry is an entity or an edge as an answer reads it.
type entry struct {
	Title string
	kg.Description
}

// rows returns functions that read the entities and the edges while questions are answered.
func (n *network) rows(c *kit.Corpus) (entities, facts func(int32) entry, err error) {
	entities, err1 := kit.Keep(c, len(n.described), func(e int32) entry { return entry{n.g.Entities[e].Name, n.described[e]} })
	facts, err2 := kit.Keep(c, len(n.edges), func(f int32) entry {
		e := &n.edges[f]
		return entry{n.g.Entities[e.from].Name + " – " + n.g.Entities[e.to].Name, kg.Description{Text: e.text, Passages: e.passages}}
	})
	return entities, facts, errors.Join(err1, err2)
}

// edge is a fact between two entities, or says that two names are of the same thing; then it has no passages.
type edge struct {
	from, to int32
	relation int32
	text     string
	passages []int32
}

func newNetwork(ctx context.Context, k kit.Kit, g *kg.Graph) (*network, error) {
	n := &network{g: g, described: make([]kg.Description, len(g.Entities))}
	describer, err := k.Describe(MaxDescription / 4)
	if err != nil {
		return nil, err
	}
	err = kit.Each(ctx, len(g.Entities), func(ctx context.Context, i int) (err error) {
		n.described[i], err = describe(ctx, describer, g.Entities[i].Name, g.EntityDescriptions(int32(i)))
		return err
	})
	if err != nil {
		return nil, err
	}
	joined := g.Pairs(false)
	edges := make([][]edge, joined.Len())
	grouper := kit.Step(k.IndexModel, byMeaning, byRelation)
	err = kit.Each(ctx, joined.Len(), func(ctx context.Context, i int) (err error) {
		edges[i], err = merge(ctx, grouper, stated(g, joined.Of(int32(i))))
		return err
	})
	n.edges = slices.Concat(edges...)
	n.index()
	return n, err
}

// describe joins the descriptions of an entity, or condenses them if they are long together.
func describe(ctx context.Context, c summary.Describer, name string, of []kg.Description) (kg.Description, error) {
	var out kg.Description
	texts := make([]string, len(of))
	for i, d := range of {
		texts[i] = d.Text
		out.Passages = append(out.Passages, d.Passages...)
	}
	out.Text = strings.Join(texts, "\n")
	if utf8.RuneCountInString(out.Text) > MaxDescription {
		return c.Describe(ctx, name, of)
	}
	return out, nil
}

// stated returns the facts of a pair of entities in both directions: an edge for each description of a
// relation, and one for the passages that state it without a description.
func stated(g *kg.Graph, relations []int32) (all []edge) {
	for _, r := range relations {
		rel := &g.Relations[r]
		described := make(map[int32]bool)
		for _, d := range g.RelationDescriptions(r) {
			all = append(all, edge{rel.Head, rel.Tail, r, d.Text, d.Passages})
			for _, p := range d.Passages {
				described[p] = true
			}
		}
		var bare []int32
		for _, p := range g.RelationPassages(r) {
			if !described[p.ID] {
				bare = append(bare, p.ID)
			}
		}
		if len(bare) > 0 {
			t := g.Triple(r)
			all = append(all, edge{rel.Head, rel.Tail, r, strings.Join(strings.Fields(t.Head+" "+t.Relation+" "+t.Tail), " "), bare})
		}
	}
	return all
}

// grouping is a function that returns groups of facts of a pair with the same meaning.
type grouping func(ctx context.Context, of []edge) ([]factGroup, error)

// merge merges facts of a pair that have the same meaning, if the pair has more than MaxParallel facts.
func merge(ctx context.Context, same grouping, of []edge) ([]edge, error) {
	if len(of) <= MaxParallel {
		return of, nil
	}
	groups, err := same(ctx, of)
	return mergeGroups(of, groups), err
}

// byRelation groups facts with the same relation. The text of a group is its longest.
func byRelation(ctx context.Context, of []edge) ([]factGroup, error) {
	var out []factGroup
	for i, e := range of {
		at := slices.IndexFunc(out, func(f factGroup) bool { return of[f.IDs[0]].relation == e.relation })
		if at < 0 {
			out = append(out, factGroup{Description: e.text})
			at = len(out) - 1
		}
		out[at].IDs = append(out[at].IDs, i)
		if len(e.text) > len(out[at].Description) {
			out[at].Description = e.text
		}
	}
	return out, ctx.Err()
}

// factGroup has the positions of facts with the same meaning, and a text for them.
type factGroup struct {
	IDs         []int  `json:"ids"`
	Description string `json:"description"`
}

// byMeaning lets a model group the facts, up to mergedAtOnce in a prompt. An unusable reply makes no group.
func byMeaning(m llm.Model) grouping {
	return func(ctx context.Context, of []edge) ([]factGroup, error) {
		var out []factGroup
		for first := 0; first < len(of); first += mergedAtOnce {
			n := min(mergedAtOnce, len(of)-first)
			groups, err := ask(ctx, m, of[first:first+n])
			if err := llm.Fatal(err); err != nil {
				return nil, err
			}
			kit.Done(ctx, "merge", err)
			for _, g := range groups {
				valid := factGroup{Description: g.Description}
				for _, i := range g.IDs {
					if i >= 0 && i < n {
						valid.IDs = append(valid.IDs, first+i)
					}
				}
				out = append(out, valid)
			}
		}
		return out, nil
	}
}

// ask lets the model group the facts of one prompt.
func ask(ctx context.Context, model llm.Model, of []edge) ([]factGroup, error) {
	texts := make([]string, len(of))
	for i, e := range of {
		texts[i] = e.text
	}
	req, err := templates.Request(ctx, StageMerge, "merge", nil, prompts.Data{Label: "facts", Rows: texts})
	if err != nil {
		return nil, err
	}
	reply, _, err := replies.Decode[struct {
		Grouped []factGroup `json:"grouped_facts"`
	}](ctx, model, req)
	return reply.Grouped, err
}

// mergeGroups makes one edge of each group, at the position of its first fact, with the text of the group and
// the passages of its facts. A fact belongs to the first group that has it; invalid positions are ignored.
func mergeGroups(of []edge, groups []factGroup) []edge {
	gone := make([]bool, len(of))
	taken := make([]bool, len(of))
	for _, f := range groups {
		var ids []int
		for _, i := range f.IDs {
			if i >= 0 && i < len(of) && !taken[i] {
				taken[i] = true
				ids = append(ids, i)
			}
		}
		if len(ids) < 2 {
			continue
		}
		slices.Sort(ids)
		first := &of[ids[0]]
		if text := strings.TrimSpace(f.Description); text != "" {
			first.text = text
		}
		var passages []int32
		for _, i := range ids {
			passages = append(passages, of[i].passages...)
			gone[i] = i != ids[0]
		}
		slices.Sort(passages)
		first.passages = slices.Compact(passages)
	}
	var out []edge
	for i, e := range of {
		if !gone[i] {
			out = append(out, e)
		}
	}
	return out
}

// identify adds an edge between entities that are the same, unless a fact joins them.
func (n *network) identify(same [][2]int32) {
	for _, pair := range same {
		adjacent := slices.ContainsFunc(n.incident.Of(pair[0]), func(f int32) bool {
			return n.edges[f].from == pair[1] || n.edges[f].to == pair[1]
		})
		if !adjacent {
			n.edges = append(n.edges, edge{from: pair[0], to: pair[1], relation: -1, text: "is"})
		}
	}
	n.index()
}

// index lists the edges of each entity.
func (n *network) index() {
	lists := make([][]int32, len(n.described))
	for f, x := range n.edges {
		lists[x.from] = append(lists[x.from], int32(f))
		if x.to != x.from {
			lists[x.to] = append(lists[x.to], int32(f))
		}
	}
	n.incident = kg.Lists{}
	for _, of := range lists {
		n.incident.Append(of...)
	}
	n.incident.Clip()
}

// graph returns the graph for PageRank. Every edge weighs 1, and weights of parallel edges add up.
func (n *network) graph() (*graph.Graph, error) {
	edges := make([]graph.Edge, len(n.edges))
	for i, e := range n.edges {
		edges[i] = graph.Edge{From: e.from, To: e.to, Weight: 1}
	}
	return graph.New(len(n.described), edges)
}
