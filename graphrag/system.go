// SPDX-License-Identifier: Apache-2.0

package graphrag

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
)

// Retriever finds what helps to answer a question: one index, a fusion of
// several, a search through a graph, or an agent that takes many steps. A
// retriever over retrievers is a Retriever again.
//
// Found.Ranked is best first; equal scores are ordered by chunk ID. It holds at
// most Question.Want hits, fewer when the corpus or the matches are fewer. A
// question without a usable word is no error: it finds nothing. Retrieve is safe
// for concurrent use and stops with the context's error when ctx is cancelled.
type Retriever interface {
	Retrieve(ctx context.Context, q Question) (Found, error)
}

// RetrieverFunc makes a [Retriever] of a function.
type RetrieverFunc func(ctx context.Context, q Question) (Found, error)

// Retrieve calls f.
func (f RetrieverFunc) Retrieve(ctx context.Context, q Question) (Found, error) { return f(ctx, q) }

// System is a complete question-answering system: what a benchmark runs. It is
// the Retriever of its own evidence.
//
// Index comes first; after it Insert, Delete, Retrieve and Answer may be called
// in any order and by many at once. Readers see the state of the last change that
// succeeded and never wait for one that is under way; a change that fails or is
// cancelled leaves everything as it was. Equal documents, options and questions
// give equal answers, whatever the concurrency and whatever the order in which
// the documents came and went.
type System interface {
	Retriever
	// Name identifies the system in reports, e.g. "bm25".
	Name() string
	// Index builds the system from a corpus. It stops at the first error of the
	// stream. A document ID that comes twice is an error.
	Index(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Insert adds documents; one with the ID of one that is there takes its place.
	// The statistics are of the whole index, the usage is of the call.
	Insert(ctx context.Context, docs iter.Seq2[Document, error]) (IndexStats, error)
	// Delete removes documents. IDs that are not there change nothing.
	Delete(ctx context.Context, ids ...string) (IndexStats, error)
	// Answer answers one question and reports evidence and usage with it.
	Answer(ctx context.Context, q Question) (Answer, error)
	// Save writes the system to a folder, Open replaces it by what Save wrote. A
	// crash while saving leaves the old content or the new one. Opening pays
	// nothing for what was paid before Save.
	Save(ctx context.Context, dir string) error
	Open(ctx context.Context, dir string) (IndexStats, error)
	// Close releases what was built. The system is not used afterwards.
	Close() error
}

// Documents streams documents for [System].Index and Insert. None at all are an error: what
// made them, such as a reader of files, found nothing.
func Documents(docs ...Document) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		if len(docs) == 0 {
			yield(Document{}, errors.New("graphrag: there are no documents: check what they are read from"))
		}
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// Streamer is a [System] whose answers also come piece by piece. Each Answer that
// is yielded has a longer beginning of the text, the last one is the whole answer
// with everything that Answer would return. An error ends the stream.
type Streamer interface {
	Stream(ctx context.Context, q Question) iter.Seq2[Answer, error]
}

// IndexStats describes a built index. The graph figures come from WildGraphBench,
// Table 4; systems without a graph leave them zero.
type IndexStats struct {
	Documents     int     `json:"documents"`
	Chunks        int     `json:"chunks"`
	Entities      int     `json:"entities"`
	Relations     int     `json:"relations"`
	AverageDegree float64 `json:"average_degree"`
	MaxDegree     int     `json:"max_degree"`
	IsolatedShare float64 `json:"isolated_share"`
	// Stages says how the steps of indexing went that can fail for a part of the
	// corpus without failing the whole, in the order in which they run.
	Stages []Stage `json:"stages,omitempty"`
	// Schema is the schema that extraction was bound by, a JSON object that extract.ReadSchema
	// takes, if the system tells it.
	Schema json.RawMessage `json:"schema,omitempty"`
	Usage
}

// Stage counts the pieces of work of one step of indexing: chunks to extract
// from, texts to embed, reports to write.
type Stage struct {
	Name     string `json:"name"`               // "extract", "embed", "summarize", "describe", "merge", "report"
	Asked    int    `json:"asked"`              // pieces that were to be done
	Failed   int    `json:"failed,omitempty"`   // of these, without any result
	Refused  int    `json:"refused,omitempty"`  // of the failed, those that the model declined or a filter stopped
	Repaired int    `json:"repaired,omitempty"` // with a result of which a part was left out or mended
	Stale    int    `json:"stale,omitempty"`    // with the result for an earlier state, which differs little
}
