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
	length  float64   // of query
	code    []int16   // of query
	step    float32   // of code
	slack   float32   // how far an estimate may be off, see floatError and codeError
	rows    []float32 // of a block, see Index.block
	dots    []float32
	sums    []int32
	near    []rank.Scored[int32] // lists
	spans   []span
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
	// Lists is how many lists are read, if the index has some ([Options].Lists): those
	// whose centers are nearest to the query, and more if they hold fewer than K rows
	// to keep. 0 means an eighth of them, at least 8. The result is exact for the
	// rows in these lists, and exact for all rows if Lists is the number of lists or more.
	Lists int
}

// span are the rows from first to before last, in the order of the codes.
type span struct{ first, last int }

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
	s.setQuery(query, length, x)
	return x.find(s, p, x.opts.Workers, dst), nil
}

// find appends what is to be found for the query of s.
func (x *Index) find(s *scratch, p Params, workers int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	if s.length == 0 {
		return x.firstRows(p, dst)
	}
	for lists := x.lists.effort(p.Lists); ; lists *= 2 {
		all := x.probe(s, lists)
		s.sel.reset(p)
		x.scanAll(s, workers)
		if all || len(s.sel.kept) >= p.K {
			return x.rescore(s, s.query, dst)
		}
	}
}

// setQuery keeps a padded copy of the query, scaled if the index is for cosines.
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

// scanAll offers the rows of all spans to s.sel, or to the selectors of s.parts, whose
// candidates it takes over.
func (x *Index) scanAll(s *scratch, workers int) {
	rows := 0
	for _, at := range s.spans {
		rows += at.last - at.first
	}
	if workers = min(workers, 1+rows/shardRows, len(s.spans)); workers <= 1 {
		s.prepare(x)
		for _, at := range s.spans {
			x.scan(s, at)
		}
		return
	}
	for len(s.parts) < workers {
		s.parts = append(s.parts, new(scratch))
	}
	for _, part := range s.parts[:workers] {
		part.query, part.length = append(part.query[:0], s.query...), s.length
		part.sel.reset(s.sel.Params)
		part.prepare(x)
	}
	_ = par.Ranges(context.Background(), len(s.spans), 1, workers, func(worker, i, _ int) error {
		x.scan(s.parts[worker], s.spans[i])
		return nil
	})
	for _, part := range s.parts[:workers] {
		s.sel.cut = max(s.sel.cut, part.sel.cut)
		s.sel.kept = append(s.sel.kept, part.sel.kept...)
		part.sel.Keep = nil
	}
}

// prepare makes ready for scans with the query.
func (s *scratch) prepare(x *Index) {
	if !x.quantized() {
		s.dots = slices.Grow(s.dots[:0], blockRows)[:blockRows]
		s.slack = ceil32(floatError(x.stride, x.longest, s.length))
		return
	}
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	s.code = slices.Grow(s.code[:0], x.stride)[:x.stride]
	step, rest := codeQuery(s.code, s.query, s.length)
	s.step, s.slack = float32(step), ceil32(codeError(rest, x.longest, x.codes.longest, s.length))
}

// scan offers the rows of a span to s.sel.
func (x *Index) scan(s *scratch, at span) {
	for ; at.first < at.last; at.first += blockRows {
		n := min(blockRows, at.last-at.first)
		if x.quantized() {
			x.scanCodes(s, at.first, n)
		} else {
			x.scanRows(s, at.first, n)
		}
	}
}

func (x *Index) scanRows(s *scratch, first, n int) {
	dots := s.dots[:roundUp(n, rowGroup)]
	x.kernels.dot(dots, x.block(s, first, n), s.query)
	reach := s.sel.cut - s.slack
	for i, dot := range dots[:n] {
		if dot >= reach {
			x.offer(s, first+i, dot-s.slack, dot+s.slack)
			reach = s.sel.cut - s.slack
		}
	}
}

// scanCodes is scanRows over the codes, with the query scaled to length 1.
func (x *Index) scanCodes(s *scratch, first, n int) {
	sums := s.sums[:roundUp(n, rowGroup)]
	x.kernels.dotCodes(sums, x.codes.values.part(first, len(sums)), s.code)
	bounds := x.codes.bounds.part(first, n)
	for i, sum := range sums[:n] {
		b := bounds[i]
		dot, margin := float32(sum)*(s.step*b.scale), b.rest+s.slack
		if dot+margin >= s.sel.cut {
			x.offer(s, first+i, dot-margin, dot+margin)
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
