// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

const (
	// blockRows are estimated before their bounds are looked at: few enough
	// to stay in the first cache, many enough to hide the call.
	blockRows = 256
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

// Params say what a search is for.
type Params struct {
	// K is how many rows are wanted; none if it is 0 or less.
	K int
	// Keep, if set, says of a row whether it may be found: a filter, or what was not
	// deleted. Only rows that would else be found, or nearly so, are asked about. It
	// must say the same of a row throughout a search, may be called by several
	// goroutines at once, and must not use the index.
	Keep func(id int32) bool
}

// Search is [Index.SearchWith] for the k best of all rows.
func (x *Index) Search(query []float32, k int, dst []rank.Scored[int32]) ([]rank.Scored[int32], error) {
	return x.SearchWith(query, Params{K: k}, dst)
}

// SearchWith appends the K rows with the largest scores, of those that are kept, to
// dst, best first, equal scores by id; all if there are fewer than K. It
// allocates only what dst lacks, once the index has seen a few searches, and
// unless [Options.Workers] splits the scan. The error wraps [ErrVector].
func (x *Index) SearchWith(query []float32, p Params, dst []rank.Scored[int32]) ([]rank.Scored[int32], error) {
	length, err := x.check(query)
	if err != nil {
		return dst, fmt.Errorf("vector: search: query: %w", err)
	}
	x.mu.RLock()
	defer x.mu.RUnlock()
	if p.K = min(p.K, x.n); p.K <= 0 {
		return dst, nil
	}
	s := x.scratch.Get().(*scratch)
	defer x.scratch.Put(s)
	if length = s.setQuery(query, length, x); length == 0 {
		return x.firstRows(p, dst), nil
	}
	s.sel.reset(p)
	x.scanAll(s, length)
	return x.rescore(s, s.query, dst), nil
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
func (x *Index) firstRows(p Params, dst []rank.Scored[int32]) []rank.Scored[int32] {
	for id := int32(0); int(id) < x.n && p.K > 0; id++ {
		if p.Keep == nil || p.Keep(id) {
			dst = append(dst, rank.Scored[int32]{ID: id})
			p.K--
		}
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
		part.sel.reset(s.sel.Params)
	}
	_ = par.Ranges(context.Background(), x.n, shard, workers, func(_, first, last int) error {
		x.scan(s.parts[first/shard], length, first, last)
		return nil
	})
	for _, part := range s.parts[:workers] {
		s.sel.cut = max(s.sel.cut, part.sel.cut)
		s.sel.kept = append(s.sel.kept, part.sel.kept...)
		part.sel.Keep = nil
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

// rescore appends the best of the candidates by their scores, and lets go of what the
// caller passed.
func (x *Index) rescore(s *scratch, query []float32, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s.sel.prune()
	s.sel.Keep = nil
	s.results = s.results[:0]
	for _, c := range s.sel.kept {
		s.results = append(s.results, rank.Scored[int32]{ID: c.id, Score: x.score(int(c.id), query)})
	}
	slices.SortFunc(s.results, rank.Compare)
	return append(dst, s.results[:min(s.sel.K, len(s.results))]...)
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
