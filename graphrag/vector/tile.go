// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"math/bits"
	"slices"
)

// tiles are a first look at all rows for a batch of queries that are coded in bytes as
// rows are: four products for each of a float kernel. Its bound is about twice as wide as
// that of [Index.scanCodes], which has the last word about the few rows that are left.
type tiles struct {
	queries []int8 // in groups of tileQueries, four bytes of each in turn
	probes  []probe
	slacks  []float32 // of the probes
	codes   []queryCode
	margins []float32 // of the codes
	masks   []uint64  // of the rows of a tile that a query wants

	code   []int8
	rows   []int8 // the last ones, filled up
	tile   []uint8
	bounds tileBounds
	sums   [rowGroup]int32
}

// set prepares for queries. Those without a length want nothing.
func (t *tiles) set(x *Index, b *batch, lengths []float64) {
	size := roundUp(len(lengths), tileQueries)
	t.queries = slices.Grow(t.queries[:0], size*x.stride)[:size*x.stride]
	clear(t.queries)
	t.probes = slices.Grow(t.probes[:0], size)[:size]
	t.slacks = slices.Grow(t.slacks[:0], size)[:size]
	t.margins = slices.Grow(t.margins[:0], size)[:size]
	t.masks = slices.Grow(t.masks[:0], size)[:size]
	t.tile = slices.Grow(t.tile[:0], tileRows*x.stride)[:tileRows*x.stride]
	t.code = slices.Grow(t.code[:0], x.stride)[:x.stride]
	for len(t.codes) < size {
		t.codes = append(t.codes, queryCode{})
	}
	for i := range t.probes {
		t.probes[i], t.slacks[i] = probe{}, float32(math.Inf(-1))
		if i < len(lengths) && lengths[i] > 0 {
			t.setQuery(x, i, b.query(x, i))
		}
	}
}

func (t *tiles) setQuery(x *Index, i int, query []float32) {
	length := norm(query)
	code := &t.codes[i]
	code.set(query, length)
	t.margins[i] = ceil32(codeError(code.rest, x.longest, x.codes.longest, length))
	b := codeRow(t.code, query)
	rest := float64(b.rest) / length * (1 + 0x1p-50)
	// Beside what codeError holds, a wanted sum less this slack is rounded.
	reach := (1 + rest) * (x.longest + x.codes.longest)
	t.slacks[i] = ceil32(codeError(rest, x.longest, x.codes.longest, length) + 8*0x1p-24*reach)
	t.probes[i] = probe{step: float32(float64(b.scale) / length)}
	group := t.queries[i/tileQueries*tileQueries*x.stride:]
	for j, c := range t.code {
		group[j/4*4*tileQueries+i%tileQueries*4+j%4] = c
		t.probes[i].offset += 128 * int32(c)
	}
}

// scan offers n rows from first on to the selectors of all queries.
func (t *tiles) scan(x *Index, first, n int, sels []selector) {
	rows := x.codes.values.part(first, n)
	if n < tileRows {
		t.rows = slices.Grow(t.rows[:0], tileRows*x.stride)[:tileRows*x.stride]
		clear(t.rows[copy(t.rows, rows):])
		rows = t.rows
	}
	x.kernels.pack(t.tile, rows, x.stride)
	for i := range tileRows {
		t.bounds[i], t.bounds[tileRows+i] = 0, float32(math.NaN()) // reaches nothing
	}
	for i, b := range x.codes.bounds.part(first, n) {
		t.bounds[i], t.bounds[tileRows+i] = b.scale, b.rest
	}
	for i := range t.probes {
		t.probes[i].want = sels[i].cut - t.slacks[i]
	}
	x.kernels.tile(t.masks, t.tile, &t.bounds, t.queries, t.probes, x.stride)
	for q, mask := range t.masks {
		for ; mask != 0; mask &= mask - 1 {
			t.offer(x, first+bits.TrailingZeros64(mask), q, &sels[q])
		}
	}
}

// offer takes a row that a query wants as single searches do.
func (t *tiles) offer(x *Index, row, q int, sel *selector) {
	group := row / rowGroup * rowGroup
	code, b := &t.codes[q], x.codes.bounds.part(row, 1)[0]
	x.kernels.dotCodes(t.sums[:], x.codes.values.part(group, rowGroup), code)
	dot, margin := float32(t.sums[row-group])*(float32(code.step)*b.scale), b.rest+t.margins[q]
	if dot+margin >= sel.cut {
		sel.offer(int32(row), dot-margin, dot+margin)
	}
}
