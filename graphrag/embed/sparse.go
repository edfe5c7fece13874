// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/internal/svd"
)

// sparse is a matrix in compressed rows: row i has the entries
// starts[i]..starts[i+1]-1, columns ascending.
type sparse struct {
	cols   int
	starts []int
	col    []int32
	val    []float32
}

func newSparse(cols int) *sparse { return &sparse{cols: cols, starts: []int{0}} }

func (a *sparse) rows() int { return len(a.starts) - 1 }

// add appends a row.
func (a *sparse) add(row []weighted) {
	for _, e := range row {
		a.col = append(a.col, e.term)
		a.val = append(a.val, float32(e.weight))
	}
	a.starts = append(a.starts, len(a.col))
}

// transpose returns the transposed matrix.
func (a *sparse) transpose() *sparse {
	t := &sparse{
		cols:   a.rows(),
		starts: make([]int, a.cols+1),
		col:    make([]int32, len(a.col)),
		val:    make([]float32, len(a.val)),
	}
	for _, c := range a.col {
		t.starts[c+1]++
	}
	for i := range a.cols {
		t.starts[i+1] += t.starts[i]
	}
	next := append([]int(nil), t.starts...)
	for i := range a.rows() {
		for k := a.starts[i]; k < a.starts[i+1]; k++ {
			at := next[a.col[k]]
			next[a.col[k]]++
			t.col[at], t.val[at] = int32(i), a.val[k]
		}
	}
	return t
}

// mul computes out = a·x, where x and out are dense with width columns. Each
// row of out is one goroutine's, and added up in the order of the columns:
// the result does not depend on how many goroutines there are. The error is
// that of ctx.
func (a *sparse) mul(ctx context.Context, out, x []float64, width, workers int) error {
	return a.each(ctx, workers, func(i int, cols []int32, vals []float32) {
		sumRows(out[i*width:(i+1)*width], x, cols, vals, sumFirst64)
	})
}

// mulSingle is mul in single precision, several times as fast.
func (a *sparse) mulSingle(ctx context.Context, out, x []float32, width, workers int) error {
	return a.each(ctx, workers, func(i int, cols []int32, vals []float32) {
		sumRows(out[i*width:(i+1)*width], x, cols, vals, sumFirst)
	})
}

// each calls do with every row, some at a time.
func (a *sparse) each(ctx context.Context, workers int, do func(i int, cols []int32, vals []float32)) error {
	return par.Ranges(ctx, a.rows(), grain, workers, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			start, end := a.starts[i], a.starts[i+1]
			do(i, a.col[start:end], a.val[start:end])
		}
		return nil
	})
}

// operator is a sparse matrix that package svd can decompose.
type operator struct {
	matrix, transposed *sparse
	workers            int
}

func (o operator) Dims() (rows, cols int) { return o.matrix.rows(), o.matrix.cols }

func (o operator) Mul(ctx context.Context, out, x []float64, width int) error {
	return o.matrix.mul(ctx, out, x, width, o.workers)
}

func (o operator) MulT(ctx context.Context, out, x []float64, width int) error {
	return o.transposed.mul(ctx, out, x, width, o.workers)
}

func (o operator) MulSingle(ctx context.Context, out, x []float32, width int) error {
	return o.matrix.mulSingle(ctx, out, x, width, o.workers)
}

func (o operator) MulTSingle(ctx context.Context, out, x []float32, width int) error {
	return o.transposed.mulSingle(ctx, out, x, width, o.workers)
}

// powerIterations bring the neighbours of texts as near to those of the exact
// decomposition as scikit-learn's default, 5, does; with 2 a fifth of ten are others.
const powerIterations = 5

// rightSingular returns the leading singular values of a and its right singular
// vectors.
func rightSingular(ctx context.Context, a *sparse, rank int, seed uint64, workers int) (sigma, v []float64, err error) {
	sigma, _, v, err = svd.Truncated(ctx, operator{a, a.transpose(), workers}, rank, powerIterations, seed)
	return sigma, v, err
}
