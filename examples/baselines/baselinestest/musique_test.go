// SPDX-License-Identifier: Apache-2.0

package baselinestest_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/examples/baselines/e2graphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/gretriever"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/baselines/ircot"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/linearrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// All systems over the same passages and recorded triples, and how far each is
// from plain retrieval, question by question: five passages are about the same
// context for all. Wild is not behind hipporag.
func TestMuSiQueCompared(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k, common := baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	measure := func(s *kit.System, err error) baselinestest.Recall {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return m.Measure(t, s)
	}
	flat := measure(bm25.New(k, bm25.Options{Common: common}))
	t.Logf("%-18s R@2 %.1f R@5 %.1f R@20 %.1f all@5 %.0f", "bm25", flat.At[2], flat.At[5], flat.At[20], flat.All[5])
	of := make(map[string]baselinestest.Recall)
	for _, x := range []struct {
		name string
		r    baselinestest.Recall
		low  float64 // the least lower end of the interval
	}{
		{"naiverag", measure(naiverag.New(k, naiverag.Options{Common: common})), -25},
		{"lightrag", measure(lightrag.New(k, lightrag.Options{Common: common, Extract: m.Triples})), -8},
		{"lightrag-mix", measure(lightrag.New(k, lightrag.Options{Common: common, Mode: lightrag.Mix, Extract: m.Triples})), -8},
		{"msgraphrag-local", measure(msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Common: common, Extract: m.Triples}})), -11},
		{"msgraphrag-global", measure(msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: common, Extract: m.Triples}})), -17},
		{"fastgraphrag", measure(fastgraphrag.New(k, fastgraphrag.Options{Common: common, Extract: m.Triples})), -2},
		{"hipporag2", measure(hipporag2.New(k, hipporag2.Options{Common: common, Extract: m.Triples})), 0},
		{"linearrag", measure(linearrag.New(k, linearrag.Options{Common: common, Extract: m.Triples.EntitiesOnly()})), 5},
		{"msgraphrag-dynamic", measure(msgraphrag.NewGlobal(k, msgraphrag.GlobalOptions{Options: msgraphrag.Options{Common: common, Extract: m.Triples}, Dynamic: true})), -36},
		{"msgraphrag-drift", measure(msgraphrag.NewDrift(k, msgraphrag.DriftOptions{Options: msgraphrag.Options{Common: common, Extract: m.Triples}})), -18},
		{"raptor", measure(raptor.New(k, raptor.Options{Common: common})), -6},
		{"e2graphrag", measure(e2graphrag.New(k, e2graphrag.Options{Common: common})), -19},
		{"gretriever", measure(gretriever.New(k, gretriever.Options{Common: common, Extract: m.Triples})), -8},
		{"hipporag-ircot", measure(ircot.New(k, ircot.Options{Options: hipporag.Options{Common: common, Extract: m.Triples}})), 5},
		{"hipporag", measure(hipporag.New(k, hipporag.Options{Common: common, Extract: m.Triples})), 5},
		{"wild", measure(wild.New(k, wild.Options{Common: common, Extract: m.Triples})), 13},
		{"wild, by rules", measure(wild.New(k, wild.Options{Common: common})), 12},
		{"youtu-noagent", measure(youtu.New(k, youtu.Options{Common: common, Extract: m.Triples, NoAgent: true})), 5},
	} {
		c, err := stats.Compare(flat.Each[5], x.r.Each[5], nil, stats.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-18s R@2 %.1f R@5 %.1f R@20 %.1f all@5 %.0f; less bm25 %+.1f [%.1f, %.1f] p %.4f", x.name, x.r.At[2], x.r.At[5], x.r.At[20], x.r.All[5], c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.Test.P)
		if c.Effect.Low < x.low {
			t.Errorf("%s: the interval begins at %.1f, want %v", x.name, c.Effect.Low, x.low)
		}
		of[x.name] = x.r
	}
	for _, name := range []string{"wild", "wild, by rules"} {
		c, err := stats.Compare(of["hipporag"].Each[5], of[name].Each[5], nil, stats.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-18s less hipporag %+.1f [%.1f, %.1f] p %.4f", name, c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.Test.P)
		if c.Effect.Low < -2 {
			t.Errorf("%s: the interval begins at %.1f", name, c.Effect.Low)
		}
	}
}
