// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Indexed returns a graph in memory or in a memory-mapped folder.
func Indexed(ix *triples.Index) func() Graph {
	return func() Graph { return indexed{Index: ix} }
}

type indexed struct {
	*triples.Index
	dense *retrieve.Vectors // vectors of the triples; nil if links are by words
}

func (g indexed) Link(ctx context.Context, texts []string, k int) ([]Links, error) {
	out := make([]Links, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if g.dense == nil {
			out[i] = Links{g.Search(t, k, nil), g.Whole(t)}
			continue
		}
		near, err := g.dense.Best(ctx, t, k)
		if err != nil {
			return nil, err
		}
		out[i] = Links{near, 1}
	}
	return out, nil
}

// indexOf returns the index of a graph's triples, nil if the graph is in a store.
func indexOf(g Graph) *triples.Index {
	switch g := g.(type) {
	case indexed:
		return g.Index
	case own:
		return indexOf(g.Graph)
	}
	return nil
}

func (g indexed) Neighbors(ctx context.Context, list []int32, _ string, limit int) ([][]int32, error) {
	const candidates = 10 // number of neighbors compared for each neighbor that is kept
	out := make([][]int32, len(list))
	for i, t := range list {
		out[i] = g.Index.Neighbors(t, candidates*limit, nil)
	}
	return out, ctx.Err()
}

// own is the graph of a corpus, or of a share of its triples, with their passages.
type own struct {
	Graph
	corpus   retrieve.Ranking
	stated   func(passage int32) []int32 // triples that a passage states
	passages func(triple int32) []int32
}

// corpusGraph returns a graph whose triples are the given relations of the corpus, in ascending order.
func corpusGraph(c *kit.Corpus, graph func() Graph, relations []int32) (func() Graph, error) {
	states, err1 := kit.Keep(c, len(c.Chunks), func(p int32) (out []int32) {
		for _, r := range c.Graph.PassageRelations(p) {
			if t, there := slices.BinarySearch(relations, r.ID); there {
				out = append(out, int32(t))
			}
		}
		return out
	})
	passages, err2 := kit.Keep(c, len(relations), func(t int32) (out []int32) {
		for _, p := range c.Graph.RelationPassages(relations[t]) {
			out = append(out, p.ID)
		}
		return out
	})
	r := c.Ranking
	return func() Graph { return own{graph(), r, states, passages} }, errors.Join(err1, err2)
}

func relation(g *kg.Graph, i int32) triples.Triple {
	r := &g.Relations[i]
	entity := func(e int32) triples.Entity { return triples.Entity{ID: g.Entities[e].Key, Label: g.Entities[e].Name} }
	return triples.Triple{Head: entity(r.Head), Relation: triples.Entity{ID: r.Label, Label: r.Label}, Tail: entity(r.Tail)}
}

// Stated implements [Sourced].
func (g own) Stated(ctx context.Context, passages []graphrag.Chunk) ([][]int32, error) {
	out := make([][]int32, len(passages))
	for i, c := range passages {
		if p := sort.Search(g.corpus.IDs.Len(), func(p int) bool { return g.corpus.IDs.At(p) >= c.ID }); p < g.corpus.IDs.Len() {
			out[i] = g.stated(int32(p))
		}
	}
	return out, ctx.Err()
}

// Sources implements [Sourced].
func (g own) Sources(ctx context.Context, list []int32) ([]graphrag.Found, error) {
	out := make([]graphrag.Found, len(list))
	for i, t := range list {
		chunks, err := g.corpus.Read(ctx, g.passages(t))
		if err != nil {
			return nil, err
		}
		for _, c := range chunks {
			out[i].Ranked = append(out[i].Ranked, graphrag.Hit{Chunk: c})
		}
	}
	return out, ctx.Err()
}

// Stored returns a graph in a store. Scores of search engines cannot be compared, so the similarity of a triple
// is the share of the text's words that it has, and Whole is 1. Equal triples of several sources are one.
func Stored(ts store.Triples) func() Graph {
	return func() Graph { return &stored{store: ts, number: make(map[statement]int32)} }
}

