// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// searcher is an index of one corpus.
type searcher struct {
	o      Options
	corpus *kit.Corpus
	tree   *perception.Tree

	chunks, facts, names, keywords, communities retrieve.Texts
	keywordOf                                   []int32 // community of each keyword
	words                                       *corpusWords
	questionNames                               func(question string) []string
	links                                       link.NameIndex
	among                                       []int32      // entities that links compares
	around                                      [][]int32    // facts of each entity
	ways                                        *graph.Graph // facts as edges
	arcs                                        [][2]int64   // for each fact, its two arcs in ways
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (graphrag.Retriever, error) {
	s := &searcher{o: o, corpus: c}
	var err error
	if s.tree, err = grow(ctx, k, o, c); err != nil {
		return nil, err
	}
	if err := cmp.Or(s.index(ctx, k), s.join()); err != nil {
		return nil, err
	}
	return s.agent(k)
}

// grow makes the tree of knowledge: facts, communities and keywords.
func grow(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*perception.Tree, error) {
	var p perception.Partition
	if !o.NoCommunities && len(c.Graph.Relations) > 0 {
		var err error
		if p, err = trace.Do(ctx, "communities", func(ctx context.Context) (perception.Partition, error) { return divided(ctx, o, c) }); err != nil {
			return nil, err
		}
	}
	t, err := perception.NewTree(ctx, c.Graph, p, k.IndexModel)
	if err != nil {
		return nil, err
	}
	if !o.NoMemberOf {
		t.Join(c.Graph)
	}
	failed := t.Failed
	for i := range t.Communities {
		if len(failed) > 0 && failed[0].ID == t.Communities[i].ID {
			kit.Done(ctx, "report", failed[0].Err)
			failed = failed[1:]
			continue
		}
		kit.Done(ctx, "report", nil)
	}
	return t, nil
}

// dividedKey is the key under which the communities of a graph are shared.
type dividedKey struct {
	graph    *kg.Graph
	embedder *embed.LSA
	options  string
}

// divided finds the communities. The system and its ablations share communities that are found by LSA, since
// these depend only on the graph. Calls of other embedders may cost money, and are not shared.
func divided(ctx context.Context, o Options, c *kit.Corpus) (perception.Partition, error) {
	e, err := c.Embedder(ctx)
	if err != nil {
		return perception.Partition{}, err
	}
	find := func() (perception.Partition, error) {
		vectors, dim, triples, err := perceived(ctx, o, e, c.Graph)
		if err != nil {
			return perception.Partition{}, err
		}
		return perception.ByMembers(ctx, vectors, dim, triples, o.Communities)
	}
	if lsa, ok := e.(*embed.LSA); ok {
		return memo.Of(ctx, dividedKey{c.Graph, lsa, fmt.Sprint(o.Communities)}, find)
	}
	return find()
}

// perceived returns the vectors of the entities by equation 4. An attribute is a triple of its entity, the
// relation "has attribute", and its text.
func perceived(ctx context.Context, o Options, by embed.Embedder, g *kg.Graph) (vectors []float32, dim int, triples []perception.Triple, err error) {
	const hasAttribute = "has attribute"
	labels := []string{hasAttribute}
	for r := range g.Relations {
		labels = append(labels, g.Relations[r].Label)
	}
	slices.Sort(labels)
	labels = slices.Compact(labels)
	label := func(text string) int32 {
		at, _ := slices.BinarySearch(labels, text)
		return int32(at)
	}
	var names []string
	for e := range g.Entities {
		names = append(names, g.Entities[e].Name)
	}
	for r := range g.Relations {
		rel := &g.Relations[r]
		triples = append(triples, perception.Triple{Head: rel.Head, Relation: label(rel.Label), Tail: rel.Tail})
	}
	all := slices.Clone(triples) // each attribute becomes a node as well
	for e := range g.Entities {
		for _, a := range g.Entities[e].Attributes {
			all = append(all, perception.Triple{Head: int32(e), Relation: label(hasAttribute), Tail: int32(len(names))})
			triples = append(triples, perception.Triple{Head: int32(e), Relation: label(hasAttribute), Tail: int32(e)})
			names = append(names, a.Key+": "+a.Value)
		}
	}
	entities, dim, err := rows(ctx, by, names)
	if err != nil {
		return nil, 0, nil, err
	}
	relations, _, err := rows(ctx, by, labels)
	if err != nil {
		return nil, 0, nil, err
	}
	vectors, err = perception.EntityVectors(entities, dim, relations, all)
	if err != nil {
		return nil, 0, nil, err
	}
	return vectors[:len(g.Entities)*3*dim], 3 * dim, triples, nil
}

// rows embeds texts and returns their vectors one after another in a slice.
func rows(ctx context.Context, by embed.Embedder, texts []string) (out []float32, dim int, err error) {
	var t transform
	for vectors, err := range embed.Batches(ctx, by, text.Strings(texts)) {
		if err != nil {
			return nil, 0, err
		}
		for _, v := range vectors {
			v = t.apply(v)
			dim, out = len(v), append(out, v...)
		}
	}
	return out, dim, nil
}

// index makes the indexes of names, facts, keywords and communities, and the index that links names.
func (s *searcher) index(ctx context.Context, k kit.Kit) (err error) {
	g := s.corpus.Graph
	var names, facts, keywords, communities []string
	for e := range g.Entities {
		names = append(names, g.Entities[e].Name)
	}
	for _, f := range s.tree.Facts {
		facts = append(facts, f.Text)
	}
	for i, c := range s.tree.Communities {
		communities = append(communities, s.community(c).Text)
		for _, e := range c.Keywords {
			keywords, s.keywordOf = append(keywords, g.Entities[e].Name), append(s.keywordOf, int32(i))
		}
	}
	chunks := retrieve.TitledTexts(s.corpus.Chunks)
	counts, err := memo.Of(ctx, chunkWordsKey{g}, func() (map[string]int, error) { return chunkWords(chunks), nil })
	if err != nil {
		return err
	}
	s.words = &corpusWords{factWords(s.tree.Facts), counts, chunks.Len()}
	if s.chunks, err = s.corpus.Find(ctx, chunks); err != nil {
		return err
	}
	for _, x := range []struct {
		to    *retrieve.Texts
		texts []string
	}{{&s.names, names}, {&s.facts, facts}, {&s.keywords, keywords}, {&s.communities, communities}} {
		if *x.to, err = s.corpus.Find(ctx, text.Strings(x.texts)); err != nil {
			return err
		}
	}
	s.among, _ = g.Phrases()
	keys := make([]string, len(s.among))
	for i, e := range s.among {
		keys[i] = g.Entities[e].Key
	}
	if s.links, err = k.Link.Index(ctx, keys); err != nil {
		return err
	}
	x, err := rules.New(rules.Options{})
	s.questionNames = func(question string) []string { return x.QuestionNames(question, s.corpus.Graph.Known) }
	return err
}

// community returns the text of a community: its name, description and keywords.
func (s *searcher) community(c perception.Named) graphrag.Derived {
	var keywords []string
	for _, e := range c.Keywords {
		keywords = append(keywords, s.corpus.Graph.Entities[e].Name)
	}
	text := strings.TrimSpace(c.Description + " (" + strings.Join(keywords, "; ") + ")")
	return graphrag.Row(kindCommunity, c.Name, text, s.corpus.Provenance(c.Sources))
}

// join makes the graph whose edges are the facts.
func (s *searcher) join() error {
	s.around = make([][]int32, len(s.corpus.Graph.Entities))
	var edges []graph.Edge
	for i, f := range s.tree.Facts {
		s.around[f.Head] = append(s.around[f.Head], int32(i))
		if f.Tail != f.Head && int(f.Tail) < len(s.around) {
			s.around[f.Tail] = append(s.around[f.Tail], int32(i))
		}
		edges = append(edges, graph.Edge{From: f.Head, To: f.Tail})
	}
	var err error
	if s.ways, err = graph.New(s.tree.Nodes, edges); err != nil {
		return err
	}
	place := func(from, to int32) int64 {
		lo, _ := s.ways.Row(from)
		at, _ := slices.BinarySearch(s.ways.Neighbors(from), to)
		return lo + int64(at)
	}
	for _, f := range s.tree.Facts {
		s.arcs = append(s.arcs, [2]int64{place(f.Head, f.Tail), place(f.Tail, f.Head)})
	}
	return nil
}

// perceivedDim is the length that vectors are reduced to before communities are found. Distances of
// k-means over vectors of three times this length change by less than a tenth, and take a sixth of the
// time of 384 components.
const perceivedDim = 64

// transform is F_Θ, "a matrix for embedding transformation" that the paper does not specify: a fixed random
// projection (Johnson and Lindenstrauss). Vectors of up to perceivedDim components do not change.
type transform struct {
	dim    int
	matrix []float64 // for each component of a vector a row of float32 values
}

func (t *transform) apply(v []float32) []float32 {
	if len(v) <= perceivedDim {
		return v
	}
	if t.dim != len(v) {
		t.dim, t.matrix = len(v), make([]float64, len(v)*perceivedDim)
		rng := rand.New(rand.NewPCG(42, 0))
		for i := range t.matrix {
			t.matrix[i] = float64(float32(rng.NormFloat64() / math.Sqrt(perceivedDim)))
		}
	}
	sums := make([]float64, perceivedDim)
	for i, x := range v {
		floats.AddScaled(sums, float64(x), t.matrix[i*perceivedDim:][:perceivedDim]) // the products are exact
	}
	out := make([]float32, perceivedDim)
	for j, x := range sums {
		out[j] = float32(x)
	}
	return out
}
