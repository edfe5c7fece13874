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

// Parts holds the retrievers and the graph of a search: of a corpus in memory, or of millions of
// passages in a store. A step takes one call of Passages, one of Align and one of Link, and the calls of
// the beam search for neighbors, if each retriever is a [retrieve.Batch].
type Parts struct {
	// Passages finds passages for questions: by words and vectors, fused by rank (GeAR-s, equation 1).
	Passages graphrag.Retriever
	// Align finds the passages for the words of a triple (GeAR-s, equation 3). The original does not
	// use it.
	Align graphrag.Retriever
	// Graph starts the search of one question in the graph.
	Graph func() Graph
	// Find compares texts with a query; nil uses the kit. An embedder that is trained on its corpus
	// needs [kit.Corpus.Find].
	Find func(ctx context.Context, texts text.List) (retrieve.Texts, error)
	// Kit reads, reflects, filters and compares, by a model or by rules.
	Kit kit.Kit
}

// Graph is a graph for one question. The numbers of its triples are valid for that question. It is not
// safe for concurrent use.
type Graph interface {
	// Link finds the k triples most similar to each text.
	Link(ctx context.Context, texts []string, k int) ([]Links, error)
	// Neighbors lists, for each triple, other triples that share an entity with it: all of them, or
	// for each entity at least the limit triples most similar to the question.
	Neighbors(ctx context.Context, triples []int32, question string, limit int) ([][]int32, error)
	// Triple returns a triple by a number that a call has returned.
	Triple(number int32) triples.Triple
}

// Links holds the triples of a graph most similar to a text.
type Links struct {
	Best []rank.Scored[int32] // best first
	// Whole is the score of a triple with exactly the words of the text.
	Whole float64
}

// Sourced is a graph that was extracted from the passages, as the original needs. Nothing has to be
// aligned then.
type Sourced interface {
	Graph
	// Stated lists the triples that each passage states.
	Stated(ctx context.Context, passages []graphrag.Chunk) ([][]int32, error)
	// Sources ranks the passages that state each triple.
	Sources(ctx context.Context, triples []int32) ([]graphrag.Found, error)
}
