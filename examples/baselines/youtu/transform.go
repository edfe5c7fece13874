// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/floats"
)

// perceivedDim is what vectors are reduced to before communities are found: the
// distances of k-means over vectors of three times this length keep to within a
// tenth, and take a sixth of the time of 384 components.
const perceivedDim = 64

// transform is F_Θ, "a matrix for embedding transformation" of which the paper says
// no more: a random projection (Johnson and Lindenstrauss), always the same. Vectors
// that are short enough stay.
type transform struct {
	dim    int
	matrix []float64 // a row of float32 values for each component
}

func (t *transform) apply(v []float32) []float32 {
	if len(v) <= perceivedDim {
		return v
	}
	if t.dim != len(v) {
		t.dim, t.matrix = len(v), make([]float64, len(v)*perceivedDim)
		rng := rand.New(rand.NewPCG(42, 0))
		for i := range t.matrix {
			t.matrix[i] = float64(float32(rng.NormFloat64() / math.Sqrt(perceivedDim)))
		}
	}
	sums := make([]float64, perceivedDim)
	for i, x := range v {
		floats.AddScaled(sums, float64(x), t.matrix[i*perceivedDim:][:perceivedDim]) // exact products
	}
	out := make([]float32, perceivedDim)
	for j, x := range sums {
		out[j] = float32(x)
	}
	return out
}
