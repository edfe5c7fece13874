// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Source is the Source of the hits of a [Retriever].
const Source = "bm25"

// RetrieverOptions are the options of the index and of what is taken from it.
type RetrieverOptions struct {
	Options
	// MaxPerDoc is how many chunks of one document are returned at most, so
	// that a long page does not fill the list; 0 means any number. Chunks
	// beyond it make room for the next in the ranking.
	MaxPerDoc int
}

// Retriever ranks chunks by BM25. It implements [graphrag.Retriever] and is
// safe for concurrent use.
type Retriever struct {
	index     *Index
	chunks    []graphrag.Chunk // by ID, as indexed
	maxPerDoc int
	results   sync.Pool // of *[]rank.Scored[int32]
}

var _ graphrag.Retriever = (*Retriever)(nil)

// NewRetriever indexes the chunks, in any order, and returns their retriever.
func NewRetriever(ctx context.Context, chunks []graphrag.Chunk, o RetrieverOptions) (*Retriever, error) {
	chunks = slices.Clone(chunks)
	slices.SortStableFunc(chunks, byID)
	ix, err := Build(ctx, chunks, o.Options)
	return join(ix, chunks, o.MaxPerDoc, err)
}

// RetrieverOf returns a retriever over an index that was built from exactly
// these chunks, e.g. before it was saved. They must be in the order of their
// IDs. The retriever keeps chunks.
func RetrieverOf(ix *Index, chunks []graphrag.Chunk, maxPerDoc int) (*Retriever, error) {
	var errs []error
	if ix.Len() != len(chunks) {
		errs = append(errs, fmt.Errorf("bm25: retriever: the index is of %d chunks, not %d: build it from these", ix.Len(), len(chunks)))
	}
	if !slices.IsSortedFunc(chunks, byID) {
		errs = append(errs, errors.New("bm25: retriever: chunks are not in the order of their IDs: sort them before the index is built"))
	}
	return join(ix, chunks, maxPerDoc, errs...)
}

func join(ix *Index, chunks []graphrag.Chunk, maxPerDoc int, errs ...error) (*Retriever, error) {
	if maxPerDoc < 0 {
		errs = append(errs, fmt.Errorf("bm25: retriever: MaxPerDoc is %d: it must be at least 0", maxPerDoc))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Retriever{index: ix, chunks: chunks, maxPerDoc: maxPerDoc,
		results: sync.Pool{New: func() any { return new([]rank.Scored[int32]) }}}, nil
}

func byID(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) }

// Index returns the index behind the retriever; its documents are the chunks
// in the order of their IDs.
func (r *Retriever) Index() *Index { return r.index }

// Retrieve returns the k best chunks for the question.
func (r *Retriever) Retrieve(ctx context.Context, question string, k int) ([]graphrag.Hit, error) {
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("bm25: retrieve: %w", err)
	}
	if k = min(k, r.index.Len()); k <= 0 {
		return nil, nil
	}
	results := r.results.Get().(*[]rank.Scored[int32])
	defer r.results.Put(results)
	if r.maxPerDoc == 0 {
		*results = r.index.Search(question, k, *results)
		return r.hits(*results), nil
	}
	// Look deeper until k are left or there is nothing deeper.
	for depth := 2 * k; ; depth *= 4 {
		depth = min(depth, r.index.Len())
		*results = r.index.Search(question, depth, *results)
		kept := r.limit(*results, k)
		if len(kept) >= k || len(*results) < depth || depth == r.index.Len() {
			return r.hits(kept), nil
		}
		if err := ctx.Err(); err != nil {
			return nil, fmt.Errorf("bm25: retrieve: %w", err)
		}
	}
}

// limit returns the first k results with no more than maxPerDoc of a document.
func (r *Retriever) limit(results []rank.Scored[int32], k int) []rank.Scored[int32] {
	var kept []rank.Scored[int32]
	taken := map[string]int{}
	for _, res := range results {
		if doc := r.chunks[res.ID].Doc; len(kept) < k && taken[doc] < r.maxPerDoc {
			taken[doc]++
			kept = append(kept, res)
		}
	}
	return kept
}

func (r *Retriever) hits(results []rank.Scored[int32]) []graphrag.Hit {
	if len(results) == 0 {
		return nil
	}
	hits := make([]graphrag.Hit, len(results))
	for i, res := range results {
		hits[i] = graphrag.Hit{Chunk: r.chunks[res.ID], Score: res.Score, Source: Source}
	}
	return hits
}
