// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/report"
)

// Reports without a model on 10,000 entities in groups of 50, 30,000 relations.
func BenchmarkExtractiveReports(b *testing.B) {
	const n, group = 10_000, 50
	rng := rand.New(rand.NewPCG(7, 0))
	g := &report.Graph{}
	var edges []graph.Edge
	for v := range n {
		text := fmt.Sprintf("Thing %d was found in the year %d by number %d.", v, 1000+rng.IntN(900), rng.IntN(n))
		g.Nodes = append(g.Nodes, report.Node{Title: fmt.Sprint("Thing ", v), Descriptions: []kg.Description{{Text: text, Passages: []int32{int32(v)}}}})
	}
	for range 3 * n {
		v := rng.IntN(n)
		w := v/group*group + rng.IntN(group)
		if rng.IntN(10) == 0 {
			w = rng.IntN(n)
		}
		text := fmt.Sprintf("Thing %d came before thing %d in the year %d.", v, w, 1000+rng.IntN(900))
		g.Edges = append(g.Edges, report.Edge{Source: int32(v), Target: int32(w), Descriptions: []kg.Description{{Text: text, Passages: []int32{int32(w)}}}})
		edges = append(edges, graph.Edge{From: int32(v), To: int32(w), Weight: 1})
	}
	built, err := graph.New(n, edges, graph.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for v := range g.Nodes {
		g.Nodes[v].Degree = built.Degree(int32(v))
	}
	h, err := community.HierarchicalLeiden(b.Context(), built, community.HierarchyOptions{Options: community.Options{MaxPasses: 1, Seed: 1}})
	if err != nil {
		b.Fatal(err)
	}
	reporter, err := report.Extractive(report.ExtractiveOptions{})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		set, err := report.Write(b.Context(), g, h, report.Options{Reporter: reporter})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(len(set.Reports)), "reports")
	}
}
