// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The kernels of this processor give the bits of those in plain Go.
func TestKernelsAgree(t *testing.T) {
	for _, k := range available() {
		agree(t, k)
	}
}

func agree(t *testing.T, fast kernels) {
	rng := rand.New(rand.NewPCG(5, 8))
	plain := portable()
	norms := new([windowSize]float32)
	for i := range norms {
		norms[i] = .1 + 3*rng.Float32()
	}
	for round := range 400 {
		n := rng.IntN(100)
		if round%10 == 0 {
			n = rng.IntN(windowSize)
		}
		chance := 1 + rng.IntN(40)
		tf := func() uint8 {
			if round%3 == 0 && rng.IntN(100) == 0 {
				return largeTF
			}
			return uint8(rng.IntN(chance))
		}
		docs, tfs := make([]uint16, n), make([]uint8, n)
		for i := range docs {
			docs[i], tfs[i] = uint16(rng.IntN(windowSize)), tf()
		}
		weight := 5 * rng.Float32()

		one, two := make([]float32, n), make([]float32, n)
		a, b := plain.impacts(one, docs, tfs, norms, weight), fast.impacts(two, docs, tfs, norms, weight)
		check.Must(t, a == b && a != slices.Contains(tfs, largeTF) && slices.Equal(one, two), "%d impacts: %v and %v, %v and %v", n, a, b, one, two)

		var sums [2][windowSize]float32
		for i, d := range docs {
			sums[0][d] += one[i]
		}
		sums[1] = sums[0]
		c, o := newCandidates(windowSize), newCandidates(windowSize)
		minimum := .0001 + 2*rng.Float32()
		plain.collect(&c, &sums[0], norms, minimum)
		fast.collect(&o, &sums[1], norms, minimum)
		same(t, "collected", &c, &o)
		check.Must(t, sums[0] == sums[1] && sums[0] == [windowSize]float32{}, "sums are left")

		column := make([]uint8, 1+rng.IntN(windowSize))
		for i := range column {
			column[i] = tf()
		}
		r := refinement{weight: weight, rest: rng.Float32(), cutoff: minimum + rng.Float32()}
		read, kept := 0, 0
		for read < c.n {
			a, b := plain.refine(&c, read, kept, column, r)
			x, y := fast.refine(&o, read, kept, column, r)
			if a != x || b != y {
				t.Fatalf("read %d and %d, kept %d and %d", a, x, b, y)
			}
			read, kept = a, b
			for end := min(read+lanes, c.n); read < end; read++ {
				o.refine(read, kept, 7, r)
				kept = c.refine(read, kept, 7, r)
			}
		}
		c.n, o.n = kept, kept
		same(t, "refined", &c, &o)
	}
}

func same(t *testing.T, what string, a, b *candidates) {
	t.Helper()
	if a.n != b.n || !slices.Equal(a.docs[:a.n], b.docs[:b.n]) || !slices.Equal(a.sums[:a.n], b.sums[:b.n]) || !slices.Equal(a.norms[:a.n], b.norms[:b.n]) {
		t.Fatalf("%s: %d and %d candidates, %v and %v", what, a.n, b.n, a.docs[:a.n], b.docs[:b.n])
	}
}
