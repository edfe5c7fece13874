// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"

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
	// width columns. The error is the error of ctx.
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
// column per singular value. There are at most rank; values that are zero within
// rounding are left out. Rounds of power iteration sharpen the spectrum (section
// 4.5 there: one or two where singular values fall slowly, as for text).
//
// It is subspace iteration (Algorithm 4.4 there) with the orthonormalization on one
// side only, followed by a Rayleigh–Ritz step in place of Algorithm 5.1: the
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
	if err := aside(ctx, func() error { return best.ritz(ctx, q, w, width, rank) }); err != nil || len(best.sigma) == 0 {
		return nil, nil, nil, err
	}
	sigma, u = best.sigma, best.u
	v = z[:m*len(sigma)]
	if err := a.MulT(ctx, v, u, len(sigma)); err != nil {
		return nil, nil, nil, err
	}
	for i := 0; i < len(v); i += len(sigma) {
		row := v[i : i+len(sigma)]
		for j, s := range sigma {
			row[j] /= s
		}
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
	wide := make([]float64, n*width)
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
		copyAs(wide, y)
		if err := aside(ctx, func() error { return basis(ctx, q, wide, width) }); err != nil {
			return nil, err
		}
	}
	if err := aside(ctx, func() error { return basis(ctx, wide, q, width) }); err != nil {
		return nil, err
	}
	return wide, nil
}

// copyAs copies numbers in another precision.
func copyAs[T, F float32 | float64](dst []T, src []F) {
	for i, x := range src {
		dst[i] = T(x)
	}
}

// aside runs dense arithmetic, which cannot be interrupted, and returns early when
// the context ends: the arithmetic ends within seconds and its result is dropped.
func aside(ctx context.Context, work func() error) error {
	done := make(chan error, 1)
	go func() { done <- work() }()
	select {
	case err := <-done:
		return cmp.Or(ctx.Err(), err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// found are the leading singular values and the left singular vectors of A.
type found struct{ sigma, u []float64 }

// ritz finds them in the space of q, whose columns are orthonormal; w is AAᵀq. Both have
// cols columns.
func (f *found) ritz(ctx context.Context, q, w []float64, cols, rank int) error {
	small := make([]float64, cols*cols)
	if err := (Dense{q, cols}).gram(ctx, small, w); err != nil {
		return err
	}
	var eigen mat.EigenSym // reads the upper half
	if !eigen.Factorize(mat.NewSymDense(cols, small), true) {
		return errors.New("the eigenvalues of a symmetric matrix did not converge")
	}
	values := eigen.Values(nil) // ascending
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)

	floor := values[cols-1] * float64(cols) * 0x1p-52
	for i := cols - 1; i >= max(0, cols-rank) && values[i] > floor; i-- {
		f.sigma = append(f.sigma, math.Sqrt(values[i]))
	}
	if rank = len(f.sigma); rank == 0 {
		return nil
	}
	turn := make([]float64, cols*rank)
	for j := range rank {
		for i := range cols {
			turn[i*rank+j] = vectors.At(i, cols-1-j)
		}
	}
	f.u = make([]float64, len(q)/cols*rank)
	return Dense{q, cols}.Mul(ctx, f.u, turn, rank)
}

// fixSigns makes the component of largest magnitude of each column of v positive,
// the first of several.
func fixSigns(u, v []float64, cols int) {
	largest := make([]float64, cols)
	for i := 0; i < len(v); i += cols {
		for j, x := range v[i : i+cols] {
			if math.Abs(x) > math.Abs(largest[j]) {
				largest[j] = x
			}
		}
	}
	for _, rows := range [][]float64{u, v} {
		for i := 0; i < len(rows); i += cols {
			row := rows[i : i+cols]
			for j, x := range largest {
				if x < 0 {
					row[j] = -row[j]
				}
			}
		}
	}
}
