// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"math/rand/v2"
	"testing"
)

// All lanes at once are the same bits as eight after the other.
func TestGatherWide(t *testing.T) {
	defer func() { widest = has512 }()
	if !wide {
		t.Skip("the processor has no such kernel")
	}
	t.Run("64 by 64", wideAs[float64, float64])
	t.Run("64 by 32", wideAs[float32, float64])
	t.Run("32 by 64", wideAs[float64, float32])
	t.Run("32 by 32", wideAs[float32, float32])
}

var has512 = widest

func wideAs[W, P float32 | float64](t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	p := make([][lanes]P, 1000)
	for i := range p {
		for l := range p[i] {
			p[i][l] = P(r.NormFloat64() * 1e3)
		}
	}
	for _, n := range []int{0, 1, 2, 7, 127, 128, 129, 1000} {
		targets, weights := make([]int32, n), make([]W, n)
		for i := range targets {
			targets[i], weights[i] = r.Int32N(int32(len(p))), W(r.ExpFloat64())
		}
		for _, w := range [][]W{nil, weights} {
			if n == 0 && w != nil {
				continue // no weights of no arcs
			}
			var want lane
			gatherHalves(targets, w, p, lanes, &want)
			for _, widest = range []bool{false, has512} {
				got := lane{1}
				if gatherWide(targets, w, p, &got); got != want {
					t.Errorf("%d arcs, weights %v, widest %v: %v, want %v", n, w != nil, widest, got, want)
				}
			}
		}
	}
}