// stored is a graph in a store. It numbers triples in the order in which the search of a question meets them.
type stored struct {
	store  store.Triples
	met    []triples.Triple
	number map[statement]int32
}

// statement is a triple by the ids of its parts.
type statement struct {
	head, relation, tail string
	literal              bool
}

func (g *stored) meet(t triples.Triple) int32 {
	key := statement{t.Head.ID, t.Relation.ID, t.Tail.ID, t.Literal}
	n, ok := g.number[key]
	if !ok {
		n = int32(len(g.met))
		g.number[key], g.met = n, append(g.met, t)
	}
	return n
}

// Triple implements [Graph].
func (g *stored) Triple(n int32) triples.Triple { return g.met[n] }

// Link implements [Graph].
func (g *stored) Link(ctx context.Context, texts []string, k int) ([]Links, error) {
	queries := make([]store.TextQuery, len(texts))
	for i, t := range texts {
		queries[i] = store.TextQuery{Text: t, K: k}
	}
	found, err := g.store.SearchTriples(ctx, queries...)
	if err == nil && len(found) != len(texts) {
		err = fmt.Errorf("gear: the store returned triples for %d of %d texts", len(found), len(texts))
	}
	if err != nil {
		return nil, err
	}
	out := make([]Links, len(texts))
	for i, hits := range found {
		out[i].Whole = 1
		asked := terms(texts[i])
		for _, h := range hits {
			out[i].Best = append(out[i].Best, rank.Scored[int32]{ID: g.meet(h.Triple.Triple), Score: share(asked, terms(h.Text()))})
		}
	}
	return out, nil
}

// share returns the share of some terms that a set has; 0 if there are no terms.
func share(of, among map[string]bool) float64 {
	n := 0
	for t := range of {
		if among[t] {
			n++
		}
	}
	return float64(n) / float64(max(1, len(of)))
}

// Neighbors implements [Graph].
func (g *stored) Neighbors(ctx context.Context, list []int32, question string, limit int) ([][]int32, error) {
	var entities []string
	place := make(map[string]int)
	for _, n := range list {
		for _, e := range ends(g.met[n]) {
			if _, ok := place[e]; !ok {
				place[e] = len(entities)
				entities = append(entities, e)
			}
		}
	}
	if len(entities) == 0 {
		return make([][]int32, len(list)), ctx.Err()
	}
	// The store returns the triple itself, too.
	found, err := g.store.Neighbors(ctx, entities, store.Near{Limit: limit + 1, Like: question})
	if err == nil && len(found) != len(entities) {
		err = fmt.Errorf("gear: the store returned neighbors for %d of %d entities", len(found), len(entities))
	}
	if err != nil {
		return nil, err
	}
	numbers := make([][]int32, len(entities))
	for i, list := range found {
		for _, t := range list {
			numbers[i] = append(numbers[i], g.meet(t.Triple))
		}
	}
	out := make([][]int32, len(list))
	for i, n := range list {
		seen := map[int32]bool{n: true}
		for _, e := range ends(g.met[n]) {
			for _, other := range numbers[place[e]] {
				if !seen[other] {
					seen[other] = true
					out[i] = append(out[i], other)
				}
			}
		}
	}
	return out, nil
}

// ends returns the IDs of the entities of a triple. A literal is no entity.
func ends(t triples.Triple) []string {
	if t.Literal || t.Head.ID == t.Tail.ID {
		return []string{t.Head.ID}
	}
	return []string{t.Head.ID, t.Tail.ID}
}

// terms returns the set of the terms of a text.
func terms(s string) map[string]bool {
	a, out := text.Default(), map[string]bool{}
	a.Words(s, func(w []byte) bool {
		if t, ok := a.Term(string(w)); ok {
			out[t] = true
		}
		return true
	})
	return out
}
