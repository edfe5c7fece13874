// SPDX-License-Identifier: Apache-2.0

// Package svd computes the first singular values and vectors of a large matrix that
// it knows by its products alone.
package svd

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"
)

// oversample is by how many columns the sketch is wider than the rank, which makes
// it reliable (Halko, Martinsson and Tropp, "Finding Structure with Randomness",
// SIAM Review 53(2), 2011, section 4.2, advise 5 to 10).
const oversample = 10

// stride is the number of entries between two looks at the context.
const stride = 1 << 16

// Matrix is a matrix A of rows×cols.
type Matrix interface {
	Dims() (rows, cols int)
	// Mul computes out = A·x and MulT out = Aᵀ·x, where x and out are dense with
	// width columns. The error is that of ctx.
	Mul(ctx context.Context, out, x []float64, width int) error
	MulT(ctx context.Context, out, x []float64, width int) error
}

// Single is a Matrix that knows its products in single precision as well. Those are
// enough for the power iteration, which only looks for a space.
type Single interface {
	Matrix
	MulSingle(ctx context.Context, out, x []float32, width int) error
	MulTSingle(ctx context.Context, out, x []float32, width int) error
}

// Truncated returns the leading singular values of a, largest first, and its
// singular vectors: u has one row per row of a, v one per column of a, both one
// column per singular value. There are at most rank; those that are zero as far as
// the arithmetic can tell are left out. Rounds of power iteration sharpen the
// spectrum (section 4.5 there: one or two where singular values fall slowly, as
// those of text do).
//
// It is subspace iteration (Algorithm 4.4 there) with the orthonormalization on one
// side and at the end only (before, the basis is kept apart by an LU decomposition,
// a quarter of the work, as in scikit-learn), followed by a Rayleigh–Ritz step in place of Algorithm 5.1: the
// eigenvectors of Qᵀ(AAᵀ)Q give U, and V = AᵀUΣ⁻¹. All dense work is then on
// matrices as high as A, none on those as high as A is wide. Squaring A costs half
// of the digits: singular values below about 1e-7 of the largest are lost.
//
// Each column of v has the sign that makes its largest component positive. Equal
// seeds give equal bits on one kind of processor.
func Truncated(ctx context.Context, a Matrix, rank, rounds int, seed uint64) (sigma, u, v []float64, err error) {
	n, m := a.Dims()
	width := min(rank+oversample, n, m)
	if width == 0 {
		return nil, nil, nil, nil
	}
	look := space[float64]{a.Mul, a.MulT}.sketch
	if a, ok := a.(Single); ok {
		look = space[float32]{a.MulSingle, a.MulTSingle}.sketch
	}
	q, err := look(ctx, n, m, width, rounds, rand.New(rand.NewPCG(seed, 0)))
	if err != nil {
		return nil, nil, nil, err
	}
	z := make([]float64, m*width)
	if err := a.MulT(ctx, z, q, width); err != nil {
		return nil, nil, nil, err
	}
	w := make([]float64, n*width) // AAᵀQ
	if err := a.Mul(ctx, w, z, width); err != nil {
		return nil, nil, nil, err
	}
	var best found // not the results: the work may outlast the call
	if err := aside(ctx, func() { best.sigma, best.u, best.err = ritz(q, w, n, width, rank) }); err != nil {
		return nil, nil, nil, err
	}
	sigma, u = best.sigma, best.u
	if best.err != nil || len(sigma) == 0 {
		return nil, nil, nil, best.err
	}
	v = z[:m*len(sigma)]
	if err := a.MulT(ctx, v, u, len(sigma)); err != nil {
		return nil, nil, nil, err
	}
	for i := range v {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, nil, nil, ctx.Err()
		}
		v[i] /= sigma[i%len(sigma)]
	}
	fixSigns(u, v, len(sigma))
	return sigma, u, v, nil
}

// space are the products of a matrix, in some precision.
type space[F float32 | float64] struct {
	mul, mulT func(ctx context.Context, out, x []F, width int) error
}

