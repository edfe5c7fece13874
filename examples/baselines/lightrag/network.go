// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// The settings of merging (lightrag/constants.py; paperTokens: lightrag/base.py of the paper's code).
const (
	maxFragments     = 8       // number from which on descriptions are condensed, not joined
	maxTokens        = 1200    // number of tokens from which on descriptions are condensed
	paperTokens      = 500     // maxTokens in the paper's code
	describeTokens   = 600     // length of a condensed description in tokens
	maxSources       = 200     // largest number of chunks of an entity or relation
	fragmentBoundary = "<SEP>" // separator of joined descriptions (GRAPH_FIELD_SEP)
)

// network is the graph of entities and undirected relations. Condensed descriptions are stored; others are
// joined when they are read.
type network struct {
	g *kg.Graph
	// pairs has the relations of each pair of entities, incident the pairs with each entity.
	pairs, incident         kg.Lists
	condensed, condensedRel map[int32]kg.Description // condensed descriptions of entities and of pairs
}

// joins returns the two entities of a pair in ascending order.
func (n *network) joins(pair int32) [2]int32 {
	r := &n.g.Relations[n.pairs.Of(pair)[0]]
	return [2]int32{min(r.Head, r.Tail), max(r.Head, r.Tail)}
}

// weight returns the sum of the weights of a pair's relations.
func (n *network) weight(pair int32) (sum float64) {
	for _, r := range n.pairs.Of(pair) {
		sum += n.g.Relations[r].Weight
	}
	return sum
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
		if of := n.pairs.Of(r); len(of) == 1 && n.g.Relations[of[0]].Count == 1 {
			return "", nil // the pair has only one description
		}
		ends := n.joins(r)
		return n.g.Entities[ends[0]].Name + " – " + n.g.Entities[ends[1]].Name, n.stated(r).descriptions
	})
	return n, err
}

// chunks returns the chunks that name an entity.
func (n *network) chunks(e int32) []int32 { return sources(n.g.EntityPassages(e)) }

// saidOf returns the descriptions of an entity that are from its chunks.
func (n *network) saidOf(e int32) []kg.Description {
	return from(n.g.EntityDescriptions(e), n.chunks(e))
}

// described returns the description of an entity.
func (n *network) described(e int32) kg.Description {
	if d, ok := n.condensed[e]; ok {
		return d
	}
	return joined(n.saidOf(e))
}

// relation returns what is stated about a pair, with one description.
func (n *network) relation(r int32) statements {
	s := n.stated(r)
	if d, ok := n.condensedRel[r]; ok {
		s.descriptions = []kg.Description{d}
	} else {
		s.descriptions = []kg.Description{joined(s.descriptions)}
	}
	return s
}

// sources returns the first maxSources chunks of a list.
func sources(of []kg.Posting) []int32 {
	out := make([]int32, min(len(of), maxSources))
	for i := range out {
		out[i] = of[i].ID
	}
	return out
}

// describer condenses the descriptions of an entity or a pair.
type describer struct {
	summary.Describer
	count func(string) int
	paper bool
}

// all returns, for n entities or pairs, the condensed descriptions of those that have too many, by number.
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

// from keeps the descriptions that come from the given chunks. It changes the list in place.
func from(of []kg.Description, chunks []int32) []kg.Description {
	return slices.DeleteFunc(of, func(f kg.Description) bool { _, kept := slices.BinarySearch(chunks, f.Passages[0]); return !kept })
}

// joined joins descriptions into one.
func joined(of []kg.Description) kg.Description {
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

// long reports whether descriptions have to be condensed, because they are many or long.
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
	if bytes < most { // every token has at least one byte
		return false
	}
	for _, f := range of {
		tokens += d.count(f.Text)
	}
	return tokens >= most
}

// statements are the keywords, descriptions and chunks of a pair of entities.
type statements struct {
	keywords     []string
	descriptions []kg.Description
	chunks       []int32
}

