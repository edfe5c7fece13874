// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"fmt"
	"slices"

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
	dense *retrieve.Vectors // of the triples' texts, nil for links by words
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

// indexOf returns the index of a graph's triples, nil for a graph in a store.
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
	const candidates = 10 // neighbors that are compared for each one kept
	out := make([][]int32, len(list))
	for i, t := range list {
		out[i] = g.Index.Neighbors(t, candidates*limit, nil)
	}
	return out, ctx.Err()
}

// own is the graph of a corpus in memory, or a share of it.
type own struct {
	Graph
	corpus    *kit.Corpus
	place     map[string]int32 // of each chunk
	relations []int32          // of each triple, ascending
}

func corpusGraph(c *kit.Corpus, graph func() Graph, relations []int32) func() Graph {
	place := make(map[string]int32, len(c.Chunks))
	for i := range c.Chunks {
		place[c.Chunks[i].ID] = int32(i)
	}
	return func() Graph { return own{graph(), c, place, relations} }
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
		for _, r := range g.corpus.Graph.PassageRelations(g.place[c.ID]) {
			if t, there := slices.BinarySearch(g.relations, r.ID); there {
				out[i] = append(out[i], int32(t))
			}
		}
	}
	return out, ctx.Err()
}

// Sources implements [Sourced].
func (g own) Sources(ctx context.Context, list []int32) ([]graphrag.Found, error) {
	out := make([]graphrag.Found, len(list))
	for i, t := range list {
		for _, p := range g.corpus.Graph.RelationPassages(g.relations[t]) {
			out[i].Ranked = append(out[i].Ranked, graphrag.Hit{Chunk: g.corpus.Chunks[p.ID]})
		}
	}
	return out, ctx.Err()
}

// Stored returns a graph in a store. Scores of engines do not compare, so the similarity of a triple to a
// text is the share of the text's words in it, and Whole is 1. Equal triples of several sources are one.
func Stored(ts store.Triples) func() Graph {
	return func() Graph { return &stored{store: ts, number: make(map[statement]int32)} }
}

// stored numbers the triples in the order in which a question reaches them.
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
		err = fmt.Errorf("gear: the store gave triples for %d of %d texts", len(found), len(texts))
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

// share returns the share of terms that are among others; 0 for no terms.
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
	// The triple itself is among them.
	found, err := g.store.Neighbors(ctx, entities, store.Near{Limit: limit + 1, Like: question})
	if err == nil && len(found) != len(entities) {
		err = fmt.Errorf("gear: the store gave neighbors of %d of %d entities", len(found), len(entities))
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

// ends returns the entities of a triple, without a literal.
func ends(t triples.Triple) []string {
	if t.Literal || t.Head.ID == t.Tail.ID {
		return []string{t.Head.ID}
	}
	return []string{t.Head.ID, t.Tail.ID}
}

// terms returns the set of terms of a text.
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
