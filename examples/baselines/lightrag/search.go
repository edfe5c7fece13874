// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/llm"
)

// promptTokens is what the instructions of a prompt may take (lightrag/operate.py).
const promptTokens = 200

// searcher is an index of one corpus.
type searcher struct {
	o        Options
	count    func(string) int
	corpus   baselines.Corpus
	embedder embed.Embedder
	vectors  *baselines.Vectors // of the chunks
	// Without a graph, as in Naive, these are nil.
	*network
	keywords                    func(context.Context, string) (Keywords, error)
	findEntities, findRelations finder
}

func build(ctx context.Context, kit baselines.Kit, o Options, c baselines.Corpus) (*searcher, error) {
	s := &searcher{o: o, count: kit.CountTokens, corpus: c, keywords: o.Keywords}
	if s.count == nil {
		s.count = llm.EstimateTokens
	}
	if !kit.Pretrained { // the bound is for cosines of another kind
		s.o.Cosine = NoCosine
	}
	texts := baselines.TitledTexts(c.Chunks)
	var err error
	if s.embedder, err = kit.Embedder(ctx, texts); err != nil {
		return nil, err
	}
	if s.vectors, err = baselines.NewVectors(ctx, s.embedder, texts); err != nil || o.Mode == Naive {
		return s, err
	}
	if s.network, err = newNetwork(ctx, kit, o, c.Graph); err != nil {
		return nil, err
	}
	if s.keywords == nil {
		if s.keywords, err = keywordsOf(kit, c.Graph); err != nil {
			return nil, err
		}
	}
	entities, relations := s.texts()
	if s.findEntities, err = s.finder(ctx, kit, entities); err != nil {
		return nil, err
	}
	s.findRelations, err = s.finder(ctx, kit, relations)
	return s, err
}

// finder finds texts: by vectors that know language, or by words.
type finder func(ctx context.Context, query string, k int) ([]int32, error)

func (s *searcher) finder(ctx context.Context, kit baselines.Kit, texts []string) (finder, error) {
	if kit.Pretrained {
		v, err := baselines.NewVectors(ctx, s.embedder, texts)
		return func(ctx context.Context, query string, k int) ([]int32, error) {
			of, err := s.embedder.EmbedQuery(ctx, query)
			if err != nil {
				return nil, err
			}
			return s.nearest(v, of, k)
		}, err
	}
	index, err := kit.Texts(ctx, texts)
	return func(ctx context.Context, query string, k int) ([]int32, error) {
		found, err := index.Best(ctx, query, k)
		ids := make([]int32, len(found))
		for i, f := range found {
			ids[i] = f.ID
		}
		return ids, err
	}, err
}

// nearest are the k texts that are most like a query, if they are like it at all.
func (s *searcher) nearest(v *baselines.Vectors, query []float32, k int) ([]int32, error) {
	if !slices.ContainsFunc(query, func(x float32) bool { return x != 0 }) {
		return nil, nil
	}
	found, err := v.Best(query, k)
	var ids []int32
	for _, f := range found {
		if float64(f.Score) >= s.o.Cosine {
			ids = append(ids, f.ID)
		}
	}
	return ids, err
}

// find searches, cuts to the budgets, and collects the chunks. Without keywords,
// or without anything that they find, there is no answer.
func (s *searcher) find(ctx context.Context, q graphrag.Question) (baselines.Found, error) {
	if strings.TrimSpace(q.Text) == "" {
		return refusal(), nil
	}
	question, err := s.embedder.EmbedQuery(ctx, q.Text)
	if err != nil {
		return baselines.Found{}, err
	}
	var found material
	if s.o.Mode != Naive {
		k, err := s.keywords(ctx, q.Text)
		if err != nil {
			return baselines.Found{}, err
		}
		if k = k.or(q.Text); len(k.Low) == 0 && len(k.High) == 0 {
			return refusal(), nil
		}
		if found, err = s.search(ctx, k, question); err != nil {
			return baselines.Found{}, err
		}
	}
	if s.o.Mode == Mix || s.o.Mode == Naive {
		if found.alike, err = s.nearest(s.vectors, question, max(s.o.ChunkTopK, q.K, q.Depth)); err != nil {
			return baselines.Found{}, err
		}
	}
	ranked := s.hits(rank.Interleave(found.alike, found.ofEntities, found.ofRelations), max(q.K, q.Depth))
	if len(ranked) == 0 && len(found.derived) == 0 {
		return refusal(), nil
	}
	return baselines.Found{Ranked: ranked, Evidence: s.evidence(q, ranked, found.derived), Derived: found.derived}, nil
}

func refusal() baselines.Found {
	return baselines.Found{Answer: &graphrag.Answer{Text: reader.Refusal, Refused: true}}
}

// material is what a search comes to: chunks from three sources, and texts.
type material struct {
	alike, ofEntities, ofRelations []int32
	derived                        []graphrag.Derived
}

