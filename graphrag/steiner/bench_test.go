// SPDX-License-Identifier: Apache-2.0

package steiner

import (
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// BenchmarkFind looks for a tree among 100,000 nodes and 500,000 random edges,
// with a prize for each node, for every tenth, and for three of them.
func BenchmarkFind(b *testing.B) {
	const n, m = 100_000, 500_000
	rng := rand.New(rand.NewPCG(1, 2))
	edges := make([]graph.Edge, m)
	for i := range edges {
		edges[i] = graph.Edge{From: int32(rng.IntN(n)), To: int32(rng.IntN(n)), Weight: .1 + rng.Float64()}
	}
	g := build(b, n, edges)
	for _, c := range []struct {
		name  string
		every int
	}{{"all", 1}, {"tenth", 10}, {"three", n / 3}} {
		prizes := make([]float64, n)
		for u := 0; u < n; u += c.every {
			prizes[u] = rng.Float64()
			if c.every > 10 {
				prizes[u] = 10
			}
		}
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t, err := Find(b.Context(), g, prizes)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(len(t.Nodes)), "nodes")
			}
		})
	}
}
