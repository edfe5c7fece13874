// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"
)

// Reducer makes short vectors of long ones, such that what was near stays near:
// mixtures of Gaussians need many vectors for each component of one.
//
// Reduce returns as many rows as vectors has rows of length dim, of a length of
// its own choice of at least 1 and at most to. It does not change its argument,
// and is safe for concurrent use.
type Reducer interface {
	Reduce(ctx context.Context, vectors []float32, dim, to int) (reduced []float32, length int, err error)
}

// PCA returns the reducer onto principal components, those of the given vectors.
// Components without variance are left out, and all are scaled alike, so that
// the first one has variance 1.
func PCA() Reducer { return pca{} }

type pca struct{}

// The randomized range finder of Halko, Martinsson and Tropp (2011), section 4.5:
// directions beyond those asked for, and rounds of power iteration.
const (
	oversampling = 8
	powerRounds  = 6
	smallest     = 1e-6 // least deviation of a component, in parts of the first
)

// Reduce implements [Reducer].
func (pca) Reduce(ctx context.Context, vectors []float32, dim, to int) ([]float32, int, error) {
	n := len(vectors) / dim
	x := centered(vectors, dim)
	if k := to + oversampling; k < min(n, dim) {
		var err error
		if x, err = project(ctx, x, k); err != nil {
			return nil, 0, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	var svd mat.SVD
	if !svd.Factorize(x, mat.SVDThin) {
		return make([]float32, n), 1, nil // not for finite numbers
	}
	values := svd.Values(nil)
	length := 0
	for length < min(to, len(values)) && values[length] > smallest*values[0] {
		length++
	}
	if length == 0 {
		return make([]float32, n), 1, nil // all vectors are the same
	}
	var u mat.Dense
	svd.UTo(&u)
	reduced := make([]float32, n*length)
	for j := range length {
		scale := values[j] / values[0] * math.Sqrt(float64(n)) * sign(&u, j)
		for i := range n {
			reduced[i*length+j] = float32(u.At(i, j) * scale)
		}
	}
	return reduced, length, nil
}

// centered returns the vectors less their mean.
func centered(vectors []float32, dim int) *mat.Dense {
	n := len(vectors) / dim
	mean := make([]float64, dim)
	for i, c := range vectors {
		mean[i%dim] += float64(c)
	}
	data := make([]float64, len(vectors))
	for i, c := range vectors {
		data[i] = float64(c) - mean[i%dim]/float64(n)
	}
	return mat.NewDense(n, dim, data)
}

// project returns the coordinates of the rows of x in the k directions of
// greatest variance, nearly.
func project(ctx context.Context, x *mat.Dense, k int) (*mat.Dense, error) {
	_, dim := x.Dims()
	rng := rand.New(rand.NewPCG(1, 1)) // any start will do
	start := make([]float64, dim*k)
	for i := range start {
		start[i] = rng.NormFloat64()
	}
	q := mat.NewDense(dim, k, start)
	var y, z mat.Dense
	for range powerRounds {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		y.Mul(x, q)
		z.Mul(x.T(), &y)
		var qr mat.QR
		qr.Factorize(&z)
		var full mat.Dense
		qr.QTo(&full)
		q = mat.DenseCopyOf(full.Slice(0, dim, 0, k))
	}
	y.Mul(x, q)
	return &y, nil
}

// sign returns the sign that makes the component of greatest magnitude positive.
func sign(u *mat.Dense, column int) float64 {
	n, _ := u.Dims()
	top := 0.0
	for i := range n {
		if v := u.At(i, column); math.Abs(v) > math.Abs(top) {
			top = v
		}
	}
	if top < 0 {
		return -1
	}
	return 1
}