// stated merges the relations of a pair. The label of a relation is a keyword. A fact without a
// description is described by its words.
func (n *network) stated(pair int32) statements {
	var out statements
	var descriptions []kg.Description
	var stated []kg.Posting
	for _, r := range n.pairs.Of(pair) {
		rel := &n.g.Relations[r]
		out.keywords = append(out.keywords, rel.Keywords...)
		if rel.Label != "" {
			out.keywords = append(out.keywords, rel.Label)
		}
		passages := n.g.RelationPassages(r)
		stated = append(stated, passages...)
		of := n.g.RelationDescriptions(r)
		descriptions = append(descriptions, of...)
		if len(of) == 0 {
			t := n.g.Triple(r)
			words := kg.Description{Text: strings.Join(strings.Fields(t.Head+" "+t.Relation+" "+t.Tail), " ")}
			for _, p := range passages {
				words.Passages = append(words.Passages, p.ID)
			}
			descriptions = append(descriptions, words)
		}
	}
	slices.Sort(out.keywords)
	out.keywords = slices.Compact(out.keywords)
	slices.SortFunc(stated, func(a, b kg.Posting) int { return cmp.Compare(a.ID, b.ID) })
	out.chunks = sources(slices.CompactFunc(stated, func(a, b kg.Posting) bool { return a.ID == b.ID }))
	out.descriptions = from(unite(descriptions), out.chunks)
	return out
}

// unite merges descriptions with equal texts and orders them by their first chunks.
func unite(all []kg.Description) []kg.Description {
	var out []kg.Description
	at := make(map[string]int)
	for _, d := range all {
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

// lookup has the parts of a network that answers need.
type lookup struct {
	incident     kg.Lists // pairs with each entity
	ends         [][2]int32
	weights      []float64
	entity, pair func(int32) entry
}

// entry is an entity or a pair as an answer reads it, and its chunks.
type entry struct {
	Title string
	kg.Description
	Chunks []int32
}

func (n *network) keep(c *kit.Corpus) (*lookup, error) {
	k := &lookup{incident: n.incident, ends: make([][2]int32, n.pairs.Len()), weights: make([]float64, n.pairs.Len())}
	for p := range k.ends {
		k.ends[p], k.weights[p] = n.joins(int32(p)), n.weight(int32(p))
	}
	var err1, err2 error
	k.entity, err1 = kit.Keep(c, len(n.g.Entities), func(e int32) entry {
		title := n.g.Entities[e].Name
		if kind := n.g.Entities[e].Type; kind != "" {
			title += " (" + kind + ")"
		}
		return entry{title, n.described(e), n.chunks(e)}
	})
	k.pair, err2 = kit.Keep(c, n.pairs.Len(), func(p int32) entry {
		ends, of := n.joins(p), n.relation(p)
		return entry{n.g.Entities[ends[0]].Name + " – " + n.g.Entities[ends[1]].Name, of.descriptions[0], of.chunks}
	})
	return k, errors.Join(err1, err2)
}

// byDegree orders pairs by the sum of the degrees of their ends, then by weight.
func (l *lookup) byDegree(pairs []int32) {
	degree := func(p int32) int { return len(l.incident.Of(l.ends[p][0])) + len(l.incident.Of(l.ends[p][1])) }
	slices.SortFunc(pairs, func(a, b int32) int {
		return cmp.Or(cmp.Compare(degree(b), degree(a)), cmp.Compare(l.weights[b], l.weights[a]), cmp.Compare(a, b))
	})
}

// entityText and relationText return the texts by which entities and relations are found.
func (n *network) entityText(e int) string {
	return n.g.Entities[e].Name + "\n" + n.described(int32(e)).Text
}

func (n *network) relationText(r int) string {
	rel, ends := n.relation(int32(r)), n.joins(int32(r))
	return strings.Join(rel.keywords, ", ") + "\t" + n.g.Entities[ends[0]].Name + "\n" + n.g.Entities[ends[1]].Name + "\n" + rel.descriptions[0].Text
}
