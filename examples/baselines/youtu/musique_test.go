// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/baselines/youtu"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// With the recorded triples and no model, one pass finds no less than HippoRAG, by
// the paired test over the questions; the rows are the ablation of docs/systems.md.
func TestMuSiQue(t *testing.T) {
	m, k, common := baselinestest.LoadMuSiQue(t), baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	measure := func(s *kit.System, err error) baselinestest.Recall {
		t.Helper()
		check.OK(t, err)
		return m.Measure(t, s)
	}
	other := measure(hipporag.New(k, hipporag.Options{Common: common, Extract: m.Triples}))
	for _, tt := range []struct {
		name string
		o    youtu.Options
		min  float64
	}{
		{"noagent", youtu.Options{NoAgent: true}, 67.5},
		{"without entities", youtu.Options{NoAgent: true, Without: "entities"}, 66.5},
		{"without facts", youtu.Options{NoAgent: true, Without: "facts"}, 67},
		{"without community route", youtu.Options{NoAgent: true, Without: "communities"}, 67.5},
		{"without paths", youtu.Options{NoAgent: true, Without: "paths"}, 51},
		{"without member_of", youtu.Options{NoAgent: true, NoMemberOf: true}, 67.5},
		{"without communities", youtu.Options{NoAgent: true, NoCommunities: true}, 67.5},
		{"agent by rules", youtu.Options{}, 66},
	} {
		tt.o.Common, tt.o.Extract = common, m.Triples
		r := measure(youtu.New(k, tt.o))
		c := check.Of(stats.Compare(other.Each[5], r.Each[5], nil, stats.Options{})).OK(t)
		t.Logf("%-24s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f; less hipporag %+.1f [%.1f, %.1f] p %.3f", tt.name,
			r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5], c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.P)
		check.True(t, r.At[5] >= tt.min && (tt.o.Without == "paths" || c.Effect.Estimate >= 0 || c.P >= .05),
			"%s: R@5 is %.1f, want %.1f and not below hipporag (%.1f)", tt.name, r.At[5], tt.min, other.At[5])
	}
}
