// SPDX-License-Identifier: Apache-2.0

package baselinestest_test

import (
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/wild"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// Wild beside hipporag by words, and with the sentence encoder of a folder, less
// hipporag with recorded triples and the same encoder: the table of docs/systems.md.
func TestMuSiQueEncoded(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	dir := os.Getenv("MINILM_DIR")
	if dir == "" {
		t.Skip("MINILM_DIR is not set")
	}
	encoder, err := local.Open(dir, local.Options{})
	if err != nil {
		t.Fatal(err)
	}
	words, common := baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	for _, x := range []struct {
		name string
		k    kit.Kit
		low  float64 // the least lower end of the intervals
	}{{"words", words, -2}, {"encoder", words.WithEmbedder(encoder), 1}} {
		measure := func(name string, s *kit.System, err error) baselinestest.Recall {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			r := m.Measure(t, s)
			t.Logf("%-28s R@2 %.1f R@5 %.1f R@10 %.1f all@5 %.0f", name+", "+x.name, r.At[2], r.At[5], r.At[10], r.All[5])
			return r
		}
		s, err := hipporag.New(x.k, hipporag.Options{Common: common, Extract: m.Triples})
		base := measure("hipporag", s, err)
		for _, o := range []struct {
			name string
			wild.Options
		}{{"wild, by rules", wild.Options{Common: common}}, {"wild, recorded", wild.Options{Common: common, Extract: m.Triples}}} {
			s, err := wild.New(x.k, o.Options)
			r := measure(o.name, s, err)
			c, err := stats.Compare(base.Each[5], r.Each[5], nil, stats.Options{Seed: 1})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%-28s less hipporag %+.1f [%.1f, %.1f] p %.4f", o.name+", "+x.name, c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.Test.P)
			if c.Effect.Low < x.low {
				t.Errorf("%s, %s: the interval begins at %.1f, want %v", o.name, x.name, c.Effect.Low, x.low)
			}
		}
	}
}

// Every system of the registry over the same passages by rules, and its R@5 less that of
// BM25, question by question, in points: systems that follow facts are ahead of it. Over
// the recorded triples wild is level with hipporag or better.
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
	less := func(name string, other, r baselinestest.Recall, least float64) {
		c, err := stats.Compare(other.Each[5], r.Each[5], nil, stats.Options{Seed: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-20s R@2 %.1f R@5 %.1f R@20 %.1f all@5 %.0f; %+.1f [%.1f, %.1f] p %.4f", name, r.At[2], r.At[5], r.At[20], r.All[5], c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.Test.P)
		if c.Effect.Low < least {
			t.Errorf("%s: the interval begins at %.1f, want %v", name, c.Effect.Low, least)
		}
	}
	flat, _ := all.Find("bm25")
	bm25 := measure(flat.New(k, common))
	least := map[string]float64{"fastgraphrag": 2, "hipporag": 4, "hipporag-ircot": 4, "hipporag2": -1, "linearrag": 8, "wild": 12, "youtu-noagent": 7} // of the intervals' lower ends, rounded down
	for _, x := range all.Systems() {
		if x.Blind || x.Lacks() != "" {
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
	// A corpus of titled passages is recognized: their titles are linked to the names in them.
	if r := measure(hipporag.New(k, hipporag.Options{Common: common})); r.At[5] < 60 {
		t.Errorf("hipporag over titled passages finds %.1f", r.At[5])
	}
}
