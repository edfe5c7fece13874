// SPDX-License-Identifier: Apache-2.0

package matrix_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/internal/check"
)

func dense(a *mat.Dense) matrix.Dense {
	return matrix.Dense{Data: a.RawMatrix().Data, Cols: a.RawMatrix().Cols}
}

// At full rank the product of the factors is the matrix, and the values are those of LAPACK's decomposition.
func TestTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, shape := range [][2]int{{1, 1}, {30, 8}, {8, 30}, {40, 40}} {
		n, m := shape[0], shape[1]
		a := mat.NewDense(n, m, nil)
		a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
		sigma, u, v, err := matrix.Truncated(t.Context(), dense(a), min(n, m), 4, 7)
		check.Must(t, err == nil && len(sigma) == min(n, m), "%v: %d values, %v", shape, len(sigma), err)
		var exact mat.SVD
		exact.Factorize(a, mat.SVDNone)
		for i, want := range exact.Values(nil) {
			check.True(t, math.Abs(sigma[i]-want) <= 1e-6*sigma[0],
				"%v: value %d is %v, want %v", shape, i, sigma[i], want)
		}
		var product, again mat.Dense
		product.Mul(mat.NewDense(n, len(sigma), u), mat.NewDiagDense(len(sigma), sigma))
		again.Mul(&product, mat.NewDense(m, len(sigma), v).T())
		check.True(t, mat.EqualApprox(a, &again, 1e-6), "%v: the product of the factors is another matrix", shape)
	}
}

func TestDegenerate(t *testing.T) {
	sigma, _, _, err := matrix.Truncated(t.Context(), matrix.Dense{Data: make([]float64, 6), Cols: 2}, 2, 1, 0)
	check.True(t, err == nil && len(sigma) == 0, "zeros: %v, %v", sigma, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, _, err = matrix.Truncated(ctx, matrix.Dense{Data: make([]float64, 6), Cols: 2}, 2, 1, 0)
	check.Is(t, err, context.Canceled, "cancelled")
}

// cancels ends its context while products are computed.
type cancels struct {
	matrix.Dense
	after int
	end   context.CancelFunc
}

func (c *cancels) Mul(ctx context.Context, out, x []float64, width int) error {
	if c.after--; c.after == 0 {
		c.end()
	}
	c.Dense.Mul(context.Background(), out, x, width)
	return nil
}

func (c *cancels) MulT(_ context.Context, out, x []float64, width int) error {
	return c.Dense.MulT(context.Background(), out, x, width)
}

// A cancelled context also ends the dense computations between the products.
func TestCancelledBetweenProducts(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	a := mat.NewDense(60, 50, nil)
	a.Apply(func(_, _ int, _ float64) float64 { return rng.NormFloat64() }, a)
	for after := 1; after <= 5; after++ { // after 1, 2 and 3 products the factors, after 4 the Rayleigh–Ritz step
		ctx, cancel := context.WithCancel(t.Context())
		m := &cancels{dense(a), after, cancel}
		_, _, _, err := matrix.Truncated(ctx, m, 10, 2, 1)
		check.True(t, after > 4 || errors.Is(err, context.Canceled) && m.after == 0,
			"ended at product %d: %v, %d further ones", after, err, -m.after)
		check.True(t, after != 5 || err == nil, "%v", err)
		cancel()
	}
}
