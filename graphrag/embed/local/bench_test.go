// SPDX-License-Identifier: Apache-2.0

package local

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// The product that most of the time goes to, in floating-point operations a second.
func BenchmarkMultiply(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 4))
	for _, name := range []string{"portable", "AVX2", "fastest"} {
		k, ok := kernelSets()[name]
		if !ok {
			continue
		}
		for _, depth := range []int{32, 384, 1536} {
			const rows = 20 * tileRows
			x, m, bias, c := random(rng, rows*depth), random(rng, depth*panel), random(rng, panel), make([]float32, rows*panel)
			b.Run(fmt.Sprintf("%s/depth=%d", name, depth), func(b *testing.B) {
				for b.Loop() {
					k.multiply(c, x, m, bias, rows, depth, panel, depth)
				}
				b.ReportMetric(2e-9*float64(b.N)*rows*panel*float64(depth)/b.Elapsed().Seconds(), "GFLOP/s")
			})
		}
	}
}
