// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Sparse ranks chunks by BM25.
type Sparse struct {
	index   *bm25.Index
	chunks  []graphrag.Chunk // by ID, as indexed
	results sync.Pool        // of *[]rank.Scored[int32]
}

// NewSparse indexes the chunks, in any order.
func NewSparse(ctx context.Context, chunks []graphrag.Chunk, o bm25.Options) (*Sparse, error) {
	chunks = slices.SortedStableFunc(slices.Values(chunks), byID)
	ix, err := bm25.Build(ctx, chunks, o)
	if err != nil {
		return nil, err
	}
	return SparseOf(ix, chunks)
}

// SparseOf returns the retriever over an index that was built from exactly these
// chunks, e.g. before it was saved. They must be in the order of their IDs. The
// retriever keeps chunks.
func SparseOf(ix *bm25.Index, chunks []graphrag.Chunk) (*Sparse, error) {
	var errs []error
	if ix.Len() != len(chunks) {
		errs = append(errs, fmt.Errorf("retrieve: the index is of %d chunks, not %d: build it from these", ix.Len(), len(chunks)))
	}
	if !slices.IsSortedFunc(chunks, byID) {
		errs = append(errs, errors.New("retrieve: chunks are not in the order of their IDs: sort them before the index is built"))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Sparse{index: ix, chunks: chunks, results: sync.Pool{New: func() any { return new([]rank.Scored[int32]) }}}, nil
}

// Index returns the index behind the retriever; its documents are the chunks in
// the order of their IDs.
func (s *Sparse) Index() *bm25.Index { return s.index }

// Retrieve returns the best chunks for the question.
func (s *Sparse) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: bm25: %w", err)
	}
	results := s.results.Get().(*[]rank.Scored[int32])
	defer s.results.Put(results)
	*results = s.index.Search(q.Text, min(q.Want(), len(s.chunks)), *results)
	hits := make([]graphrag.Hit, len(*results))
	for i, r := range *results {
		hits[i] = graphrag.Hit{Chunk: s.chunks[r.ID], Score: r.Score, Source: "bm25"}
	}
	return graphrag.Found{Ranked: hits}, nil
}