// sketch returns an orthonormal basis of about what the leading singular vectors of an
// n×m matrix span.
func (a space[F]) sketch(ctx context.Context, n, m, width, rounds int, rng *rand.Rand) ([]float64, error) {
	q, y, z := make([]float64, n*width), make([]F, n*width), make([]F, m*width)
	for i := range z {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		z[i] = F(rng.NormFloat64())
	}
	for i := range rounds + 1 {
		if i > 0 {
			copyAs(y, q)
			if err := a.mulT(ctx, z, y, width); err != nil {
				return nil, err
			}
		}
		if err := a.mul(ctx, y, z, width); err != nil {
			return nil, err
		}
		copyAs(q, y)
		normalize := separate
		if i == rounds {
			normalize = orthonormalize
		}
		if err := aside(ctx, func() { normalize(q, n, width) }); err != nil {
			return nil, err
		}
	}
	return q, nil
}

// copyAs copies numbers in another precision.
func copyAs[T, F float32 | float64](dst []T, src []F) {
	for i, x := range src {
		dst[i] = T(x)
	}
}

// aside runs dense arithmetic, which cannot be stopped, beside a wait for the end of
// the context: after that it comes to its own end within seconds and is of no
// account.
func aside(ctx context.Context, work func()) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		work()
	}()
	select {
	case <-done:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// separate replaces the columns of the rows×cols matrix by others that span the
// same and are far from dependent: the lower factor of its LU decomposition, rows in
// the order they had.
func separate(data []float64, rows, cols int) {
	a := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	pivots := make([]int, min(rows, cols))
	lapack64.Getrf(a, pivots) // a zero pivot leaves a column of zeros below it, which is fine
	for i := range cols {
		data[i*cols+i] = 1
		clear(data[i*cols+i+1 : (i+1)*cols])
	}
	for i := len(pivots) - 1; i >= 0; i-- {
		if p := pivots[i]; p != i {
			blas64.Swap(blas64.Vector{N: cols, Inc: 1, Data: data[i*cols : (i+1)*cols]}, blas64.Vector{N: cols, Inc: 1, Data: data[p*cols : (p+1)*cols]})
		}
	}
}

// orthonormalize replaces the columns of the rows×cols matrix by an
// orthonormal basis of what they span.
func orthonormalize(data []float64, rows, cols int) {
	a := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: data}
	tau, size := make([]float64, cols), make([]float64, 1)
	lapack64.Geqrf(a, tau, size, -1)
	work := make([]float64, int(size[0]))
	lapack64.Geqrf(a, tau, work, len(work))
	lapack64.Orgqr(a, tau, size, -1)
	if need := int(size[0]); need > len(work) {
		work = make([]float64, need)
	}
	lapack64.Orgqr(a, tau, work, len(work))
}

// found is what ritz returns.
type found struct {
	sigma, u []float64
	err      error
}

// ritz returns the leading singular values of A and the left singular vectors
// in the space of q, whose columns are orthonormal; w is AAᵀq. Both have rows
// rows and cols columns.
func ritz(q, w []float64, rows, cols, rank int) (sigma, u []float64, err error) {
	basis := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: q}
	image := blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: w}
	small := blas64.General{Rows: cols, Cols: cols, Stride: cols, Data: make([]float64, cols*cols)}
	blas64.Gemm(blas.Trans, blas.NoTrans, 1, basis, image, 0, small)
	var eigen mat.EigenSym // reads the upper half
	if !eigen.Factorize(mat.NewSymDense(cols, small.Data), true) {
		return nil, nil, errors.New("the eigenvalues of a symmetric matrix did not converge")
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)

	floor := values[cols-1] * float64(cols) * 0x1p-52
	for i := cols - 1; i >= max(0, cols-rank) && values[i] > floor; i-- {
		sigma = append(sigma, math.Sqrt(values[i]))
	}
	rank = len(sigma)
	if rank == 0 {
		return nil, nil, nil
	}
	turn := blas64.General{Rows: cols, Cols: rank, Stride: rank, Data: make([]float64, cols*rank)}
	for j := range rank {
		for i := range cols {
			turn.Data[i*rank+j] = vectors.At(i, cols-1-j)
		}
	}
	u = make([]float64, rows*rank)
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, basis, turn, 0, blas64.General{Rows: rows, Cols: rank, Stride: rank, Data: u})
	return sigma, u, nil
}

// fixSigns makes the component of largest magnitude of each column of v positive,
// the first of several.
func fixSigns(u, v []float64, cols int) {
	for j := range cols {
		largest := 0.0
		for i := j; i < len(v); i += cols {
			if math.Abs(v[i]) > math.Abs(largest) {
				largest = v[i]
			}
		}
		if largest >= 0 {
			continue
		}
		for _, x := range [][]float64{u, v} {
			for i := j; i < len(x); i += cols {
				x[i] = -x[i]
			}
		}
	}
}
