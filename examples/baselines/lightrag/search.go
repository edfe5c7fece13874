// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
)

// searcher is an index of one corpus.
type searcher struct {
	o      Options
	count  func(string) int
	corpus retrieve.Ranking
	units  retrieve.Texts // texts of the chunks
	*lookup
	keywords            finder
	entities, relations retrieve.Texts
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (*searcher, error) {
	s := &searcher{o: o, count: k.Count, corpus: c.Ranking, keywords: k.Decompose}
	var err error
	if s.units, err = c.Find(ctx, retrieve.TitledTexts(c.Chunks)); err != nil {
		return nil, err
	}
	n, err := newNetwork(ctx, k, o, c)
	if err != nil {
		return nil, err
	}
	if s.lookup, err = n.keep(c); err != nil {
		return nil, err
	}
	if s.keywords == nil {
		known, err := c.Known()
		if err != nil {
			return nil, err
		}
		names, err := k.QuestionNames(known)
		if err != nil {
			return nil, err
		}
		s.keywords = kit.Step(k.AnswerModel, byModel, func(ctx context.Context, question string) (extract.Parts, error) {
			low, err := names(ctx, question)
			return extract.Parts{Names: low, Themes: rules.Themes(question, low)}, err // themes: other content words
		})
	}
	if s.entities, err = c.Find(ctx, text.NewList(len(c.Graph.Entities), n.entityText)); err != nil {
		return nil, err
	}
	s.relations, err = c.Find(ctx, text.NewList(n.pairs.Len(), n.relationText))
	return s, err
}

// nearest returns the texts most similar to a query, at or above Options.Cosine.
func (s *searcher) nearest(ctx context.Context, t retrieve.Texts, query string, k int) ([]int32, error) {
	found, err := t.Best(ctx, query, k)
	var ids []int32
	for _, f := range found {
		if f.Score >= s.o.Cosine {
			ids = append(ids, f.ID)
		}
	}
	return ids, err
}

// Retrieve searches by keywords, cuts to the budgets, and collects the chunks. Without keywords it finds
// nothing.
func (s *searcher) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if strings.TrimSpace(q.Text) == "" {
		return graphrag.Nothing(), nil
	}
	k, err := s.keywords(ctx, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	if k = orQuestion(k, q.Text); len(k.Names) == 0 && len(k.Themes) == 0 {
		return graphrag.Nothing(), nil
	}
	steps := []graphrag.Step{{Kind: "low-level keywords", Query: q.Text, Found: k.Names}, {Kind: "high-level keywords", Query: q.Text, Found: k.Themes}}
	found, err := s.search(ctx, k, q.Text)
	if err != nil {
		return graphrag.Found{}, err
	}
	if s.o.Mode == Mix {
		if found.alike, err = s.nearest(ctx, s.units, q.Text, max(s.o.ChunkTopK, q.Want())); err != nil {
			return graphrag.Found{}, err
		}
	}
	ranked, err := s.corpus.InOrder(ctx, rank.Interleave(found.alike, found.ofEntities, found.ofRelations), q.Want(), Name)
	if err != nil || len(ranked) == 0 && len(found.derived) == 0 {
		return graphrag.Nothing(), err
	}
	return graphrag.Found{Ranked: ranked, Evidence: s.evidence(q, ranked, found.derived), Derived: found.derived, Steps: steps}, nil
}

// material is the context of a question: chunks from three sources, and rows of entities and relations.
type material struct {
	alike, ofEntities, ofRelations []int32
	derived                        []graphrag.Derived
}

// search finds entities and relations by keywords, and their chunks. If the mode's level of keywords finds
// nothing, it uses the other level.
func (s *searcher) search(ctx context.Context, k extract.Parts, question string) (material, error) {
	var low, high findings
	var err error
	if s.o.Mode != Global {
		low, err = s.local(ctx, k.Names)
	}
	if err == nil && (s.o.Mode != Local || len(low.entities) == 0) {
		high, err = s.global(ctx, k.Themes)
	}
	if err == nil && s.o.Mode == Global && len(high.relations) == 0 {
		low, err = s.local(ctx, k.Names)
	}
	if err != nil {
		return material{}, err
	}
	entities := s.fit(rank.Interleave(low.entities, high.entities), s.o.EntityTokens, s.entityRow)
	relations := s.fit(rank.Interleave(low.relations, high.relations), s.o.RelationTokens, s.relationRow)
	found := material{derived: slices.Concat(each(entities, s.entityRow), each(relations, s.relationRow))}
	if s.o.Paper {
		found.ofEntities, found.ofRelations = s.byNeighbours(low.entities), s.inOrder(high.relations)
		return found, nil
	}
	similarity, err := s.units.Scores(ctx, question, nil)
	if err != nil {
		return material{}, err
	}
	found.ofEntities, found.ofRelations = s.picked(each(entities, s.chunks), each(relations, s.relationChunks), similarity)
	return found, nil
}

// picked returns the chunks of entities and of relations: RelatedChunks/2 times the number of entities that
// have chunks, then RelatedChunks/2 times the number of relations that have further chunks (operate.py,
// _find_related_text_unit_from_entities and _from_relations).
func (s *searcher) picked(entities, relations [][]int32, similarity []float64) (ofEntities, ofRelations []int32) {
	ofEntities = pick(unread(entities, nil), similarity, s.o.RelatedChunks*cited(entities)/2)
	relations = unread(relations, ofEntities)
	return ofEntities, pick(relations, similarity, s.o.RelatedChunks*cited(relations)/2)
}

// findings are the entities and the relations found, best first.
type findings struct{ entities, relations []int32 }

// local finds entities by keywords and takes all their relations.
func (s *searcher) local(ctx context.Context, keywords []string) (findings, error) {
	if len(keywords) == 0 {
		return findings{}, nil
	}
	entities, err := s.nearest(ctx, s.entities, strings.Join(keywords, ", "), s.o.TopK)
	var relations []int32
	for _, e := range entities {
		relations = append(relations, s.incident.Of(e)...)
	}
	slices.Sort(relations)
	relations = slices.Compact(relations)
	s.byDegree(relations)
	return findings{entities, relations}, err
}

// global finds relations by keywords and takes their ends.
func (s *searcher) global(ctx context.Context, keywords []string) (findings, error) {
	if len(keywords) == 0 {
		return findings{}, nil
	}
	relations, err := s.nearest(ctx, s.relations, strings.Join(keywords, ", "), s.o.TopK)
	if s.o.Paper {
		s.byDegree(relations)
		relations = s.fit(relations, s.o.RelationTokens, s.relationRow)
	}
	var ends []int32
	for _, r := range relations {
		ends = append(ends, s.ends[r][0], s.ends[r][1])
	}
	return findings{rank.Interleave(ends), relations}, err
}

// fit returns the first entities or relations whose rows fit into a budget of tokens.
func (s *searcher) fit(ids []int32, budget int, row func(int32) graphrag.Derived) []int32 {
	return tokens.Within(ids, budget, func(id int32) int { return s.count(row(id).Text) })
}

// each calls a function for each entity or relation and returns the results.
func each[T any](ids []int32, of func(int32) T) []T {
	out := make([]T, len(ids))
	for i, id := range ids {
		out[i] = of(id)
	}
	return out
}

func (s *searcher) chunks(e int32) []int32         { return s.entity(e).Chunks }
func (s *searcher) relationChunks(r int32) []int32 { return s.pair(r).Chunks }

func (s *searcher) entityRow(e int32) graphrag.Derived {
	of := s.entity(e)
	return graphrag.Row("entity", of.Title, parts(of.Text), s.corpus.Provenance(of.Passages))
}

// parts returns joined descriptions with each on a line.
func parts(description string) string { return strings.ReplaceAll(description, fragmentBoundary, "\n") }

func (s *searcher) relationRow(r int32) graphrag.Derived {
	of := s.pair(r)
	return graphrag.Row("relation", of.Title, parts(of.Text), s.corpus.Provenance(of.Passages))
}

// evidence returns the first chunks, at most K, that fit into the rest of the budget.
func (s *searcher) evidence(q graphrag.Question, ranked []graphrag.Hit, derived []graphrag.Derived) []graphrag.Hit {
	const promptTokens = 200 // tokens kept for the instructions of a prompt (lightrag/operate.py)
	left := s.o.TotalTokens - promptTokens - s.count(q.Text)
	for _, d := range derived {
		left -= s.count(d.Text)
	}
	if s.o.Paper {
		left = PaperTokens
	}
	first := ranked[:min(q.Reads(), len(ranked))]
	return append([]graphrag.Hit{}, tokens.Within(first, left, func(h graphrag.Hit) int { return s.count(h.Chunk.Text) })...)
}

// unread returns the lists without chunks that are in taken or in an earlier list.
func unread(lists [][]int32, taken []int32) [][]int32 {
	seen := make(map[int32]bool)
	for _, c := range taken {
		seen[c] = true
	}
	out := make([][]int32, len(lists))
	for i, chunks := range lists {
		for _, c := range chunks {
			if !seen[c] {
				seen[c] = true
				out[i] = append(out[i], c)
			}
		}
	}
	return out
}

// cited returns the number of lists that are not empty.
func cited(lists [][]int32) (n int) {
	for _, chunks := range lists {
		n += min(1, len(chunks))
	}
	return n
}

// pick returns the n chunks of the lists that are most similar to the question, with ties in their order.
func pick(lists [][]int32, similarity []float64, n int) []int32 {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), n)]
}

// byNeighbours returns the chunks of entities as the paper's code does: by entity, then by the number of the
// entity's neighbours that the chunk names.
func (s *searcher) byNeighbours(entities []int32) []int32 {
	var out []int32
	for _, e := range entities {
		shared := make(map[int32]int)
		for _, r := range s.incident.Of(e) {
			for _, c := range s.chunks(s.ends[r][0] + s.ends[r][1] - e) {
				shared[c]++
			}
		}
		chunks := s.chunks(e)
		slices.SortStableFunc(chunks, func(a, b int32) int { return cmp.Compare(shared[b], shared[a]) })
		out = append(out, chunks...)
	}
	return rank.Interleave(out)
}

// inOrder returns the chunks of relations in the order of the relations.
func (s *searcher) inOrder(relations []int32) []int32 {
	return rank.Interleave(slices.Concat(each(relations, s.relationChunks)...))
}
