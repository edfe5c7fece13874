// SPDX-License-Identifier: Apache-2.0

package baselinestest_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// Every registered system over the same passages by rules, with its R@5 minus the one of BM25 for the same
// questions, in points: systems that follow facts are better. Over the recorded triples wild is as good as
// hipporag, or better.
func TestMuSiQueCompared(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k, common := baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	measure := func(s *kit.System, err error) baselinestest.Recall {
		t.Helper()
		check.OK(t, err)
		return m.Measure(t, s)
	}
	less := func(name string, other, r baselinestest.Recall, least float64) {
		c := check.Of(stats.Compare(other.Each[5], r.Each[5], nil, stats.Options{})).OK(t)
		t.Logf("%-20s R@2 %.1f R@5 %.1f R@20 %.1f all@5 %.0f; %+.1f [%.1f, %.1f] p %.4f", name, r.At[2], r.At[5], r.At[20], r.All[5], c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.P)
		check.True(t, c.Effect.Low >= least, "%s: the interval begins at %.1f, want %v", name, c.Effect.Low, least)
	}
	flat, _ := all.Find("bm25")
	bm25 := measure(flat.New(k, common))
	least := map[string]float64{"fastgraphrag": 2, "hipporag": 4, "hipporag-ircot": 4, "hipporag2": -1, "linearrag": 8, "wild": 12, "youtu-noagent": 7} // lower ends of the intervals, rounded down
	for _, x := range all.Systems() {
		if x.NoDocuments || x.Lacks() != "" {
			continue
		}
		low, ok := least[x.Name]
		if !ok {
			low = -100
		}
		less(x.Name, bm25, measure(x.New(k, common)), low)
	}
	hippo := measure(hipporag.New(k, hipporag.Options{Common: common, Extract: m.Triples}))
	less("wild less hipporag", hippo, measure(wild.New(k, wild.Options{Common: common, Extract: m.Triples})), -2)
	// A corpus of titled passages is recognized: its titles are linked to the names in them.
	r := measure(hipporag.New(k, hipporag.Options{Common: common}))
	check.True(t, r.At[5] >= 60, "hipporag over titled passages finds %.1f", r.At[5])
}
