// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math"
	"math/rand/v2"
	"testing"
)

// Sums that follow what comes and goes round to the means that all vectors have, added up
// in their order.
func TestSumsFollowMoves(t *testing.T) {
	const n, k, dim = 3000, 3, 20
	rng := rand.New(rand.NewPCG(9, 1))
	vectors := randomRows(rng, n*dim, 1)
	for name, kernels := range kernelSets() {
		m, labels, followed := newMeans(vectors, n, k, dim), make([]int32, n), 0
		m.restart()
		for i := range labels {
			labels[i] = int32(i % k)
		}
		for range 50 {
			m.collect(labels)
			for c := range k {
				var members []int32
				want := make([]float64, dim)
				for i, label := range labels {
					if int(label) == c {
						members = append(members, int32(i))
						addRow(want, m.row(i), nil)
					}
				}
				m.sum(c, members, kernels)
				if whole := float64(len(members)); m.off[c] != whole*0x1p-53*whole*m.greatest {
					followed++
				}
				for j, s := range m.of(c) {
					by := float64(len(members))
					if got, want := float32(s/by), float32(want[j]/by); math.Float32bits(got) != math.Float32bits(want) {
						t.Fatalf("%s: component %d of cluster %d: %v, want %v", name, j, c, got, want)
					}
				}
			}
			for range 40 {
				labels[rng.IntN(n)] = rng.Int32N(k)
			}
		}
		if followed < 100 {
			t.Errorf("%s: %d of 150 sums followed", name, followed)
		}
	}
}
