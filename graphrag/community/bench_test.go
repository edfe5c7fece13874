// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
)

// benchGraphs are the planted partition of a million nodes and, where
// WILDGRAPHBENCH_DIR names a data set, the names that occur together in it.
func benchGraphs(b *testing.B, run func(b *testing.B, g *graph.Graph)) {
	b.Run("gb", func(b *testing.B) {
		run(b, graphtest.Planted(1e6, 5e6, 1000, .3, 1).Graph())
	})
	b.Run("ga", func(b *testing.B) {
		dir := os.Getenv("WILDGRAPHBENCH_DIR")
		if dir == "" {
			b.Skip("WILDGRAPHBENCH_DIR names no data set")
		}
		l, err := graphtest.Cooccurrence(os.DirFS(dir))
		texttest.OK(b, err)
		run(b, l.Graph())
	})
}

func BenchmarkLeiden(b *testing.B) {
	benchGraphs(b, func(b *testing.B, g *graph.Graph) {
		b.ReportAllocs()
		var p community.Partition
		for b.Loop() {
			p = leiden(b, g, community.Options{MaxPasses: 2})
		}
		b.ReportMetric(p.Quality, "modularity")
	})
}

func BenchmarkHierarchical(b *testing.B) {
	benchGraphs(b, func(b *testing.B, g *graph.Graph) {
		b.ReportAllocs()
		var h community.Hierarchy
		for b.Loop() {
			var err error
			h, err = community.HierarchicalLeiden(b.Context(), g, community.HierarchyOptions{Options: community.Options{MaxPasses: 1}})
			texttest.OK(b, err)
		}
		b.ReportMetric(float64(len(leaves(h))), "leaves")
	})
}
