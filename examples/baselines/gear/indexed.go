// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Indexed is a graph in memory or in a folder that is mapped there.
func Indexed(ix *triples.Index) func() Graph {
	return func() Graph { return indexed{ix} }
}

type indexed struct{ *triples.Index }

func (g indexed) Link(ctx context.Context, texts []string, k int) ([]Links, error) {
	out := make([]Links, len(texts))
	for i, t := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		out[i] = Links{g.Search(t, k, nil), g.Whole(t)}
	}
	return out, nil
}

// wordsOf is the index of the words of a graph's triples; nil if it has none here.
func wordsOf(g Graph) *bm25.Index {
	switch g := g.(type) {
	case indexed:
		return g.Words()
	case own:
		return wordsOf(g.Graph)
	}
	return nil
}

// looked is how many neighbors of a triple are looked at for one that is kept.
const looked = 10

func (g indexed) Neighbors(ctx context.Context, list []int32, _ string, limit int) ([][]int32, error) {
	out := make([][]int32, len(list))
	for i, t := range list {
		out[i] = g.Index.Neighbors(t, looked*limit, nil)
	}
	return out, ctx.Err()
}

// own is the graph of a corpus in memory: triple i is relation i.
type own struct {
	Graph
	corpus *kit.Corpus
	place  map[string]int32 // of each chunk
}

func corpusGraph(c *kit.Corpus, graph func() Graph) func() Graph {
	place := make(map[string]int32, len(c.Chunks))
	for i := range c.Chunks {
		place[c.Chunks[i].ID] = int32(i)
	}
	return func() Graph { return own{graph(), c, place} }
}

func relations(g *kg.Graph) iter.Seq2[triples.Triple, error] {
	entity := func(e int32) triples.Entity { return triples.Entity{ID: g.Entities[e].Key, Label: g.Entities[e].Name} }
	return func(yield func(triples.Triple, error) bool) {
		for i := range g.Relations {
			r := &g.Relations[i]
			if !yield(triples.Triple{Head: entity(r.Head), Relation: triples.Entity{ID: r.Label, Label: r.Label}, Tail: entity(r.Tail)}, nil) {
				return
			}
		}
	}
}

// Stated implements [Sourced].
func (g own) Stated(ctx context.Context, passages []graphrag.Chunk) ([][]int32, error) {
	out := make([][]int32, len(passages))
	for i, c := range passages {
		for _, r := range g.corpus.Graph.PassageRelations(g.place[c.ID]) {
			out[i] = append(out[i], r.ID)
		}
	}
	return out, ctx.Err()
}

// Sources implements [Sourced].
func (g own) Sources(ctx context.Context, list []int32) ([]graphrag.Found, error) {
	out := make([]graphrag.Found, len(list))
	for i, t := range list {
		for _, p := range g.corpus.Graph.RelationPassages(t) {
			out[i].Ranked = append(out[i].Ranked, graphrag.Hit{Chunk: g.corpus.Chunks[p.ID]})
		}
	}
	return out, ctx.Err()
}
