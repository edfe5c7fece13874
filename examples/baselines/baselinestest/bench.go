// SPDX-License-Identifier: Apache-2.0

package baselinestest

import (
	"os"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Largest is the largest of the six domains at hand.
const Largest = "philosophy"

// Queries measures one question after the other over a domain of WildGraphBench,
// whose folder is in WILDGRAPHBENCH_DIR, and reports the median and how long the
// index took.
func Queries(b *testing.B, domain string, make func(kit.Kit) (*kit.System, error)) {
	b.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		b.Skip("set WILDGRAPHBENCH_DIR")
	}
	set, _, err := wildgraph.Load(os.DirFS(dir), wildgraph.Options{Domains: []string{domain}})
	if err != nil {
		b.Fatal(err)
	}
	s, err := make(OfflineKit(b))
	if err != nil {
		b.Fatal(err)
	}
	start := b.Elapsed()
	if _, err := s.Index(b.Context(), set.Domains[0].Documents()); err != nil {
		b.Fatal(err)
	}
	index := b.Elapsed() - start
	questions := slices.Collect(set.Items())
	b.ReportAllocs()
	var took []float64
	for b.Loop() {
		q, begin := questions[len(took)%len(questions)], b.Elapsed()
		if _, err := s.Answer(b.Context(), graphrag.Question{Text: q.Question.Text, Form: q.Question.Form, K: 5, Depth: 10}); err != nil {
			b.Fatal(err)
		}
		took = append(took, (b.Elapsed()-begin).Seconds()*1000)
	}
	slices.Sort(took)
	b.ReportMetric(took[len(took)/2], "ms/median")
	b.ReportMetric(index.Seconds(), "s/index")
}
