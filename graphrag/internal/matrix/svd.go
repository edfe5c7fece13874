// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"cmp"
	"context"
	"errors"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
	"gonum.org/v1/gonum/mat"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// oversample is the number of columns that the sketch has in addition to the rank, for reliability (Halko,
// Martinsson and Tropp, "Finding Structure with Randomness", SIAM Review 53(2), 2011, section 4.2, advise 5 to
// 10).
const oversample = 10

// stride is the number of entries between two checks of the context.
const stride = 1 << 16

// Matrix is a matrix A that is known by its products.
type Matrix interface {
	Dims() (rows, cols int)
	// Mul computes out = A·x and MulT out = Aᵀ·x, where x and out are dense matrices of width columns. The only
	// error is the context's.
	Mul(ctx context.Context, out, x []float64, width int) error
	MulT(ctx context.Context, out, x []float64, width int) error
}

// Single is a Matrix that also has products in single precision, which is enough for the power iteration.
type Single interface {
	Matrix
	MulSingle(ctx context.Context, out, x []float32, width int) error
	MulTSingle(ctx context.Context, out, x []float32, width int) error
}

// Truncated returns the leading singular values of a, in descending order, and its singular vectors: u has one
// row per row of a, v one per column of a, and both one column per singular value. There are at most rank;
// values that are zero within rounding are omitted. Rounds is the number of power iterations (Halko and others,
// section 4.5: one or two where singular values fall slowly, as for text).
//
// The method is subspace iteration (their Algorithm 4.4) with orthonormalization on one side only, followed by
// a Rayleigh–Ritz step in place of Algorithm 5.1: the eigenvectors of Qᵀ(AAᵀ)Q give U, and V = AᵀUΣ⁻¹. So all
// dense matrices are as high as A, and none as high as A is wide. Squaring A costs half of the digits: singular
// values below about 1e-7 of the largest are lost.
//
// The sign of each column of v makes its largest component positive. Equal seeds give equal bits on the same
// kind of processor.
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
	w := make([]float64, n*width) // the product A·Aᵀ·Q
	if err := a.Mul(ctx, w, z, width); err != nil {
		return nil, nil, nil, err
	}
	var best found // separate from the results, since ritz may outlast this call
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

// space holds the products of a matrix in one precision.
type space[F float32 | float64] struct {
	mul, mulT func(ctx context.Context, out, x []F, width int) error
}

// sketch returns an orthonormal basis that approximately spans the leading singular vectors of an n×m matrix.
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

// copyAs copies numbers to another precision.
func copyAs[T, F float32 | float64](dst []T, src []F) {
	for i, x := range src {
		dst[i] = T(x)
	}
}

// aside runs dense arithmetic, which cannot be interrupted, and returns early when the context is cancelled:
// the work then ends within seconds, and its result is dropped.
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

// found holds the leading singular values and left singular vectors of a matrix.
type found struct{ sigma, u []float64 }

// ritz finds the singular values and vectors of A in the span of q, whose columns are orthonormal; w is AAᵀq.
// Both have cols columns.
func (f *found) ritz(ctx context.Context, q, w []float64, cols, rank int) error {
	small := make([]float64, cols*cols)
	if err := (Dense{q, cols}).gram(ctx, small, w); err != nil {
		return err
	}
	var eigen mat.EigenSym // reads the upper triangle only
	if !eigen.Factorize(mat.NewSymDense(cols, small), true) {
		return errors.New("the eigenvalues of a symmetric matrix did not converge")
	}
	values := eigen.Values(nil) // eigenvalues in ascending order
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

// fixSigns makes the component of largest magnitude of each column of v positive (the first of equals), and
// adapts u.
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

// worstCondition is the largest condition number at which columns are orthonormalized by the Cholesky factor of
// their Gram matrix. The error is the condition number's square times 1e-16, small enough for a second pass to
// remove.
const worstCondition = 1e6

// basis writes to q columns that span the space of the cols columns of y and are nearly orthonormal. A second
// pass makes them orthonormal.
//
// The method is Cholesky QR (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff Error Analysis of the
// CholeskyQR2 Algorithm", ETNA 44, 2015), which needs only products, and QR by reflections for nearly dependent
// columns.
func basis(ctx context.Context, q, y []float64, cols int) error {
	gram := make([]float64, cols*cols)
	if err := (Dense{y, cols}).gram(ctx, gram, y); err != nil {
		return err
	}
	if invertCholesky(gram, cols) {
		return Dense{y, cols}.mulUpper(ctx, q, gram)
	}
	copy(q, y)
	reflect(q, cols)
	return nil
}

// invertCholesky replaces a by the inverse of its Cholesky factor R, with RᵀR = a, which is upper triangular.
// It returns false if the condition number of R is too large.
func invertCholesky(a []float64, n int) bool {
	r, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Upper, N: n, Data: a, Stride: n})
	if !ok {
		return false
	}
	for i := range n {
		clear(a[i*n : i*n+i])
	}
	before := norm(a)
	return lapack64.Trtri(r) && before*norm(a) <= worstCondition
}

// norm returns the Frobenius norm of a matrix.
func norm(a []float64) float64 {
	sum := 0.0
	for _, x := range a {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// reflect replaces the columns of y by an orthonormal basis of their span, by QR decomposition.
func reflect(y []float64, cols int) {
	a := blas64.General{Rows: len(y) / cols, Cols: cols, Stride: cols, Data: y}
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

// Dense is a matrix stored by rows, each of Cols numbers.
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

// mulUpper is Mul for an upper triangular matrix b.
func (a Dense) mulUpper(ctx context.Context, out, b []float64) error {
	return product{out: out, a: a.Data, rows: len(a.Data) / a.Cols, inner: a.Cols, row: a.Cols, step: 1, triangular: true}.by(ctx, b, a.Cols)
}

// gram computes the upper triangle, with the diagonal, of out = aᵀ·b, where b has as many columns as a. The
// rest of out is undefined.
func (a Dense) gram(ctx context.Context, out, b []float64) error {
	return product{out: out, a: a.Data, rows: a.Cols, inner: len(a.Data) / a.Cols, row: 1, step: a.Cols, upper: true}.by(ctx, b, a.Cols)
}

// A product is computed in tiles of height rows and lanes columns. A goroutine takes the tiles of bands·height
// rows at a time.
const (
	height, lanes = 8, 24
	bands         = 8
)

// tile is a tile of a product.
type tile [height * lanes]float64

// product is a product whose left factor has the entry (i, k) at a[i*row+k*step]. Each entry of the result is
// one sum, in the order of k, by fused multiply-add: all processors give the same bits, with any number of
// goroutines.
type product struct {
	out, a     []float64
	rows       int // number of rows of out
	inner      int
	row, step  int
	triangular bool // the right factor is upper triangular
	upper      bool // only the upper triangle of the result is needed
}

// by computes the product with the right factor b, which has cols columns.
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

// tile computes a tile that contains row i, and returns its first row.
func (p product) tile(sums *tile, panel []float64, i int) (first int) {
	if p.rows < height {
		sumTile(sums, p.a[i*p.row:], panel, p.rows-i, p.row, p.step)
		return i
	}
	first = min(i, p.rows-height)
	fastTile(sums, p.a[first*p.row:], panel, p.row, p.step)
	return first
}

// packTiles returns the columns of a matrix in panels of lanes columns; the last panel is padded with zeros.
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

// sumTile computes the first rows of a tile: row r is the sum over k of a[r*row+k*step] · row k of the panel.
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
