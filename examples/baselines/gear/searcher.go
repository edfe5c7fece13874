// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"embed"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// Stages name the calls in accounts.
const (
	StageRead    = "read triples"
	StageReflect = "reflect"
	StageFilter  = "filter passages"
)

// searcher is an index of one corpus.
type searcher struct {
	o      Options
	corpus *kit.Corpus
	place  map[string]int32 // of each chunk
	base   graphrag.Retriever
	words  *retrieve.Sparse
	graph  *triples.Index
	read   read
	keep   filter
	voting bool // the passages of remembered triples count
}

// proximal is a triple that was read from passages.
type proximal struct {
	graphrag.Triple
	// id is its number in the graph, -1 if it has to be linked.
	id       int32
	passages []int32
}

func (p proximal) text() string { return p.Head + " " + p.Relation + " " + p.Tail }

// read lists triples of passages that help with a question: "proximal" ones (GeAR,
// equation 1; GeAR-s, equation 2).
type read func(ctx context.Context, question string, passages []int32) ([]proximal, error)

// filter says which passages are to be read, by their places.
type filter func(ctx context.Context, question string, passages []graphrag.Chunk) ([]int, error)
