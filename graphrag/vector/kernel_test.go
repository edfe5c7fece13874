// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"math"
	"math/rand/v2"
	"testing"
)

func randomVector(rng *rand.Rand, dim int, size float64) []float32 {
	v := make([]float32, dim)
	for i := range v {
		v[i] = float32(size * rng.NormFloat64())
	}
	return v
}

// kernelSets are all that this processor can run: over floats, and over codes.
func kernelSets() map[string]kernels {
	codes := portable()
	codes.codesPay = true
	return map[string]kernels{"floats": portable(), "codes": codes, "fastest": fastest()}
}

func TestFloatsWithinErrorBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for dim := laneWidth; dim <= 40*laneWidth; dim += laneWidth * (1 + rng.IntN(5)) {
		n := rowGroup * (1 + rng.IntN(5))
		rows, query := randomVector(rng, n*dim, 1), randomVector(rng, dim, 1)
		out := make([]float32, n)
		dotRows(out, rows, query)
		for i, got := range out {
			row := rows[i*dim : (i+1)*dim]
			want, limits := exactDot(row, query), floatError(dim, norm(row), norm(query))
			if math.Abs(float64(got)-want) > limits {
				t.Fatalf("dim %d: row %d = %v, want %v ± %v", dim, i, got, want, limits)
			}
		}
	}
}

func TestCodeKernelsAreExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for name, k := range kernelSets() {
		for _, dim := range []int{laneWidth, 2 * laneWidth, 96, 384, 416, 4096, MaxDim} {
			n := 3 * rowGroup
			codes, query := make([]int8, n*dim), new(queryCode)
			for i := range codes {
				codes[i] = int8(rng.IntN(2*maxCode+1) - maxCode)
			}
			v := randomVector(rng, dim, 1)
			if dim == 96 {
				for i := range v { // as large as words are, all with one sign
					v[i] = -1
				}
			}
			query.set(v, norm(v))
			// The first row and the second reach the largest sums there are.
			for i, q := range query.words {
				codes[i], codes[dim+i] = maxCode, -maxCode
				if q < 0 {
					codes[i], codes[dim+i] = -maxCode, maxCode
				}
			}
			out := make([]int32, n)
			k.dotCodes(out, codes, query)
			for i := range n {
				var want int64
				for j, q := range query.words {
					want += int64(codes[i*dim+j]) * int64(q)
				}
				if int64(out[i]) != want {
					t.Fatalf("%s: dim %d: row %d = %d, want %d", name, dim, i, out[i], want)
				}
			}
		}
	}
}

func TestCodeErrorBound(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	for _, size := range []float64{1e-44, 1e-30, 1, 1e15} {
		for range 50 {
			dim := laneWidth * (1 + rng.IntN(12))
			row, query := randomVector(rng, dim, size), randomVector(rng, dim, 1)
			values := make([]int8, dim)
			b := codeRow(values, row)
			var code queryCode
			length := norm(query)
			code.set(query, length)
			sum := make([]int32, 1)
			for i, q := range code.words {
				sum[0] += int32(q) * int32(values[i])
			}
			got := float64(float32(sum[0]) * (float32(code.step) * b.scale))
			want := exactDot(row, query) / length
			limits := float64(b.rest) + codeError(code.rest, norm(row), float64(b.rest), length)
			if math.Abs(got-want) > limits {
				t.Fatalf("size %g, dim %d: %v, want %v ± %v", size, dim, got, want, limits)
			}
			if size == 1 && limits > .05*norm(row) {
				t.Fatalf("dim %d: bound %v is useless for a row of length %v", dim, limits, norm(row))
			}
		}
	}
}
