// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

const (
	// blockRows are estimated before their bounds are looked at: few enough
	// to stay in the first cache, many enough to hide the call.
	blockRows = 256
	// batchRows are read once for all the queries of a block: 64 rows of 384
	// floats fill 96 kB, a part of the second cache.
	batchRows = 64
	// batchQueries share one reading of the matrix: 256 queries of 384
	// floats fill 384 kB, a part of the second cache, and 256 products per
	// float outweigh the reading by far.
	batchQueries = 256
	// shardRows is the least a worker gets of one search; below, starting it
	// costs more than it saves.
	shardRows = 8192
)

// scratch is what one scan needs beside the index.
type scratch struct {
	query   []float32 // padded to the stride
	code    []int16   // of query
	dots    []float32
	sums    []int32
	sel     selector
	results []rank.Scored[int32]
	parts   []*scratch // of other workers
}

// Search appends the k rows with the largest scores to dst, best first, equal
// scores by id; all rows if there are fewer than k, none if k <= 0. It
// allocates only what dst lacks, once the index has seen a few searches, and
// unless [Options.Workers] splits the scan. The error wraps [ErrVector].
func (x *Index) Search(query []float32, k int, dst []rank.Scored[int32]) ([]rank.Scored[int32], error) {
	length, err := x.check(query)
	if err != nil {
		return dst, fmt.Errorf("vector: search: query: %w", err)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if k = min(k, x.n); k <= 0 {
		return dst, nil
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	if length = s.setQuery(query, length, x); length == 0 {
		return x.firstRows(k, dst), nil
	}
	s.sel.reset(k)
	x.scanAll(s, length)
	return x.rescore(s, s.query, k, dst), nil
}

// setQuery keeps a padded copy of the query, scaled if the index is for
// cosines, and returns the length of that.
func (s *scratch) setQuery(query []float32, length float64, x *Index) float64 {
	s.query = append(s.query[:0], query...)
	for len(s.query) < x.stride {
		s.query = append(s.query, 0)
	}
	if x.opts.Cosine {
		scale(s.query, length)
		length = norm(s.query)
	}
	return length
}

// firstRows is the result of a query of zeros: all scores are 0.
func (x *Index) firstRows(k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	for i := range k {
		dst = append(dst, rank.Scored[int32]{ID: int32(i)})
	}
	return dst
}

// scanAll offers every row to s.sel, or shards of them to the selectors of
// s.parts, whose candidates it takes over.
func (x *Index) scanAll(s *scratch, length float64) {
	workers := min(x.opts.Workers, 1+(x.n-1)/shardRows)
	if workers == 1 {
		x.scan(s, length, 0, x.n)
		return
	}
	shard := roundUp(1+(x.n-1)/workers, blockRows)
	for len(s.parts) < workers {
		s.parts = append(s.parts, new(scratch))
	}
	for _, part := range s.parts[:workers] {
		part.query = append(part.query[:0], s.query...)
		part.sel.reset(s.sel.k)
	}
	_ = par.Ranges(context.Background(), x.n, shard, workers, func(_, first, last int) error {
		x.scan(s.parts[first/shard], length, first, last)
		return nil
	})
	for _, part := range s.parts[:workers] {
		s.sel.cut = max(s.sel.cut, part.sel.cut)
		s.sel.kept = append(s.sel.kept, part.sel.kept...)
	}
}

// scan offers the rows first to last-1 to s.sel. first is a multiple of
// blockRows.
func (x *Index) scan(s *scratch, length float64, first, last int) {
	if x.quantized() {
		x.scanCodes(s, length, first, last)
		return
	}
	s.dots = slices.Grow(s.dots[:0], blockRows)[:blockRows]
	slack := ceil32(floatError(x.stride, x.longest, length))
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		dots := s.dots[:roundUp(n, rowGroup)]
		x.kernels.dot(dots, x.rows.part(first, len(dots)), s.query)
		reach := s.sel.cut - slack
		for i, dot := range dots[:n] {
			if dot >= reach {
				s.sel.offer(int32(first+i), dot-slack, dot+slack)
				reach = s.sel.cut - slack
			}
		}
	}
}

// scanCodes is scan over the codes, with the query scaled to length 1.
func (x *Index) scanCodes(s *scratch, length float64, first, last int) {
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	s.code = slices.Grow(s.code[:0], x.stride)[:x.stride]
	step, rest := codeQuery(s.code, s.query, length)
	slack := ceil32(codeError(rest, x.longest, x.codes.longest, length))
	step32 := float32(step)
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		sums := s.sums[:roundUp(n, rowGroup)]
		x.kernels.dotCodes(sums, x.codes.values.part(first, len(sums)), s.code)
		bounds := x.codes.bounds.part(first, n)
		for i, sum := range sums[:n] {
			b := bounds[i]
			dot, margin := float32(sum)*(step32*b.scale), b.rest+slack
			if dot+margin >= s.sel.cut {
				s.sel.offer(int32(first+i), dot-margin, dot+margin)
			}
		}
	}
}

