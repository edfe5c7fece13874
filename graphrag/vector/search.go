// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

const (
	// blockRows are estimated before their bounds are compared: few enough
	// to stay in the first cache, many enough to hide the call.
	blockRows = 256
	// idsShard is shardRows for scattered rows.
	idsShard = 1024
	// shardRows is the least number of rows that a worker scans: for fewer, starting it costs more than it saves.
	shardRows = 8192
)

// Params are the parameters of a search.
type Params struct {
	// K is the number of rows that are wanted; none if it is 0 or less.
	K int
	// Keep, if set, reports whether a row may be found. It is called only for rows that are similar enough to
	// be among the K best so far. It must return the same for a row throughout a search, may be called by several
	// goroutines at once, and must not use the index.
	Keep func(id int32) bool
	// IDs, if not nil, are the only rows that are searched, ascending; all of them are read, whatever Share is.
	// If they are few, this costs less than a Keep with the same result.
	IDs []int32
	// Share, if it is above 0 and the index keeps signs ([Options].Signs), is the share of the rows that are
	// read: those with the best estimates by their signs, of those to keep. The result is exact for these rows;
	// which they are, and so the result, is the same on every machine. Otherwise the result is exact.
	Share float64
}

// scratch is the memory of one scan.
type scratch struct {
	query   []float32 // query, padded to the stride
	length  float64   // length of the query
	code    queryCode // code of the query
	step    float32   // step of the code
	slack   float32   // largest error of an estimate (see floatError and codeError)
	ids     []int32   // rows to scan, nil for all
	rows    []float32 // copies of the rows in ids (see Index.scanIDs)
	values  []int8
	bounds  []bound
	dots    []float32
	sums    []int32
	signs   signScan
	sel     selector
	results []rank.Scored[int32]
	parts   []*scratch // memory of other workers
}

// Search is [Index.SearchWith] for the k best of all rows.
func (x *Index) Search(query []float32, k int, dst []rank.Scored[int32]) ([]rank.Scored[int32], error) {
	return x.SearchWith(query, Params{K: k}, dst)
}

// SearchWith appends to dst the K rows with the largest scores among those that the parameters admit, best
// first, equal scores by id; all if there are fewer than K. After a few searches it allocates only what dst
// lacks, unless [Options.Workers] splits the scan. The error wraps [ErrVector].
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
	s.setQuery(query, length, x)
	return x.find(s, p, x.opts.Workers, dst), x.Err()
}

// find appends the rows with the largest similarity to the query of s, by the parameters p.
func (x *Index) find(s *scratch, p Params, workers int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	if s.length == 0 {
		return x.firstRows(p, dst)
	}
	s.sel.reset(p)
	if p.IDs != nil {
		x.split(s, p.IDs, idsShard, workers)
	} else if wanted := x.reads(p); wanted < x.n {
		x.split(s, x.likely(s, wanted, workers), idsShard, workers)
	} else {
		x.split(s, nil, shardRows, workers)
	}
	return x.rescore(s, s.query, dst)
}

// setQuery stores a padded copy of the query, scaled to length 1 if scores are cosines.
func (s *scratch) setQuery(query []float32, length float64, x *Index) {
	s.query = append(s.query[:0], query...)
	for len(s.query) < x.stride {
		s.query = append(s.query, 0)
	}
	if x.opts.Cosine {
		scale(s.query, length)
		length = norm(s.query)
	}
	s.length = length
}

// firstRows returns the result for a query of zeros: the first rows, since all scores are 0.
func (x *Index) firstRows(p Params, dst []rank.Scored[int32]) []rank.Scored[int32] {
	for id := int32(0); int(id) < x.n && p.K > 0; id++ {
		if _, in := slices.BinarySearch(p.IDs, id); (p.IDs == nil || in) && (p.Keep == nil || p.Keep(id)) {
			dst = append(dst, rank.Scored[int32]{ID: id})
			p.K--
		}
	}
	return dst
}

// split scans all rows, or the given ids, and collects candidates in s.sel. With several workers, each scans
// parts of at least size rows with a selector of its own, and s.sel takes over their candidates.
func (x *Index) split(s *scratch, ids []int32, size, workers int) {
	n := x.n
	if s.ids = ids; ids != nil {
		n = len(ids)
	}
	if workers = min(workers, 1+n/size); workers <= 1 {
		s.prepare(x)
		x.scan(s, 0, n)
		return
	}
	parts := s.grow(workers)
	for _, part := range parts {
		part.query, part.length, part.ids = append(part.query[:0], s.query...), s.length, s.ids
		part.sel.reset(s.sel.Params)
		part.prepare(x)
	}
	_ = par.Ranges(context.Background(), n, size, workers, func(worker, first, last int) error {
		x.scan(parts[worker], first, last)
		return nil
	})
	for _, part := range parts {
		s.sel.cut = max(s.sel.cut, part.sel.cut)
		s.sel.kept = append(s.sel.kept, part.sel.kept...)
		part.sel.Keep, part.sel.IDs, part.ids = nil, nil, nil
	}
}

// grow returns the memory for each of several workers.
func (s *scratch) grow(workers int) []*scratch {
	for len(s.parts) < workers {
		s.parts = append(s.parts, new(scratch))
	}
	return s.parts[:workers]
}

