// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

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

// network is the graph: entities and undirected relations. What is only put together of
// the graph's own texts is made when it is read; descriptions that were condensed are kept.
type network struct {
	g *kg.Graph
	// pairs are the relations of each pair of entities, incident the pairs of each entity.
	pairs, incident         kg.Lists
	condensed, condensedRel map[int32]kg.Description // of entities and of pairs
}

// joins are the entities of a pair, the first before the second.
func (n *network) joins(pair int32) [2]int32 {
	r := &n.g.Relations[n.pairs.Of(pair)[0]]
	return [2]int32{min(r.Head, r.Tail), max(r.Head, r.Tail)}
}

// weight is that of all relations of a pair.
func (n *network) weight(pair int32) (sum float64) {
	for _, r := range n.pairs.Of(pair) {
		sum += n.g.Relations[r].Weight
	}
	return sum
}

// relation is all that is said of a pair.
type relation struct {
	keywords  []string
	described kg.Description
	chunks    []int32
}

func newNetwork(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*network, error) {
	n := &network{g: c.Graph}
	all := n.g.Pairs(false)
	for _, of := range all.All() {
		if first := &n.g.Relations[of[0]]; first.Head != first.Tail {
			n.pairs.Append(of...)
		}
	}
	n.pairs.Clip()
	n.incident = kg.Incident(len(n.g.Entities), n.pairs.Len(), n.joins)
	writer, err := k.Describe(describeTokens)
	if err != nil {
		return nil, err
	}
	d := describer{writer, k.Count, o.Paper}
	n.condensed, err = d.all(ctx, len(n.g.Entities), func(e int32) (string, []kg.Description) {
		return n.g.Entities[e].Name, n.saidOf(e)
	})
	if err != nil {
		return nil, err
	}
	n.condensedRel, err = d.all(ctx, n.pairs.Len(), func(r int32) (string, []kg.Description) {
		ends := n.joins(r)
		return n.g.Entities[ends[0]].Name + " – " + n.g.Entities[ends[1]].Name, n.stated(r).said
	})
	return n, err
}

// chunks are those that name an entity.
func (n *network) chunks(e int32) []int32 { return sources(n.g.EntityPassages(e)) }

// saidOf are the descriptions of an entity from its chunks.
func (n *network) saidOf(e int32) []kg.Description {
	return from(n.g.EntityDescriptions(e), n.chunks(e))
}

// described is the description of an entity.
func (n *network) described(e int32) kg.Description {
	if d, ok := n.condensed[e]; ok {
		return d
	}
	return joined(n.saidOf(e))
}

// relation is what is said of a pair.
func (n *network) relation(r int32) relation {
	s := n.stated(r)
	if d, ok := n.condensedRel[r]; ok {
		return relation{s.keywords, d, s.chunks}
	}
	return relation{s.keywords, joined(s.said), s.chunks}
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

// all are the descriptions of n things that have to be condensed, by their numbers.
func (d describer) all(ctx context.Context, n int, thing func(int32) (string, []kg.Description)) (map[int32]kg.Description, error) {
	out := make(map[int32]kg.Description)
	var mu sync.Mutex
	return out, kit.Each(ctx, n, func(ctx context.Context, i int) error {
		subject, of := thing(int32(i))
		if !d.long(of) {
			return nil
		}
		described, err := d.Describe(ctx, subject, of)
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		out[int32(i)] = described
		return nil
	})
}

// from are the descriptions that are from the given chunks; it changes the list.
func from(of []kg.Description, chunks []int32) []kg.Description {
	return slices.DeleteFunc(of, func(f kg.Description) bool { _, kept := slices.BinarySearch(chunks, f.Passages[0]); return !kept })
}

// joined are descriptions as one.
func joined(of []kg.Description) kg.Description {
	if len(of) == 1 {
		return kg.Description{Text: of[0].Text, Passages: slices.Clone(of[0].Passages)}
	}
	var out kg.Description
	texts := make([]string, len(of))
	for i, f := range of {
		texts[i] = f.Text
		out.Passages = append(out.Passages, f.Passages...)
	}
	out.Text = strings.Join(texts, fragmentBoundary)
	slices.Sort(out.Passages)
	out.Passages = slices.Compact(out.Passages)
	return out
}

// long tells whether descriptions are condensed: if they are many or long.
func (d describer) long(of []kg.Description) bool {
	if len(of) < 2 {
		return false
	}
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

// statements are what the graph says of a pair.
type statements struct {
	keywords []string
	said     []kg.Description
	chunks   []int32
}

// stated merges the relations of a pair: keywords are united, and
// a relation with a name has that as a keyword. Facts that nothing describes are
// described by their words.
func (n *network) stated(pair int32) statements {
	var out statements
	var said []kg.Description
	var stated []kg.Posting
	for _, r := range n.pairs.Of(pair) {
		rel := &n.g.Relations[r]
		out.keywords = append(out.keywords, rel.Keywords...)
		if rel.Label != "" {
			out.keywords = append(out.keywords, rel.Label)
		}
		passages := n.g.RelationPassages(r)
		stated = append(stated, passages...)
		told := n.g.RelationDescriptions(r)
		said = append(said, told...)
		if len(told) == 0 {
			t := n.g.Triple(r)
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
	out.said = from(unite(said), out.chunks)
	return out
}

// unite makes equal descriptions one and orders them by their first chunks.
func unite(said []kg.Description) []kg.Description {
	if len(said) == 1 {
		return said
	}
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

// byDegree orders pairs by the degrees of their ends, then by weight.
func (n *network) byDegree(pairs []int32) {
	type ranked struct {
		pair   int32
		degree int
		weight float64
	}
	order := make([]ranked, len(pairs))
	for i, p := range pairs {
		ends := n.joins(p)
		order[i] = ranked{p, len(n.incident.Of(ends[0])) + len(n.incident.Of(ends[1])), n.weight(p)}
	}
	slices.SortFunc(order, func(a, b ranked) int {
		return cmp.Or(cmp.Compare(b.degree, a.degree), cmp.Compare(b.weight, a.weight), cmp.Compare(a.pair, b.pair))
	})
	for i := range order {
		pairs[i] = order[i].pair
	}
}

// entityText and relationText are what entities and relations are found by. The text of an
// entity is put together at once: those of hubs are long.
func (n *network) entityText(e int) string {
	name := n.g.Entities[e].Name
	if d, ok := n.condensed[int32(e)]; ok {
		return name + "\n" + d.Text
	}
	said := n.saidOf(int32(e))
	parts := append(make([]string, 0, 2+len(said)), name)
	for _, d := range said {
		parts = append(parts, d.Text)
	}
	if len(parts) == 1 {
		parts = append(parts, "")
	}
	return strings.Join(parts, fragmentBoundary)
}

func (n *network) relationText(r int) string {
	rel, ends := n.relation(int32(r)), n.joins(int32(r))
	return strings.Join(rel.keywords, ", ") + "\t" + n.g.Entities[ends[0]].Name + "\n" + n.g.Entities[ends[1]].Name + "\n" + rel.described.Text
}