// rescore appends the k best of the candidates by their scores.
func (x *Index) rescore(s *scratch, query []float32, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s.sel.prune()
	s.results = s.results[:0]
	for _, c := range s.sel.kept {
		s.results = append(s.results, rank.Scored[int32]{ID: c.id, Score: x.score(int(c.id), query)})
	}
	slices.SortFunc(s.results, rank.Compare)
	return append(dst, s.results[:k]...)
}

// score is the definition.
func (x *Index) score(i int, query []float32) float64 {
	return float64(float32(exactDot(x.row(i), query)))
}

// Scores writes the scores of all rows over dst, by id. The error wraps
// [ErrVector].
func (x *Index) Scores(query []float32, dst []float64) ([]float64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	length, err := x.check(query)
	if err != nil {
		return dst, fmt.Errorf("vector: scores: query: %w", err)
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	s.setQuery(query, length, x)
	dst = slices.Grow(dst[:0], x.n)[:x.n]
	for i := range dst {
		dst[i] = x.score(i, s.query)
	}
	return dst, nil
}

// SearchBatch is [Index.Search] for many queries: results[i] belongs to
// queries[i]. Every row is read once for hundreds of queries, which makes a
// query several times cheaper than a single one. The error names each
// unusable query and wraps [ErrVector]; or it is that of ctx, which is looked
// at between blocks of rows.
func (x *Index) SearchBatch(ctx context.Context, queries [][]float32, k int) ([][]rank.Scored[int32], error) {
	lengths := make([]float64, len(queries))
	var errs []error
	for i, q := range queries {
		var err error
		if lengths[i], err = x.check(q); err != nil {
			errs = append(errs, fmt.Errorf("vector: search batch: query %d: %w", i, err))
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	results := make([][]rank.Scored[int32], len(queries))
	if k = min(k, x.n); k <= 0 {
		return results, nil
	}
	share := roundUp(1+(len(queries)-1)/x.opts.Workers, queryGroup)
	size := min(batchQueries, share)
	batches := make([]batch, x.opts.Workers)
	err := par.Ranges(ctx, len(queries), size, x.opts.Workers, func(worker, first, last int) error {
		batches[worker].search(ctx, x, queries[first:last], lengths[first:last], k, results[first:last])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("vector: search batch of %d: %w", len(queries), err)
	}
	return results, nil
}

// batch answers blocks of queries, one block after the other.
type batch struct {
	queries []float32 // padded, and filled up to whole groups
	slacks  []float32
	sels    []selector
	dots    []float32
	rescore scratch
}

func (b *batch) search(ctx context.Context, x *Index, queries [][]float32, lengths []float64, k int, results [][]rank.Scored[int32]) {
	b.set(x, queries, lengths, k)
	for first := 0; first < x.n; first += batchRows {
		if ctx.Err() != nil {
			return
		}
		b.scan(x, first, min(batchRows, x.n-first), len(queries))
	}
	for i := range queries {
		results[i] = make([]rank.Scored[int32], 0, k)
		if lengths[i] == 0 {
			results[i] = x.firstRows(k, results[i])
			continue
		}
		b.rescore.sel, b.sels[i] = b.sels[i], b.rescore.sel // to share one buffer of results
		results[i] = x.rescore(&b.rescore, b.query(x, i), k, results[i])
		b.rescore.sel, b.sels[i] = b.sels[i], b.rescore.sel
	}
}

func (b *batch) query(x *Index, i int) []float32 { return b.queries[i*x.stride : (i+1)*x.stride] }

// set prepares a block of queries.
func (b *batch) set(x *Index, queries [][]float32, lengths []float64, k int) {
	size := roundUp(len(queries), queryGroup)
	b.queries = slices.Grow(b.queries[:0], size*x.stride)[:size*x.stride]
	clear(b.queries)
	b.slacks = slices.Grow(b.slacks[:0], size)[:size]
	b.dots = slices.Grow(b.dots[:0], batchRows*queryGroup)[:batchRows*queryGroup]
	for len(b.sels) < size {
		b.sels = append(b.sels, selector{})
	}
	for i, q := range queries {
		row := b.query(x, i)
		copy(row, q)
		if x.opts.Cosine {
			scale(row, lengths[i])
		}
		b.slacks[i] = ceil32(floatError(x.stride, x.longest, norm(row)))
		b.sels[i].reset(k)
		if lengths[i] == 0 {
			b.sels[i].cut = float32(math.Inf(1)) // wants no candidates
		}
	}
}

// scan offers n rows from first on to the selectors of all queries.
func (b *batch) scan(x *Index, first, n, queries int) {
	high := roundUp(n, rowGroup)
	rows := x.rows.part(first, high)
	dots := b.dots[:high*queryGroup]
	for q := 0; q < queries; q += queryGroup {
		x.kernels.dotGroup(dots, rows, b.queries[q*x.stride:(q+queryGroup)*x.stride])
		for j := q; j < min(q+queryGroup, queries); j++ {
			sel, slack := &b.sels[j], b.slacks[j]
			reach := sel.cut - slack
			for i := range n {
				if dot := dots[i*queryGroup+j-q]; dot >= reach {
					sel.offer(int32(first+i), dot-slack, dot+slack)
					reach = sel.cut - slack
				}
			}
		}
	}
}
