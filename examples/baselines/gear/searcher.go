// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"
	"embed"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("gear", promptFiles)

// Stages name the calls in accounts.
const (
	StageRead     = "read triples"
	StageReflect  = "reflect"
	StageFilter   = "filter passages"
	StageClassify = "classify the question"
)

// searcher is a search over parts.
type searcher struct {
	Parts
	o      Options
	base   graphrag.Retriever // Passages with the limit per document
	read   read
	keep   filter
	voting bool // the passages of remembered triples count
}

// proximal is a triple that was read from passages.
type proximal struct {
	graphrag.Triple
	number int32 // in the graph, -1 if it has to be linked
	from   graphrag.Provenance
}

func (p proximal) text() string { return p.Head + " " + p.Relation + " " + p.Tail }

// read lists the triples of passages that help with a question, the "proximal" triples (GeAR, equation 1;
// GeAR-s, equation 2).
type read func(ctx context.Context, g Graph, question string, passages []graphrag.Chunk) ([]proximal, error)

// filter selects the passages to read, by their places.
type filter func(ctx context.Context, question string, passages []graphrag.Chunk) ([]int, error)
