// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

// lists are the graphs to measure on: a planted partition of a million nodes,
// and the names of real pages if there are any.
func lists(b *testing.B) map[string]func() graphtest.List {
	found := map[string]func() graphtest.List{"planted": func() graphtest.List {
		if testing.Short() {
			return graphtest.Planted(1e5, 5e5, 100, .3, 1)
		}
		return graphtest.Planted(1e6, 5e6, 1000, .3, 1)
	}}
	if dir := os.Getenv("WILDGRAPHBENCH_DIR"); dir != "" {
		found["names"] = func() graphtest.List {
			l, _, err := graphtest.Cooccurrence(os.DirFS(dir))
			if err != nil {
				b.Fatal(err)
			}
			return l
		}
	}
	return found
}

func BenchmarkNew(b *testing.B) {
	for name, list := range lists(b) {
		b.Run(name, func(b *testing.B) {
			l := list()
			for _, p := range []struct {
				name string
				graph.Precision
			}{{"float64", graph.Float64}, {"float32", graph.Float32}, {"unweighted", graph.Unweighted}} {
				b.Run(p.name, func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						l.Graph(p.Precision)
					}
					b.ReportMetric(float64(len(l.Edges)*b.N)/b.Elapsed().Seconds()/1e6, "Medges/s")
				})
			}
		})
	}
}
