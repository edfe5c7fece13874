// SPDX-License-Identifier: Apache-2.0

package local

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/internal/check"
)

func random(rng *rand.Rand, n int) []float32 {
	x := make([]float32, n)
	for i := range x {
		x[i] = float32(rng.NormFloat64())
	}
	return x
}

// kernelSets are all that this processor can run, by name.
func kernelSets() map[string]kernels {
	return map[string]kernels{"portable": portable(), "fastest": fastest()}
}

func TestGELU(t *testing.T) {
	for name, k := range kernelSets() {
		x := []float32{0, -0x1p-140, 1e-30, 1e30, -1e30, math.MaxFloat32, -math.MaxFloat32, -12.5}
		for v := float32(-14); len(x)%matrix.Strip != 0 || v < 14; v += .00731 {
			x = append(x, v)
		}
		got := slices.Clone(x)
		k.gelu(got)
		for i, v := range x {
			want := float64(v) * math.Erfc(-float64(v)/math.Sqrt2) / 2
			check.True(t, math.Abs(float64(got[i])-want) <= 2e-7*math.Abs(float64(v))+1e-38,
				"%s: gelu(%v) is %v, want %v", name, v, got[i], want)
		}
	}
}

func TestSoftmax(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for name, k := range kernelSets() {
		for _, n := range []int{matrix.Strip, 2 * matrix.Strip, 256} {
			x := random(rng, n)
			for i := range x {
				x[i] *= 5
			}
			x[n-1], x[n-2] = -math.MaxFloat32, -200
			got := slices.Clone(x)
			k.softmax(got)
			sum := 0.
			for _, v := range x {
				sum += math.Exp(float64(v))
			}
			for i, v := range x {
				want := math.Exp(float64(v)) / sum
				check.True(t, math.Abs(float64(got[i])-want) <= 2e-6*want+1e-34,
					"%s: softmax(%v) is %v, want %v", name, v, got[i], want)
			}
		}
	}
}

func TestNormalize(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for _, n := range []int{32, 96, 384} {
		x, base, gain, bias := random(rng, n), random(rng, n), random(rng, n), random(rng, n)
		mean, variance := 0., 0.
		for i := range x {
			mean += float64(x[i]+base[i]) / float64(n)
		}
		for i := range x {
			d := float64(x[i]+base[i]) - mean
			variance += d * d / float64(n)
		}
		for name, k := range kernelSets() {
			got := slices.Clone(x)
			k.normalize(got, base, gain, bias, .25)
			for i := range x {
				want := (float64(x[i]+base[i])-mean)/math.Sqrt(variance+.25)*float64(gain[i]) + float64(bias[i])
				check.True(t, math.Abs(float64(got[i])-want) <= 3e-6,
					"%s: length %d: %v, want %v", name, n, got[i], want)
			}
		}
	}
}
