// SPDX-License-Identifier: Apache-2.0

package matrix

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// worstCondition is up to which condition number columns are orthonormalized by the
// Cholesky factor of their Gram matrix. They are orthonormal but for its square times
// 1e-16, which is little enough for a second time to do the rest.
const worstCondition = 1e6

// basis writes columns to q that span the space of the cols columns of y and are about
// orthonormal. A second pass makes them orthonormal.
//
// It is Cholesky QR (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya, "Roundoff Error
// Analysis of the CholeskyQR2 Algorithm", ETNA 44, 2015), which is all products, and
// QR by reflections for columns near to dependent.
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

// invertCholesky replaces the upper half of a matrix by the inverse of its factor R, with
// RᵀR = a, and the rest by zeros. It returns false if R is not conditioned well enough.
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

// norm returns the Frobenius norm.
func norm(a []float64) float64 {
	sum := 0.0
	for _, x := range a {
		sum += x * x
	}
	return math.Sqrt(sum)
}

// reflect replaces the columns of y by an orthonormal basis of what they span, by QR
// decomposition.
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
