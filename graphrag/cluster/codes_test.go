// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCodeScoresAreTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	for name, k := range kernelSets() {
		for dim := laneWidth; k.codeScores != nil && dim < 1000; dim += laneWidth * (1 + rng.IntN(20)) {
			n := k.width * (1 + rng.IntN(3))
			tile, rows := make([]int8, k.height*dim), make([]coded, k.height)
			panels, steps, offsets := make([]uint8, n*dim), randomRows(rng, n, 1), randomRows(rng, n, 1)
			extreme := rng.IntN(4) == 0
			for i := range tile {
				tile[i] = int8(rng.IntN(2*maxCode+1) - maxCode)
				if extreme {
					tile[i] = maxCode
				}
			}
			for i := range panels {
				panels[i] = uint8(1 + rng.IntN(255))
				if extreme {
					panels[i] = 255
				}
			}
			offsets[n-1], steps[n-1] = float32(math.Inf(-1)), 0
			for r := range rows {
				rows[r] = coded{step: rng.Float32(), lift: rng.Int32N(1e6) - 5e5}
			}
			got, want := make([]float32, k.height*n), make([]float32, k.height*n)
			k.codeScores(got, tile, rows, panels, steps, offsets)
			codeScores12x32(want, tile, rows, panels, steps, offsets)
			if !slices.Equal(got, want) {
				t.Fatalf("%s: dim %d: %v, want %v", name, dim, got, want)
			}
		}
	}
}

func TestCodesAreTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 4))
	for dim := range 200 {
		for _, size := range []float64{1e-25, 1, 1e15} {
			row := randomRows(rng, dim, size)
			step := largest(row) / maxCode
			if rng.IntN(2) == 0 {
				for j := range row {
					row[j] = step * (float32(rng.IntN(2*maxCode)-maxCode) + .5) // between two codes
				}
			}
			code, want := make([]int8, dim), make([]int8, dim)
			var squares, wantSquares [8]float64
			done, sum := codeFirst(code, row, step, &squares)
			sum += codeRest(code, row, step, &squares, done)
			wantSum := codeRest(want, row, step, &wantSquares, 0)
			if !slices.Equal(code, want) || sum != wantSum || squares != wantSquares {
				t.Fatalf("dim %d, size %g: %v %v %v, want %v %v %v", dim, size, code, sum, squares, want, wantSum, wantSquares)
			}
		}
	}
}

// Estimates stay within the bound the search relies on, also where one component leaves
// nothing of the others, or products vanish.
func TestCodesWithinErrorBound(t *testing.T) {
	const height, width = 12, 32
	rng := rand.New(rand.NewPCG(6, 2))
	for _, size := range []float64{1e-44, 1e-36, 1e-30, 1e-20, 1, 1e15} {
		for _, outlier := range []float32{1, 1e3, 1e9} {
			if size*float64(outlier) > MaxNorm/100 {
				continue
			}
			for _, dim := range []int{1, 3, 8, 61, 384, 900} {
				vectors, start := randomRows(rng, height*dim, size), randomRows(rng, width*dim, size)
				for i := 0; i < len(start); i += dim {
					vectors[i%len(vectors)], start[i] = vectors[i%len(vectors)]*outlier, start[i]*outlier
				}
				opts, _ := KMeansOptions{}.resolve()
				l := newLloyd(vectors, dim, width, opts)
				l.kernels.width = width
				l.restart(start)
				var err error
				if l.codes, err = encode(t.Context(), vectors, dim, 1); err != nil {
					t.Fatal(err)
				}
				l.pack(&l.panels, l.centroids)
				scores := make([]float32, height*width)
				codeScores12x32(scores, l.codes.rows, l.codes.bounds, l.panels.bytes, l.panels.steps, l.panels.offsets)
				for i := range height {
					for c := range width {
						dot := 0.0
						for j, x := range l.row(i) {
							dot += float64(x) * float64(l.centroid(c)[j])
						}
						want, bound := dot-norm(l.centroid(c))*norm(l.centroid(c))/2, l.scoreError(i, &l.panels)
						if got := float64(scores[i*width+c]); !(math.Abs(got-want) <= bound) {
							t.Fatalf("size %g outlier %g dim %d row %d centroid %d: %v, want %v ± %v", size, outlier, dim, i, c, got, want, bound)
						}
					}
				}
			}
		}
	}
}

// Codes of vectors that differ by less than what codes miss are given up, and labels are
// the same.
func TestCodesAreGivenUp(t *testing.T) {
	const n, dim, k = 400, 40, 80
	vectors := randomRows(rand.New(rand.NewPCG(6, 3)), n*dim, 1e-3)
	for i := range vectors {
		vectors[i] += 10
	}
	start := vectors[:k*dim]
	samePlain(t, "close", vectors, dim, k, 20, start)
	for name, kernels := range kernelSets() {
		opts, _ := KMeansOptions{}.resolve()
		l := newLloyd(vectors, dim, k, opts)
		l.kernels = kernels
		l.restart(start)
		if _, err := l.run(t.Context()); err != nil || l.codes != nil {
			t.Errorf("%s: codes are kept: %v %v", name, l.codes != nil, err)
		}
	}
}
