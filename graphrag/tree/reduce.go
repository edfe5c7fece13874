// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"context"
	"math"

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

// centered returns the vectors less their mean.
func centered(vectors []float32, dim int) svd.Dense {
	mean, data := make([]float64, dim), make([]float64, len(vectors))
	for i := 0; i < len(vectors); i += dim {
		for j, c := range vectors[i : i+dim] {
			mean[j] += float64(c)
		}
	}
	for j := range mean {
		mean[j] /= float64(len(vectors) / dim)
	}
	for i := 0; i < len(vectors); i += dim {
		row, less := vectors[i:i+dim], data[i:i+dim]
		for j, m := range mean {
			less[j] = float64(row[j]) - m
		}
	}
	return svd.Dense{Data: data, Cols: dim}
}
