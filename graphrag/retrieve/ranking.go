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
	"github.com/wildgraph/wildgraph/graphrag/internal/segments"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Ranking makes hits of chunks that a system scored or sorted itself, and that are numbered from 0. The chunks
// are in memory, or in a table of a store.
type Ranking struct {
	// IDs are the IDs of the chunks, Docs the IDs of their documents.
	IDs, Docs text.List
	// Read returns the chunks with the given numbers, in this order.
	Read func(ctx context.Context, numbers []int32) ([]graphrag.Chunk, error)
	// PerDoc limits the chunks of one document; 0 is no limit.
	PerDoc int
}

// NewRanking returns the ranking of chunks in memory, numbered in their order.
func NewRanking(chunks []graphrag.Chunk) Ranking {
	return Ranking{
		IDs:  text.NewList(len(chunks), func(i int) string { return chunks[i].ID }),
		Docs: text.NewList(len(chunks), func(i int) string { return chunks[i].Doc }),
		Read: func(ctx context.Context, numbers []int32) ([]graphrag.Chunk, error) {
			out := make([]graphrag.Chunk, len(numbers))
			for i, n := range numbers {
				out[i] = chunks[n]
			}
			return out, ctx.Err()
		},
	}
}

// ByScore returns the n best chunks with a score above 0, best first, equal scores in the order of the chunks.
// scores has an entry for each chunk.
func (r Ranking) ByScore(ctx context.Context, scores []float64, n int, source string) ([]graphrag.Hit, error) {
	most := len(scores)
	if r.PerDoc == 0 { // without a limit n are enough
		most = min(max(n, 0), most)
	}
	var top rank.Top[int32]
	top.Reset(most)
	for i, s := range scores {
		if s > 0 {
			top.Push(int32(i), s)
		}
	}
	return r.Scored(ctx, top.Append(nil), n, source)
}

// Scored returns the first n of the given chunks, with their scores.
func (r Ranking) Scored(ctx context.Context, best []rank.Scored[int32], n int, source string) ([]graphrag.Hit, error) {
	order := make([]int32, len(best))
	for i, s := range best {
		order[i] = s.ID
	}
	return r.hits(ctx, order, n, source, func(i int) float64 { return best[i].Score })
}

// InOrder returns the first n of the chunks in an order; the score of each is the reciprocal of its rank.
func (r Ranking) InOrder(ctx context.Context, order []int32, n int, source string) ([]graphrag.Hit, error) {
	return r.hits(ctx, order, n, source, nil)
}

// hits returns the first n of the chunks in an order; score returns the score at an index of the order.
func (r Ranking) hits(ctx context.Context, order []int32, n int, source string, score func(at int) float64) ([]graphrag.Hit, error) {
	out := []graphrag.Hit{}
	limit := newLimit(r.PerDoc)
	var read []int32
	for at, i := range order {
		if len(out) >= n {
			break
		}
		if limit.taken == nil || limit.take(r.Docs.At(int(i))) {
			h := graphrag.Hit{Score: 1 / float64(len(out)+1), Source: source}
			if score != nil {
				h.Score = score(at)
			}
			out, read = append(out, h), append(read, i)
		}
	}
	if len(read) == 0 {
		return out, ctx.Err()
	}
	chunks, err := r.Read(ctx, read)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Chunk = chunks[i]
	}
	return out, nil
}

// Provenance returns the provenance of a text that was made from chunks.
func (r Ranking) Provenance(chunks []int32) graphrag.Provenance {
	var p graphrag.Provenance
	for _, n := range chunks {
		p.Docs, p.Chunks = append(p.Docs, r.Docs.At(int(n))), append(p.Chunks, r.IDs.At(int(n)))
	}
	return graphrag.Merged(p)
}

// Capped returns the hits without those after the first PerDoc of their document. It is for a ranking that was
// merged from several, each of which keeps to the limit.
func (r Ranking) Capped(hits []graphrag.Hit) []graphrag.Hit {
	if r.PerDoc == 0 || hits == nil {
		return hits
	}
	return limitedPerDoc{n: r.PerDoc}.first(hits, len(hits))
}

// docLimit counts the chunks of each document against a limit.
type docLimit struct {
	perDoc int
	taken  map[string]int // nil without a limit
}

