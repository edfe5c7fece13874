// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// Dense is a matrix of rows of length Cols.
type Dense struct {
	Data []float64
	Cols int
}

// Dims implements [Matrix].
func (a Dense) Dims() (rows, cols int) { return len(a.Data) / a.Cols, a.Cols }

// Mul implements [Matrix].
func (a Dense) Mul(ctx context.Context, out, x []float64, width int) error {
	return product{out: out, a: a.Data, rows: len(a.Data) / a.Cols, inner: a.Cols, row: a.Cols, step: 1}.by(ctx, x, width)
}

// MulT implements [Matrix].
func (a Dense) MulT(ctx context.Context, out, x []float64, width int) error {
	return product{out: out, a: a.Data, rows: a.Cols, inner: len(a.Data) / a.Cols, row: 1, step: a.Cols}.by(ctx, x, width)
}

// mulUpper is Mul for a square matrix b whose entries below the diagonal are zeros.
func (a Dense) mulUpper(ctx context.Context, out, b []float64) error {
	return product{out: out, a: a.Data, rows: len(a.Data) / a.Cols, inner: a.Cols, row: a.Cols, step: 1, triangular: true}.by(ctx, b, a.Cols)
}

// gram computes the entries on and above the diagonal of out = aᵀ·b, where b has as many
// columns as a. The entries below the diagonal are undefined.
func (a Dense) gram(ctx context.Context, out, b []float64) error {
	return product{out: out, a: a.Data, rows: a.Cols, inner: len(a.Data) / a.Cols, row: 1, step: a.Cols, upper: true}.by(ctx, b, a.Cols)
}

// A product is made of tiles of height rows and lanes columns. A goroutine takes the
// tiles of some bands of height rows at a time.
const (
	height, lanes = 8, 24
	bands         = 8
)

// tile is a part of a product.
type tile [height * lanes]float64

// product is one with a left factor whose entry (i, k) is a[i*row+k*step]. Each entry of it
// is one sum, in the order of k, of products that are not rounded before they are added:
// all processors have the same bits, with any number of goroutines.
type product struct {
	out, a     []float64
	rows       int // of out
	inner      int
	row, step  int
	triangular bool // the right factor is zero below its diagonal
	upper      bool // only the upper triangle is asked for
}

// by multiplies by b.
func (p product) by(ctx context.Context, b []float64, cols int) error {
	panels := packTiles(b, p.inner, cols)
	return par.Ranges(ctx, p.rows, bands*height, 0, func(_, lo, hi int) error {
		var sums tile
		for c := 0; c < cols; c += lanes {
			panel := panels[c*p.inner:][:lanes*p.inner]
			if p.triangular {
				panel = panel[:lanes*min(c+lanes, p.inner)]
			}
			for i := lo; i < hi; i += height {
				if p.upper && i >= c+lanes {
					break
				}
				first := p.tile(&sums, panel, i)
				for r := i; r < min(i+height, hi); r++ {
					copy(p.out[r*cols+c:(r+1)*cols], sums[(r-first)*lanes:][:lanes])
				}
			}
		}
		return nil
	})
}

// tile computes the rows of a tile that contains row i, and returns the first of them.
func (p product) tile(sums *tile, panel []float64, i int) (first int) {
	if p.rows < height {
		sumTile(sums, p.a[i*p.row:], panel, p.rows-i, p.row, p.step)
		return i
	}
	first = min(i, p.rows-height)
	fastTile(sums, p.a[first*p.row:], panel, p.row, p.step)
	return first
}

// packTiles returns the columns of a matrix in panels of lanes, zeros beside the last ones.
func packTiles(b []float64, rows, cols int) []float64 {
	panels := make([]float64, (cols+lanes-1)/lanes*lanes*rows)
	for c := 0; c < cols; c += lanes {
		panel, n := panels[c*rows:], min(lanes, cols-c)
		for k := range rows {
			copy(panel[k*lanes:], b[k*cols+c:][:n])
		}
	}
	return panels
}

// sumTile computes the first rows of a tile: the sums over k of a[r*row+k*step] times
// row k of the panel.
func sumTile(sums *tile, a, panel []float64, rows, row, step int) {
	for r := range rows {
		out := sums[r*lanes:][:lanes]
		clear(out)
		for k := 0; k*lanes < len(panel); k++ {
			x := a[r*row+k*step]
			for c, y := range panel[k*lanes:][:len(out)] {
				out[c] = math.FMA(x, y, out[c])
			}
		}
	}
}
