// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// The settings of merging (lightrag/constants.py; paperTokens: lightrag/base.py
// of the paper's code).
const (
	maxFragments     = 8    // descriptions that are condensed
	maxTokens        = 1200 // of descriptions that are condensed
	paperTokens      = 500  // the same for the paper
	describeTokens   = 600  // of a condensed description
	maxSources       = 200  // chunks of an entity or relation
	fragmentBoundary = "\n" // between descriptions that are joined
)

// network is the graph: entities and undirected relations, described.
type network struct {
	g         *kg.Graph
	described []kg.Description // entities
	chunks    [][]int32        // that name an entity
	pairs     []relation
	incident  [][]int32 // the relations of an entity
}

// relation is all that is said of a pair of entities, the first before the second.
type relation struct {
	ends      [2]int32
	weight    float64
	keywords  []string
	described kg.Description
	chunks    []int32
}

func newNetwork(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*network, error) {
	g := c.Graph
	n := &network{g: g, described: make([]kg.Description, len(g.Entities)), chunks: make([][]int32, len(g.Entities)), incident: make([][]int32, len(g.Entities))}
	writer, err := k.Describe(describeTokens)
	if err != nil {
		return nil, err
	}
	d := describer{writer, k.Count, o.Paper}
	err = kit.Each(ctx, len(g.Entities), func(ctx context.Context, i int) (err error) {
		n.chunks[i] = sources(g.EntityPassages(int32(i)))
		n.described[i], err = d.describe(ctx, g.Entities[i].Name, g.Entities[i].Descriptions, n.chunks[i])
		return err
	})
	if err != nil {
		return nil, err
	}
	pairs := slices.DeleteFunc(g.Pairs(false), func(of []int32) bool { return g.Relations[of[0]].Head == g.Relations[of[0]].Tail })
	n.pairs = make([]relation, len(pairs))
	err = kit.Each(ctx, len(pairs), func(ctx context.Context, i int) (err error) {
		n.pairs[i], err = d.relate(ctx, g, pairs[i])
		return err
	})
	for r := range n.pairs {
		for _, e := range n.pairs[r].ends {
			n.incident[e] = append(n.incident[e], int32(r))
		}
	}
	return n, err
}

// sources are the chunks that are kept: the first ones.
func sources(of []kg.Posting) []int32 {
	out := make([]int32, min(len(of), maxSources))
	for i := range out {
		out[i] = of[i].ID
	}
	return out
}

// describer makes one description of many.
type describer struct {
	kit.Describer
	count func(string) int
	paper bool
}

// describe joins the descriptions that are from the given chunks, or condenses
// them if they are many or long.
func (d describer) describe(ctx context.Context, subject string, of []kg.Description, chunks []int32) (kg.Description, error) {
	of = slices.DeleteFunc(slices.Clone(of), func(f kg.Description) bool { _, kept := slices.BinarySearch(chunks, f.Passages[0]); return !kept })
	if len(of) > 1 && d.long(of) {
		return d.Describe(ctx, subject, of)
	}
	var out kg.Description
	for i, f := range of {
		if i > 0 {
			out.Text += fragmentBoundary
		}
		out.Text += f.Text
		out.Passages = append(out.Passages, f.Passages...)
	}
	slices.Sort(out.Passages)
	out.Passages = slices.Compact(out.Passages)
	return out, nil
}

// long tells whether descriptions are condensed.
func (d describer) long(of []kg.Description) bool {
	most := maxTokens
	if d.paper {
		most = paperTokens
	} else if len(of) >= maxFragments {
		return true
	}
	bytes, tokens := 0, 0
	for _, f := range of {
		bytes += len(f.Text)
	}
	if bytes < most { // a token has a byte at least
		return false
	}
	for _, f := range of {
		tokens += d.count(f.Text)
	}
	return tokens >= most
}

// relate merges the relations of a pair: weights add up, keywords are united, and
// a relation with a name has that as a keyword. Facts that nothing describes are
// described by their words.
func (d describer) relate(ctx context.Context, g *kg.Graph, of []int32) (relation, error) {
	var out relation
	var said []kg.Description
	var stated []kg.Posting
	for _, r := range of {
		rel := &g.Relations[r]
		out.ends = [2]int32{min(rel.Head, rel.Tail), max(rel.Head, rel.Tail)}
		out.weight += rel.Weight
		out.keywords = append(out.keywords, rel.Keywords...)
		if rel.Label != "" {
			out.keywords = append(out.keywords, rel.Label)
		}
		passages := g.RelationPassages(r)
		stated = append(stated, passages...)
		said = append(said, rel.Descriptions...)
		if len(rel.Descriptions) == 0 {
			t := g.Triple(r)
			words := kg.Description{Text: strings.Join(strings.Fields(t.Head+" "+t.Relation+" "+t.Tail), " ")}
			for _, p := range passages {
				words.Passages = append(words.Passages, p.ID)
			}
			said = append(said, words)
		}
	}
	slices.Sort(out.keywords)
	out.keywords = slices.Compact(out.keywords)
	slices.SortFunc(stated, func(a, b kg.Posting) int { return cmp.Compare(a.ID, b.ID) })
	out.chunks = sources(slices.CompactFunc(stated, func(a, b kg.Posting) bool { return a.ID == b.ID }))
	var err error
	out.described, err = d.describe(ctx, g.Entities[out.ends[0]].Name+" – "+g.Entities[out.ends[1]].Name, unite(said), out.chunks)
	return out, err
}

// unite makes equal descriptions one and orders them by their first chunks.
func unite(said []kg.Description) []kg.Description {
	var out []kg.Description
	at := make(map[string]int)
	for _, d := range said {
		i, ok := at[d.Text]
		if !ok {
			at[d.Text] = len(out)
			out = append(out, kg.Description{Text: d.Text, Passages: slices.Clone(d.Passages)})
			continue
		}
		out[i].Passages = append(out[i].Passages, d.Passages...)
		slices.Sort(out[i].Passages)
		out[i].Passages = slices.Compact(out[i].Passages)
	}
	slices.SortStableFunc(out, func(a, b kg.Description) int { return cmp.Compare(a.Passages[0], b.Passages[0]) })
	return out
}

// byDegree orders relations by the degrees of their ends, then by weight.
func (n *network) byDegree(relations []int32) {
	degree := func(r int32) int {
		return len(n.incident[n.pairs[r].ends[0]]) + len(n.incident[n.pairs[r].ends[1]])
	}
	slices.SortFunc(relations, func(a, b int32) int {
		return cmp.Or(cmp.Compare(degree(b), degree(a)), cmp.Compare(n.pairs[b].weight, n.pairs[a].weight), cmp.Compare(a, b))
	})
}

// texts are what entities and relations are found by.
func (n *network) texts() (entities, relations []string) {
	for e := range n.described {
		entities = append(entities, n.g.Entities[e].Name+"\n"+n.described[e].Text)
	}
	for _, r := range n.pairs {
		relations = append(relations, strings.Join(r.keywords, ", ")+"\t"+n.g.Entities[r.ends[0]].Name+"\n"+n.g.Entities[r.ends[1]].Name+"\n"+r.described.Text)
	}
	return entities, relations
}