func newLimit(perDoc int) docLimit {
	if perDoc == 0 {
		return docLimit{}
	}
	return docLimit{perDoc, make(map[string]int)}
}

// take counts another chunk of a document, and reports whether it is within the limit.
func (l docLimit) take(doc string) bool {
	if l.taken == nil {
		return true
	}
	l.taken[doc]++
	return l.taken[doc] <= l.perDoc
}

// TitledTexts returns the texts of chunks with their titles before them.
func TitledTexts(chunks []graphrag.Chunk) text.List {
	return text.NewList(len(chunks), func(i int) string { return chunks[i].Titled() })
}

// Updater is a retriever over chunks that can be updated at a cost that depends on the changed chunks. It is
// immutable: an update returns a new one, which shares the unchanged parts.
type Updater interface {
	graphrag.Retriever
	// Update returns the retriever without the chunks in gone and with those in added. Its results are the
	// same, to the bit, as with a retriever that is built from scratch. It returns nil if that is necessary.
	Update(ctx context.Context, added, gone []graphrag.Chunk) (Updater, error)
}

// Limiter is an Updater that can be limited to some of its chunks.
type Limiter interface {
	Updater
	// Limit returns the retriever over the chunks whose fields meet a condition; text is the condition as a
	// string. Its results are the same, to the bit, as with a retriever that is built from these chunks alone.
	// The values of a field are listed once for all conditions on it.
	Limit(text string, c graphrag.Condition) graphrag.Retriever
}

// Sparse ranks chunks by BM25. It implements [Limiter].
type Sparse struct {
	options  bm25.Options
	segments []segments.Segment[*bm25.Index]
	words    *bm25.Collection
	results  *sync.Pool // pool of *[]bm25.Found
}

// NewSparse indexes the chunks, which may be in any order.
func NewSparse(ctx context.Context, chunks []graphrag.Chunk, o bm25.Options) (*Sparse, error) {
	s := &Sparse{options: o}
	whole, err := segments.New(chunks, s.index(ctx))
	if err != nil {
		return nil, err
	}
	return s.over([]segments.Segment[*bm25.Index]{whole})
}

func (s *Sparse) index(ctx context.Context) func([]graphrag.Chunk) (*bm25.Index, error) {
	return func(chunks []graphrag.Chunk) (*bm25.Index, error) { return bm25.Build(ctx, chunks, s.options) }
}

// over returns the retriever over segments.
func (s *Sparse) over(list []segments.Segment[*bm25.Index]) (*Sparse, error) {
	parts, sets := make([]*bm25.Index, len(list)), make([]bm25.Docs, len(list))
	for i, of := range list {
		parts[i], sets[i] = of.Index, of.Live
	}
	words, err := bm25.NewCollection(parts...)
	if err != nil {
		return nil, err
	}
	return &Sparse{s.options, list, words.Limit(sets), &sync.Pool{New: func() any { return new([]bm25.Found) }}}, nil
}

// Update implements [Updater].
func (s *Sparse) Update(ctx context.Context, added, gone []graphrag.Chunk) (Updater, error) {
	build := s.index(ctx)
	list, err := segments.Revise(s.segments, added, gone, build, func(_ []segments.Segment[*bm25.Index], _ []segments.Origin, chunks []graphrag.Chunk) (*bm25.Index, error) {
		return build(chunks)
	})
	if err != nil {
		return nil, err
	}
	return s.over(list)
}

// Limit implements [Limiter].
func (s *Sparse) Limit(text string, c graphrag.Condition) graphrag.Retriever {
	some, _ := s.over(segments.Limited(s.segments, text, c)) // no error: their settings are equal
	return some
}

// Retrieve returns the best chunks for the question.
func (s *Sparse) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	if err := ctx.Err(); err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: bm25: %w", err)
	}
	results := s.results.Get().(*[]bm25.Found)
	defer s.results.Put(results)
	*results = s.words.Search(q.Text, q.Want(), nil, *results)
	hits := make([]graphrag.Hit, len(*results))
	for i, r := range *results {
		hits[i] = graphrag.Hit{Chunk: s.segments[r.Part].Chunks[r.Doc], Score: r.Score, Source: "bm25"}
	}
	return graphrag.Found{Ranked: ranked(hits, q.Want())}, nil
}

