// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"math/rand/v2"
	"testing"
)

// The projection is the product with its matrix, whose sums are those of float64 in the
// order of the components; vectors that are short stay.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var f transform
	for range 3 {
		v := make([]float32, 3*perceivedDim+1)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		v[7] = 0
		got := f.apply(v)
		for j := range perceivedDim {
			want := 0.0
			for i, x := range v {
				want += float64(float64(x) * f.matrix[i*perceivedDim+j])
			}
			if got[j] != float32(want) {
				t.Fatalf("component %d is %v, want %v", j, got[j], want)
			}
		}
	}
	if short := []float32{1, 2, 3}; len(f.apply(short)) != len(short) {
		t.Error("a short vector was projected")
	}
}