// search finds entities and relations by keywords, and their chunks. A mode whose
// level finds nothing uses the other one.
func (s *searcher) search(ctx context.Context, k Keywords, question []float32) (material, error) {
	var low, high findings
	var err error
	if s.o.Mode != Global {
		low, err = s.local(ctx, k.Low)
	}
	if err == nil && (s.o.Mode != Local || len(low.entities) == 0) {
		high, err = s.global(ctx, k.High)
	}
	if err == nil && s.o.Mode == Global && len(high.relations) == 0 {
		low, err = s.local(ctx, k.Low)
	}
	if err != nil {
		return material{}, err
	}
	entities := s.fit(rank.Interleave(low.entities, high.entities), s.o.EntityTokens, s.entityRow)
	relations := s.fit(rank.Interleave(low.relations, high.relations), s.o.RelationTokens, s.relationRow)
	found := material{derived: slices.Concat(rows(entities, s.entityRow), rows(relations, s.relationRow))}
	if s.o.Paper {
		found.ofEntities, found.ofRelations = s.byNeighbours(low.entities), s.inOrder(high.relations)
		return found, nil
	}
	pick := picker{s.o, func(ids []int32) []float64 { return s.vectors.Cosines(question, ids) }}
	found.ofEntities = pick.pick(s.entityChunks(entities), nil)
	found.ofRelations = pick.pick(s.relationChunks(relations), found.ofEntities)
	return found, nil
}

// findings are entities and relations, best first.
type findings struct{ entities, relations []int32 }

// local finds entities, and takes all their relations.
func (s *searcher) local(ctx context.Context, keywords []string) (findings, error) {
	if len(keywords) == 0 {
		return findings{}, nil
	}
	entities, err := s.findEntities(ctx, strings.Join(keywords, ", "), s.o.TopK)
	var relations []int32
	for _, e := range entities {
		relations = append(relations, s.incident[e]...)
	}
	slices.Sort(relations)
	relations = slices.Compact(relations)
	s.rank(relations)
	return findings{entities, relations}, err
}

// global finds relations, and takes their ends.
func (s *searcher) global(ctx context.Context, keywords []string) (findings, error) {
	if len(keywords) == 0 {
		return findings{}, nil
	}
	relations, err := s.findRelations(ctx, strings.Join(keywords, ", "), s.o.TopK)
	if s.o.Paper {
		s.rank(relations)
		relations = s.fit(relations, s.o.RelationTokens, s.relationRow)
	}
	return findings{s.ends(relations), relations}, err
}

// ends are the entities of relations, in the order in which they come up.
func (s *searcher) ends(relations []int32) []int32 {
	var out []int32
	for _, r := range relations {
		out = append(out, s.relations[r].ends[:]...)
	}
	return unique(out)
}

// fit keeps as many of a list as fit into a budget.
func (s *searcher) fit(ids []int32, budget int, row func(int32) graphrag.Derived) []int32 {
	for i, id := range ids {
		if budget -= s.count(row(id).Text); budget < 0 {
			return ids[:i]
		}
	}
	return ids
}

func rows(ids []int32, row func(int32) graphrag.Derived) []graphrag.Derived {
	out := make([]graphrag.Derived, len(ids))
	for i, id := range ids {
		out[i] = row(id)
	}
	return out
}

func (s *searcher) entityRow(e int32) graphrag.Derived {
	text := s.g.Entities[e].Name
	if kind := s.g.Entities[e].Type; kind != "" {
		text += " (" + kind + ")"
	}
	if d := s.described[e].Text; d != "" {
		text += ": " + d
	}
	return graphrag.Derived{Kind: "entity", Text: text, Docs: baselines.Docs(s.g, s.described[e].Passages)}
}

func (s *searcher) relationRow(r int32) graphrag.Derived {
	rel := &s.relations[r]
	text := s.g.Entities[rel.ends[0]].Name + " – " + s.g.Entities[rel.ends[1]].Name + ": " + rel.described.Text
	return graphrag.Derived{Kind: "relation", Text: text, Docs: baselines.Docs(s.g, rel.described.Passages)}
}

// hits are the chunks in their order, at most depth, each worth one over its rank.
func (s *searcher) hits(chunks []int32, depth int) []graphrag.Hit {
	var out []graphrag.Hit
	of := make(map[string]int)
	for _, p := range chunks {
		if len(out) == depth {
			break
		}
		c := s.corpus.Chunks[p]
		if of[c.Doc]++; s.o.MaxPerDoc > 0 && of[c.Doc] > s.o.MaxPerDoc {
			continue
		}
		out = append(out, graphrag.Hit{Chunk: c, Score: 1 / float64(len(out)+1), Source: Name})
	}
	return out
}

// evidence are the first K chunks, as far as the rest of the budget goes.
func (s *searcher) evidence(q graphrag.Question, ranked []graphrag.Hit, derived []graphrag.Derived) []graphrag.Hit {
	left := s.o.TotalTokens - promptTokens - s.count(q.Text)
	for _, d := range derived {
		left -= s.count(d.Text)
	}
	if s.o.Paper {
		left = PaperTokens
	}
	out := []graphrag.Hit{}
	for _, h := range ranked[:min(max(q.K, 0), len(ranked))] {
		if left -= s.count(h.Chunk.Text); left < 0 {
			break
		}
		out = append(out, h)
	}
	return out
}
