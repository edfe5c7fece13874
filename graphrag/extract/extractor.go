// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Extractor finds the entities, triples and attributes of chunks. Some ask
// a model, others go by rules.
//
// Extract returns one extraction for each chunk, in the order of the chunks,
// with the chunk's ID and document; a chunk in which nothing was found has an
// empty one. On an error it returns no extractions: a batch is whole or it is
// not there. No chunks are no error.
//
// Spans are bytes of the chunk's Text, within it and on the boundaries of runes;
// an extractor that does not know a place leaves the span zero. The ends of a
// fact are among the names of the mentions of the same extraction. Text is
// hostile: whatever the bytes of a chunk, Extract does not panic.
//
// Extract is safe for concurrent use, and the same chunks give the same
// extractions whatever the concurrency. It returns promptly when ctx is
// cancelled, with an error that wraps that of ctx.
type Extractor interface {
	Extract(ctx context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error)
}
