// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/wildgraph/wildgraph/graphrag/internal/svd"
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

const (
	powerRounds = 2
	smallest    = 1e-6 // least deviation of a component, in parts of the first
)

// Reduce implements [Reducer].
func (pca) Reduce(ctx context.Context, vectors []float32, dim, to int) ([]float32, int, error) {
	n := len(vectors) / dim
	values, u, _, err := svd.Truncated(ctx, centered(vectors, dim), to, powerRounds, 1)
	if err != nil {
		return nil, 0, err
	}
	length := 0
	for length < len(values) && values[length] > smallest*values[0] {
		length++
	}
	if length == 0 {
		return make([]float32, n), 1, nil // all vectors are the same
	}
	reduced := make([]float32, n*length)
	for i := range reduced {
		row, j := i/length, i%length
		reduced[i] = float32(u[row*len(values)+j] * values[j] / values[0] * math.Sqrt(float64(n)))
	}
	return reduced, length, nil
}

// dense is a matrix with the products that package svd asks for.
type dense struct{ *mat.Dense }

func (d dense) Mul(ctx context.Context, out, x []float64, width int) error {
	n, m := d.Dims()
	mat.NewDense(n, width, out).Mul(d.Dense, mat.NewDense(m, width, x))
	return ctx.Err()
}

func (d dense) MulT(ctx context.Context, out, x []float64, width int) error {
	n, m := d.Dims()
	mat.NewDense(m, width, out).Mul(d.T(), mat.NewDense(n, width, x))
	return ctx.Err()
}

// centered returns the vectors less their mean.
func centered(vectors []float32, dim int) dense {
	n := len(vectors) / dim
	mean := make([]float64, dim)
	for i, c := range vectors {
		mean[i%dim] += float64(c)
	}
	data := make([]float64, len(vectors))
	for i, c := range vectors {
		data[i] = float64(c) - mean[i%dim]/float64(n)
	}
	return dense{mat.NewDense(n, dim, data)}
}
