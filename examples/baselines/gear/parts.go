// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Parts are what the search runs over: a corpus in memory, or one of millions of
// passages in a store. A step takes one call of Passages, one of Align and one to
// link, beside those of the beam search for neighbors, if the retrievers are each a
// [retrieve.Batch].
type Parts struct {
	// Passages finds passages for questions: words and vectors, fused by rank (GeAR-s,
	// equation 1).
	Passages graphrag.Retriever
	// Align finds the passages that the words of a triple are aligned with (GeAR-s,
	// equation 3). The original does not use it.
	Align graphrag.Retriever
	// Graph begins the search of one question in the graph.
	Graph func() Graph
	// Find compares texts with a query; nil is the kit's way. An embedder that learns
	// from its corpus needs [kit.Corpus.Find].
	Find func(ctx context.Context, texts text.List) (retrieve.Texts, error)
	// Kit has what reads, reflects, filters and compares: a model, or rules.
	Kit kit.Kit
}

// Graph is a graph for one question. Its triples are known by numbers, which hold as
// long as the question does. It is not safe for concurrent use.
type Graph interface {
	// Link finds, for each text, the k triples that are most like it.
	Link(ctx context.Context, texts []string, k int) ([]Links, error)
	// Neighbors lists, for each triple, triples that share an entity with it, without
	// itself. Where there are many, limit of each entity will do, if they are those
	// most like the question.
	Neighbors(ctx context.Context, triples []int32, question string, limit int) ([][]int32, error)
	// Triple is a triple that one of the calls named.
	Triple(number int32) triples.Triple
}

// Links are the triples of a graph that are most like a text.
type Links struct {
	Best []rank.Scored[int32] // best first
	// Whole is what a triple of just the words of the text would score.
	Whole float64
}

// Sourced is a graph that was read from the passages: that of the original, which
// needs to align nothing.
type Sourced interface {
	Graph
	// Stated are the triples that each passage states.
	Stated(ctx context.Context, passages []graphrag.Chunk) ([][]int32, error)
	// Sources ranks the passages that state each triple.
	Sources(ctx context.Context, triples []int32) ([]graphrag.Found, error)
}
