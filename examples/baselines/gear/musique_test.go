// SPDX-License-Identifier: Apache-2.0

package gear_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/gear"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// The parts of the system over recorded triples, and what the graph brings beside the
// same retrieval without it, question by question.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k, common := baselinestest.OfflineKit(t), kit.Common{Cut: kit.Cut{KeepLinks: true}}
	var flat, expanded []float64
	for _, x := range []struct {
		name string
		o    gear.Options
	}{
		{"one step, no graph", gear.Options{Steps: 1}},
		{"two steps, no graph", gear.Options{Expand: gear.ExpandNever}},
		{"one step, expanded", gear.Options{Steps: 1, Expand: gear.ExpandAlways}},
		{"gear", gear.Options{}},
		{"gear, dense links", gear.Options{Link: gear.LinkDense}},
		{"gear, half the graph", gear.Options{Share: .5}},
		{"gear, chained alone", gear.Options{When: gear.WhenForm}},
		{"one step, original", gear.Options{Original: true, Steps: 1}},
		{"gear-original, two steps", gear.Options{Original: true, Steps: 2}},
		{"gear-original", gear.Options{Original: true}},
	} {
		x.o.Common, x.o.Extract = common, m.Triples
		s := check.Of(gear.New(k, x.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-28s R@2 %.1f R@5 %.1f R@10 %.1f all@5 %.0f", x.name, r.At[2], r.At[5], r.At[10], r.All[5])
		switch x.name {
		case "one step, no graph":
			flat = r.Each[10]
		case "one step, expanded":
			expanded = r.Each[10]
		}
	}
	c := check.Of(stats.Compare(flat, expanded, nil, stats.Options{})).OK(t)
	t.Logf("R@10 with the graph %+.1f [%.1f, %.1f], p %.4f", c.Effect.Estimate, c.Effect.Low, c.Effect.High, c.P)
	check.True(t, c.Effect.Low > 0, "the graph brings %.1f, from %.1f on", c.Effect.Estimate, c.Effect.Low)
}
