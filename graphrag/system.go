// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"context"
	"iter"
)

// Retriever ranks the chunks of a corpus for a question.
//
// Hits come best first; equal scores are ordered by chunk ID. At most k hits
// are returned, fewer when the corpus or the matches are fewer; k <= 0 gives
// none. A question without a usable word is no error: it matches nothing.
// Retrieve is safe for concurrent use and stops with the context's error when
// ctx is cancelled.
type Retriever interface {
	Retrieve(ctx context.Context, question string, k int) ([]Hit, error)
}

// RetrieverFunc makes a [Retriever] of a function.
type RetrieverFunc func(ctx context.Context, question string, k int) ([]Hit, error)

// Retrieve calls f.
func (f RetrieverFunc) Retrieve(ctx context.Context, question string, k int) ([]Hit, error) {
	return f(ctx, question, k)
}

// System is a complete question-answering system: what a benchmark runs.
//
// The order of calls is Index once, then any number of Answer calls, which
// may be concurrent, then Close. Equal documents, options and questions give
// equal answers at any concurrency.
type System interface {
	// Name identifies the system in reports, e.g. "bm25".
	Name() string
	// Index reads the corpus and builds whatever the system needs. It stops
	// at the first error of the stream. Work already paid for is kept by the
	// model's cache, not by the system.
	Index(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Answer answers one question and reports evidence and usage with it.
	Answer(ctx context.Context, q Question) (Answer, error)
	// Close releases what Index built. The system is not used afterwards.
	Close() error
}

// IndexStats describes a built index. The graph figures are those of
// WildGraphBench, Table 4; systems without a graph leave them zero.
type IndexStats struct {
	Documents     int     `json:"documents"`
	Chunks        int     `json:"chunks"`
	Entities      int     `json:"entities"`
	Relations     int     `json:"relations"`
	AverageDegree float64 `json:"average_degree"`
	MaxDegree     int     `json:"max_degree"`
	IsolatedShare float64 `json:"isolated_share"`
	Usage
}
