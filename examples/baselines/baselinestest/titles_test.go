// SPDX-License-Identifier: Apache-2.0

package baselinestest_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// Rules alone, with the titles of passages as names that have to do with the names
// in them, and without. A corpus of titled passages is known for one.
func TestMuSiQueByRules(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	common := kit.Common{Cut: kit.Cut{KeepLinks: true}}
	yes, no := true, false
	for _, name := range []string{"hipporag", "hipporag2", "linearrag", "fastgraphrag", "lightrag", "msgraphrag-local", "youtu-noagent"} {
		system, _ := all.Find(name)
		measure := func(titles *bool) baselinestest.Recall {
			k, err := kit.Offline(kit.OfflineOptions{Seed: 1, Titles: titles})
			if err != nil {
				t.Fatal(err)
			}
			s, err := system.New(k, common)
			if err != nil {
				t.Fatal(err)
			}
			return m.Measure(t, s)
		}
		without, with, byDefault := measure(&no), measure(&yes), measure(nil)
		t.Logf("%-18s R@5 %.1f -> %.1f, all in five %.0f -> %.0f, R@20 %.1f -> %.1f", name, without.At[5], with.At[5], without.All[5], with.All[5], without.At[20], with.At[20])
		if byDefault.At[5] != with.At[5] {
			t.Errorf("%s: %.1f by default, want %.1f", name, byDefault.At[5], with.At[5])
		}
	}
}
