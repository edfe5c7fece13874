// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// Stored are the chunks in a table of a store, put there as [ToRecord] makes them. A
// search is two calls of the table: one for the hits, one for their records. A chunk
// that is deleted between them is left out.
type Stored struct {
	Table store.Table
	// Where is what chunks must meet; the zero Filter is no condition.
	Where store.Filter
	// Effort is that of searches by vectors, see [store.VectorQuery].
	Effort float64
}

// Sparse ranks the chunks by their words.
func (s Stored) Sparse() graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		if q.Want() == 0 {
			return graphrag.Nothing(), ctx.Err()
		}
		hits, err := s.Table.SearchText(ctx, store.TextQuery{Text: q.Text, K: q.Want(), Where: s.Where})
		return s.found(ctx, hits, "bm25", err)
	})
}

// Dense ranks the chunks by how like their vectors are to that of the question. The
// embedder must be the one that made the vectors. A question of which it knows nothing
// has a vector of zeros and finds nothing.
func (s Stored) Dense(e embed.Embedder) graphrag.Retriever {
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		if q.Want() == 0 {
			return graphrag.Nothing(), ctx.Err()
		}
		row, err := e.EmbedQuery(ctx, q.Text)
		if err != nil {
			return graphrag.Found{}, fmt.Errorf("retrieve: question: %w", err)
		}
		if isZero(row) {
			return graphrag.Nothing(), nil
		}
		hits, err := s.Table.SearchVectors(ctx, store.VectorQuery{Vector: row, K: q.Want(), Where: s.Where, Effort: s.Effort})
		return s.found(ctx, hits, "dense", err)
	})
}

// found makes hits of what was found for the one query.
func (s Stored) found(ctx context.Context, answers [][]store.Hit, source string, err error) (graphrag.Found, error) {
	if err == nil && len(answers) != 1 {
		err = fmt.Errorf("%d answers came for 1 query", len(answers))
	}
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: %s: %w", source, err)
	}
	hits := answers[0]
	if len(hits) == 0 {
		return graphrag.Nothing(), nil
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.ID
	}
	records, err := s.Table.Get(ctx, ids...)
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: %s: records of hits: %w", source, err)
	}
	ranked := make([]graphrag.Hit, 0, len(records))
	for _, h := range hits {
		if len(records) == 0 || records[0].ID != h.ID { // records come in the order of ids
			continue
		}
		c, err := FromRecord(records[0])
		if err != nil {
			return graphrag.Found{}, err
		}
		ranked = append(ranked, graphrag.Hit{Chunk: c, Score: h.Score, Source: source})
		records = records[1:]
	}
	return graphrag.Found{Ranked: ranked}, nil
}

// isZero tells whether a vector has no direction.
func isZero(row []float32) bool {
	return !slices.ContainsFunc(row, func(c float32) bool { return c != 0 })
}

// place is what a chunk has that a record has no field for.
type place struct {
	Index  int `json:"index,omitempty"`
	Start  int `json:"start,omitempty"`
	End    int `json:"end,omitempty"`
	Tokens int `json:"tokens,omitempty"`
}

// ToRecord is a chunk as it is stored: its scope is the document, its data the place
// in it as JSON, nil if it is all zero. Vector and fields are the caller's.
func ToRecord(c graphrag.Chunk) store.Record {
	r := store.Record{ID: c.ID, Scope: c.Doc, Title: c.Title, Text: c.Text}
	if p := (place{c.Index, c.Start, c.End, c.Tokens}); p != (place{}) {
		r.Data, _ = json.Marshal(p) // four numbers
	}
	return r
}

// FromRecord is the chunk of which [ToRecord] made a record. Data that is not of a
// chunk is an error.
func FromRecord(r store.Record) (graphrag.Chunk, error) {
	var p place
	if len(r.Data) > 0 {
		if err := json.Unmarshal(r.Data, &p); err != nil {
			return graphrag.Chunk{}, fmt.Errorf("retrieve: the data of record %.80q is not that of a chunk, put chunks as ToRecord makes them: %w", r.ID, err)
		}
	}
	return graphrag.Chunk{ID: r.ID, Doc: r.Scope, Title: r.Title, Text: r.Text, Index: p.Index, Start: p.Start, End: p.End, Tokens: p.Tokens}, nil
}