// Dense ranks chunks by the cosine of their vector and the question's. It implements [Limiter], for embedders
// that do not depend on the chunks.
type Dense struct {
	embedder embed.Embedder
	segments []segments.Segment[*vector.Index]
}

// NewDense embeds the chunks with their titles; the chunks may be in any order.
func NewDense(ctx context.Context, chunks []graphrag.Chunk, e embed.Embedder) (*Dense, error) {
	if e == nil {
		return nil, errors.New("retrieve: the embedder is missing")
	}
	d := &Dense{embedder: e}
	whole, err := segments.New(chunks, d.index(ctx))
	if err != nil {
		return nil, err
	}
	d.segments = []segments.Segment[*vector.Index]{whole}
	return d, nil
}

// index returns a function that makes the index of chunks, nil without chunks.
func (d *Dense) index(ctx context.Context) func([]graphrag.Chunk) (*vector.Index, error) {
	return func(chunks []graphrag.Chunk) (ix *vector.Index, _ error) {
		first := 0
		for rows, err := range embed.Batches(ctx, d.embedder, TitledTexts(chunks)) {
			if err == nil && ix == nil {
				ix, err = vector.New(vector.Options{Dim: len(rows[0]), Cosine: true})
			}
			if err == nil {
				err = ix.Add(rows...)
			}
			if err != nil {
				return nil, fmt.Errorf("retrieve: cannot embed text %s and the texts after it: %w", chunks[first].ID, err)
			}
			first += len(rows)
		}
		return ix, ctx.Err()
	}
}

// Update implements [Updater]. It embeds only the added chunks.
func (d *Dense) Update(ctx context.Context, added, gone []graphrag.Chunk) (Updater, error) {
	list, err := segments.Revise(d.segments, added, gone, d.index(ctx), func(from []segments.Segment[*vector.Index], places []segments.Origin, _ []graphrag.Chunk) (ix *vector.Index, err error) {
		for _, p := range places {
			of := from[p.Segment].Index
			if ix == nil {
				ix, err = vector.New(vector.Options{Dim: of.Dim(), Cosine: true})
			}
			if err == nil {
				err = ix.AddFrom(of, p.Doc)
			}
			if err != nil {
				return nil, err
			}
		}
		return ix, ctx.Err()
	})
	return &Dense{d.embedder, list}, err
}

// Limit implements [Limiter].
func (d *Dense) Limit(text string, c graphrag.Condition) graphrag.Retriever {
	return &Dense{d.embedder, segments.Limited(d.segments, text, c)}
}

// Retrieve returns the best chunks for the question. If the embedder knows no word of the question, its vector
// is zero, and nothing is found.
func (d *Dense) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	hits, k := []graphrag.Hit{}, q.Want()
	var row []float32
	for i := range d.segments {
		s := &d.segments[i]
		if s.N == 0 || k == 0 {
			continue
		}
		var err error
		if row == nil {
			row, err = embed.Query(ctx, d.embedder, q.Text)
		}
		if err != nil || row == nil {
			return graphrag.Nothing(), aboutQuestion(err)
		}
		p := vector.Params{K: k, IDs: s.IDs}
		if s.Live != nil && s.IDs == nil {
			p.Keep = s.Live.Has
		}
		best, err := s.Index.SearchWith(row, p, nil)
		if err != nil {
			return graphrag.Found{}, aboutQuestion(err)
		}
		for _, b := range best {
			hits = append(hits, graphrag.Hit{Chunk: s.Chunks[b.ID], Score: b.Score, Source: "dense"})
		}
	}
	return graphrag.Found{Ranked: ranked(hits, k)}, aboutQuestion(ctx.Err())
}

// aboutQuestion says in an error that it is about the question.
func aboutQuestion(err error) error {
	if err != nil {
		err = fmt.Errorf("retrieve: question: %w", err)
	}
	return err
}

// ranked sorts the hits of several segments, and returns the first k.
func ranked(hits []graphrag.Hit, k int) []graphrag.Hit {
	slices.SortFunc(hits, func(a, b graphrag.Hit) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), segments.ByID(a.Chunk, b.Chunk))
	})
	return hits[:min(k, len(hits))]
}
