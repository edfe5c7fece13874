// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Ranking makes hits of chunks that a system scored or ordered itself.
type Ranking struct {
	// Chunks are those of the corpus; scores and indexes refer to them.
	Chunks []graphrag.Chunk
	// PerDoc limits the chunks of one document; 0 is no limit.
	PerDoc int
}

// ByScore returns the n best chunks with a score above 0, best first, equal ones
// in the order of the chunks. scores has one entry for each chunk.
func (r Ranking) ByScore(scores []float64, n int, source string) []graphrag.Hit {
	var order []int32
	if r.PerDoc == 0 { // the first n are enough
		var top rank.Top[int32]
		top.Reset(min(max(n, 0), len(scores)))
		for i, s := range scores {
			if s > 0 {
				top.Push(int32(i), s)
			}
		}
		for _, s := range top.Append(nil) {
			order = append(order, s.ID)
		}
		return r.hits(order, n, source, func(i int32, _ int) float64 { return scores[i] })
	}
	for i, s := range scores {
		if s > 0 {
			order = append(order, int32(i))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return r.hits(order, n, source, func(i int32, _ int) float64 { return scores[i] })
}

// InOrder returns the first n chunks of an order without scores; the score of each is the
// reciprocal of its rank.
func (r Ranking) InOrder(order []int32, n int, source string) []graphrag.Hit {
	return r.hits(order, n, source, func(_ int32, rank int) float64 { return 1 / float64(rank) })
}

func (r Ranking) hits(order []int32, n int, source string, score func(i int32, rank int) float64) []graphrag.Hit {
	out := []graphrag.Hit{}
	limit := newLimit(r.PerDoc)
	for _, i := range order {
		if len(out) >= n {
			break
		}
		if c := r.Chunks[i]; limit.take(c.Doc) {
			out = append(out, graphrag.Hit{Chunk: c, Score: score(i, len(out)+1), Source: source})
		}
	}
	return out
}

// limit counts the chunks of each document.
type limit struct {
	perDoc int
	taken  map[string]int // nil without a limit
}

func newLimit(perDoc int) limit {
	if perDoc == 0 {
		return limit{}
	}
	return limit{perDoc, make(map[string]int)}
}

// take counts one more chunk of a document and reports whether it is within the limit.
func (l limit) take(doc string) bool {
	if l.taken == nil {
		return true
	}
	l.taken[doc]++
	return l.taken[doc] <= l.perDoc
}

// Titled returns the title of a chunk, a line break, and its text: the text that is compared
// with questions.
func Titled(c graphrag.Chunk) string {
	if c.Title == "" {
		return c.Text
	}
	return c.Title + "\n" + c.Text
}

// TitledTexts returns the texts of chunks with their titles.
func TitledTexts(chunks []graphrag.Chunk) text.List {
	return text.NewList(len(chunks), func(i int) string { return Titled(chunks[i]) })
}

// byID orders chunks.
func byID(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) }

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
	return &Sparse{index: ix, chunks: chunks, results: sync.Pool{New: func() any { return new([]rank.Scored[int32]) }}}, nil
}

// Index returns the index; its documents are the chunks in the order of their IDs.
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

// Dense ranks chunks by the cosine of their vector with the question's.
type Dense struct {
	vectors *Vectors
	chunks  []graphrag.Chunk // by ID, as indexed
}

// NewDense embeds the chunks with their titles, in any order.
func NewDense(ctx context.Context, chunks []graphrag.Chunk, e embed.Embedder) (*Dense, error) {
	if e == nil {
		return nil, errors.New("retrieve: the embedder is missing")
	}
	d := &Dense{vectors: &Vectors{embedder: e}, chunks: slices.SortedStableFunc(slices.Values(chunks), byID)}
	return d, d.vectors.add(ctx, TitledTexts(d.chunks), func(i int) string { return d.chunks[i].ID })
}

// Retrieve returns the best chunks for the question. A question of which the
// embedder knows nothing has a vector of zeros and finds nothing.
func (d *Dense) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	best, err := d.vectors.Best(ctx, q.Text, q.Want())
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: question: %w", err)
	}
	hits := make([]graphrag.Hit, len(best))
	for i, b := range best {
		hits[i] = graphrag.Hit{Chunk: d.chunks[b.ID], Score: b.Score, Source: "dense"}
	}
	return graphrag.Found{Ranked: hits}, nil
}
