// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"math/rand/v2"
	"testing"
)

// BenchmarkKMeans clusters vectors as Youtu-GraphRAG does those of entities.
func BenchmarkKMeans(b *testing.B) {
	const n, dim, k = 6000, 192, 200
	vectors := blobs(rand.New(rand.NewPCG(384, 1)), n, dim, 300, .5)
	for b.Loop() {
		if _, err := KMeans(b.Context(), vectors, dim, k, KMeansOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkMixture selects among mixtures of up to 49 components for 1,000 vectors, as RAPTOR does
// for a level of so many nodes.
func BenchmarkMixture(b *testing.B) {
	vectors := blobs(rand.New(rand.NewPCG(1, 1)), 1000, 10, 20, .3)
	for b.Loop() {
		m, err := SelectMixture(b.Context(), vectors, 10, MixtureOptions{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(m.K), "components")
	}
}