// prepare allocates memory for scans with the query, and computes the error of estimates.
func (s *scratch) prepare(x *Index) {
	if !x.kernels.codesPay {
		s.dots = slices.Grow(s.dots[:0], blockRows)[:blockRows]
		s.slack = ceil32(floatError(x.stride, x.longest, s.length))
		return
	}
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	s.code.set(s.query, s.length)
	s.step, s.slack = float32(s.code.step), ceil32(codeError(s.code.rest, x.longest, x.codes.longest, s.length))
}

// scan offers rows first to last-1, or those in s.ids, to s.sel, block by block.
func (x *Index) scan(s *scratch, first, last int) {
	if s.ids != nil {
		x.scanIDs(s, s.ids[first:last])
		return
	}
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		high := roundUp(n, rowGroup)
		if x.kernels.codesPay {
			x.scanCodes(s, x.codes.values.read(first, high), x.codes.bounds.part(first, n), first, nil)
		} else {
			x.scanRows(s, x.rows.read(first, high), n, first, nil)
		}
	}
}

// scanIDs scans the rows with the given ids, which it first copies to one place.
func (x *Index) scanIDs(s *scratch, ids []int32) {
	for len(ids) > 0 {
		some := ids[:min(blockRows, len(ids))]
		ids = ids[len(some):]
		high := roundUp(len(some), rowGroup)
		if x.kernels.codesPay {
			s.values, s.bounds = slices.Grow(s.values[:0], blockRows*x.stride), s.bounds[:0]
			for _, id := range some {
				s.values = append(s.values, x.codes.values.read(int(id), 1)...)
				s.bounds = append(s.bounds, x.codes.bounds.part(int(id), 1)...)
			}
			x.scanCodes(s, s.values[:high*x.stride], s.bounds, 0, some)
		} else {
			s.rows = slices.Grow(s.rows[:0], blockRows*x.stride)
			for _, id := range some {
				s.rows = append(s.rows, x.row(int(id))...)
			}
			x.scanRows(s, s.rows[:high*x.stride], len(some), 0, some)
		}
	}
}

// scanRows offers n rows to s.sel. Their ids are in ids, or, if that is nil, they begin with first.
func (x *Index) scanRows(s *scratch, rows []float32, n, first int, ids []int32) {
	dots := s.dots[:roundUp(n, rowGroup)]
	dotRows(dots, rows, s.query)
	reach := s.sel.cut - s.slack
	for i, dot := range dots[:n] {
		if dot >= reach {
			s.sel.offer(idAt(ids, first, i), dot-s.slack, dot+s.slack)
			reach = s.sel.cut - s.slack
		}
	}
}

// scanCodes does the same as scanRows with codes of the rows, and the query scaled to length 1.
func (x *Index) scanCodes(s *scratch, values []int8, bounds []bound, first int, ids []int32) {
	sums := s.sums[:roundUp(len(bounds), rowGroup)]
	x.kernels.dotCodes(sums, values, &s.code)
	for i, b := range bounds {
		dot, margin := float32(sums[i])*(s.step*b.scale), b.rest+s.slack
		if dot+margin >= s.sel.cut {
			s.sel.offer(idAt(ids, first, i), dot-margin, dot+margin)
		}
	}
}

func idAt(ids []int32, first, i int) int32 {
	if ids != nil {
		return ids[i]
	}
	return int32(first + i)
}

// rescore appends the best candidates by their exact scores, and drops references to arguments of the caller.
func (x *Index) rescore(s *scratch, query []float32, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s.sel.prune()
	s.sel.Keep, s.sel.IDs, s.ids = nil, nil, nil
	if x.folder != nil {
		for _, c := range s.sel.kept {
			flat.Soon(x.row(int(c.id)))
		}
	}
	s.results = s.results[:0]
	for _, c := range s.sel.kept {
		s.results = append(s.results, rank.Scored[int32]{ID: c.id, Score: x.score(int(c.id), query)})
	}
	slices.SortFunc(s.results, rank.Compare)
	return append(dst, s.results[:min(s.sel.K, len(s.results))]...)
}

// score returns the exact score of row i.
func (x *Index) score(i int, query []float32) float64 {
	return float64(float32(exactDot(x.row(i), query)))
}

// Scores returns the scores of all rows, by id, and overwrites dst. The error wraps [ErrVector].
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
	return dst, x.Err()
}

// selector collects rows with a lower and an upper bound of their score. It keeps those that the parameters
// admit and that can be among the K best: whose upper bound reaches the K-th largest lower bound.
type selector struct {
	Params
	lows  rank.Top[int32] // the K largest lower bounds
	cut   float32         // the K-th largest lower bound, -Inf before there are K
	kept  []candidate
	limit int // length of kept at which it is pruned
}

type candidate struct {
	id    int32
	upper float32
}

func (s *selector) reset(p Params) {
	s.Params, s.kept = p, s.kept[:0]
	s.lows.Reset(p.K)
	s.cut = float32(math.Inf(-1))
	s.limit = 4*p.K + 1024
}

// offer adds a row. The caller should drop rows with upper < s.cut without a call.
func (s *selector) offer(id int32, lower, upper float32) {
	if s.Keep != nil && !s.Keep(id) {
		return
	}
	if len(s.kept) >= s.limit {
		s.prune()
		s.limit = max(s.limit, 2*len(s.kept))
	}
	s.kept = append(s.kept, candidate{id, upper})
	s.lows.Push(id, float64(lower))
	s.cut = float32(s.lows.Threshold())
}

// prune removes candidates whose upper bound is below the cut.
func (s *selector) prune() {
	kept := s.kept[:0]
	for _, c := range s.kept {
		if c.upper >= s.cut {
			kept = append(kept, c)
		}
	}
	s.kept = kept
}
