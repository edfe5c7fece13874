// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
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

// candidates is the number of neighbors of a triple that are compared for each one kept.
const candidates = 10

func (g indexed) Neighbors(ctx context.Context, list []int32, _ string, limit int) ([][]int32, error) {
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
