// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func randomNumbers(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func randomLanes(rng *rand.Rand, n int) []lanes {
	l := make([]lanes, n)
	for j := range l {
		copy(l[j][:], randomNumbers(rng, abreast))
	}
	return l
}

// The kernels of the E step have the bits of plain Go.
func TestScoresOfMixturesAreTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for d := 1; d < 40; d++ {
		b := block{rows: randomLanes(rng, d), centred: make([]lanes, d), scores: randomLanes(rng, d), near: make([]uint16, d)}
		mean, whiten := randomNumbers(rng, d), randomNumbers(rng, d*d)
		var got, want lanes
		gotTop, wantTop := lowest(), lowest()
		wantTop[3], gotTop[3] = 0, 0
		if !fastScore(&got, &gotTop, b.rows, b.centred, mean, whiten, -1) {
			t.Skip("there is no kernel")
		}
		b.plainScore(&want, &wantTop, mean, whiten, -1)
		if got != want || gotTop != wantTop {
			t.Fatalf("dim %d: %v with tops %v, want %v with %v", d, got, gotTop, want, wantTop)
		}
		for j := range b.scores {
			for r := range b.scores[j] {
				b.scores[j][r] = gotTop[r] + leastLog*(.5+rng.Float64())
			}
		}
		wantNear := make([]uint16, d)
		fastNear(b.near, b.scores, &gotTop)
		plainNear(wantNear, b.scores, &gotTop)
		if !slices.Equal(b.near, wantNear) {
			t.Fatalf("near are %b, want %b", b.near, wantNear)
		}
	}
}

// The kernels of the M step have the bits of plain Go.
func TestSumsOfMixturesAreTheSameBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 2))
	for d := 1; d <= 18; d++ {
		s := members{vectors: randomRows(rng, 90*d, 1), dim: d}
		p := make([]float64, 90)
		for range 40 {
			p[rng.IntN(len(p))] = rng.Float64()
		}
		p[89] = 1 // there is nothing behind the last row
		s.choose(p)
		got, want := make([]float64, d), make([]float64, d)
		if !s.fastAdd(got) {
			if d <= 16 {
				t.Skip("there is no kernel")
			}
			continue
		}
		if s.plainAdd(want); !slices.Equal(got, want) {
			t.Fatalf("dim %d: sums %v, want %v", d, got, want)
		}
		mean, got, want := randomNumbers(rng, d), make([]float64, d*d), make([]float64, d*d)
		s.fastSpread(got, mean)
		if s.plainSpread(want, mean); !slices.Equal(got, want) {
			t.Fatalf("dim %d: squares %v, want %v", d, got, want)
		}
	}
}

// The inverse of the factor makes the unit matrix of a matrix, and its determinant is
// that of the factor.
func TestInvertedCholesky(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 3))
	for d := 1; d < 20; d++ {
		a, inverse := make([]float64, d*d), make([]float64, d*d)
		for range 3 * d {
			z := randomNumbers(rng, d)
			for i := range a {
				a[i] += z[i/d] * z[i%d]
			}
		}
		logs, ok := invertedCholesky(inverse, a, make([]float64, d*d), d)
		if !ok {
			t.Fatalf("dim %d: not positive definite", d)
		}
		for i := range a {
			want, got := 0.0, 0.0
			if i/d == i%d {
				want, logs = 1, logs+math.Log(inverse[i])
			}
			for j := range a {
				got += inverse[i/d*d+j/d] * a[j] * inverse[i%d*d+j%d]
			}
			if math.Abs(got-want) > 1e-10 {
				t.Errorf("dim %d: entry %d of the unit matrix is %v", d, i, got)
			}
		}
		if math.Abs(logs) > 1e-10 {
			t.Errorf("dim %d: the determinants differ by the factor exp %v", d, logs)
		}
	}
	if _, ok := invertedCholesky(make([]float64, 4), []float64{1, 2, 2, 1}, make([]float64, 4), 2); ok {
		t.Error("a matrix with a negative eigenvalue has a factor")
	}
}
