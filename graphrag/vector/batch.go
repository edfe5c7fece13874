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
	// batchRows are read once for all the queries of a block: 64 rows of 384
	// floats fill 96 kB, a part of the second cache.
	batchRows = tileRows
	// batchQueries share one reading of the matrix: 256 queries of 384
	// floats fill 384 kB, a part of the second cache, and 256 products per
	// float outweigh the reading by far.
	batchQueries = 256
	// tileBatch is batchQueries for queries of a byte a component, of which each tile of
	// codes is turned once.
	tileBatch = 1024
)

// SearchBatch is [Index.SearchWith] for many queries: results[i] belongs to
// queries[i]. Every row is read once for hundreds of queries, which makes a
// query several times cheaper than a single one. The error names each
// unusable query and wraps [ErrVector]; or it is that of ctx, which is looked
// at between blocks of rows.
func (x *Index) SearchBatch(ctx context.Context, queries [][]float32, p Params) ([][]rank.Scored[int32], error) {
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
	if p.K = min(p.K, x.n); p.K <= 0 {
		return results, nil
	}
	if x.reads(p) < x.n || x.graph != nil && p.Beam > 0 {
		return results, x.searchEach(ctx, queries, lengths, p, results)
	}
	size, group := batchQueries, queryGroup
	if x.tiled() {
		size, group = tileBatch, tileQueries
	}
	size = min(size, roundUp(1+(len(queries)-1)/x.opts.Workers, group))
	batches := make([]batch, x.opts.Workers)
	err := par.Ranges(ctx, len(queries), size, x.opts.Workers, func(worker, first, last int) error {
		batches[worker].search(ctx, x, queries[first:last], lengths[first:last], p, results[first:last])
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("vector: search batch of %d: %w", len(queries), err)
	}
	return results, nil
}

// tiled says that a batch is faster over the codes.
func (x *Index) tiled() bool { return x.quantized() && x.kernels.tile != nil }

// searchEach answers one query after the other: they do not read the same rows.
func (x *Index) searchEach(ctx context.Context, queries [][]float32, lengths []float64, p Params, results [][]rank.Scored[int32]) error {
	err := par.Each(ctx, len(queries), x.opts.Workers, func(i int) error {
		s := x.scratch.Get().(*scratch)
		defer x.scratch.Put(s)
		s.setQuery(queries[i], lengths[i], x)
		results[i] = x.find(s, p, 1, make([]rank.Scored[int32], 0, p.K))
		return nil
	})
	if err != nil {
		return fmt.Errorf("vector: search batch of %d: %w", len(queries), err)
	}
	return nil
}

// batch answers blocks of queries, one block after the other.
type batch struct {
	queries []float32 // padded, and filled up to whole groups
	slacks  []float32
	sels    []selector
	dots    []float32
	tiles   tiles
	rescore scratch
}

func (b *batch) search(ctx context.Context, x *Index, queries [][]float32, lengths []float64, p Params, results [][]rank.Scored[int32]) {
	b.set(x, queries, lengths, p)
	for first := 0; first < x.n; first += batchRows {
		if ctx.Err() != nil {
			return
		}
		if n := min(batchRows, x.n-first); x.tiled() {
			b.tiles.scan(x, first, n, b.sels)
		} else {
			b.scan(x, first, n, len(queries))
		}
	}
	for i := range queries {
		results[i] = make([]rank.Scored[int32], 0, p.K)
		if lengths[i] == 0 {
			results[i] = x.firstRows(p, results[i])
			continue
		}
		b.rescore.sel, b.sels[i] = b.sels[i], b.rescore.sel // to share one buffer of results
		results[i] = x.rescore(&b.rescore, b.query(x, i), results[i])
		b.rescore.sel, b.sels[i] = b.sels[i], b.rescore.sel
	}
}

func (b *batch) query(x *Index, i int) []float32 { return b.queries[i*x.stride : (i+1)*x.stride] }

// set prepares a block of queries.
func (b *batch) set(x *Index, queries [][]float32, lengths []float64, p Params) {
	size := roundUp(len(queries), queryGroup*tileQueries)
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
		b.sels[i].reset(p)
		if lengths[i] == 0 {
			b.sels[i].cut = float32(math.Inf(1)) // wants no candidates
		}
	}
	for i := len(queries); i < len(b.sels); i++ {
		b.sels[i].cut = float32(math.Inf(1))
	}
	if x.tiled() {
		b.tiles.set(x, b, lengths)
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
