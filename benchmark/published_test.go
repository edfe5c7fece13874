// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// Published rows stand beside their own questions alone: all of them, none twice, and none that
// is known to be another one; what is about all domains needs each.
func TestPublishedBeside(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d *benchmark.Dataset)
		want   string // domains of the rows that stand, and why the others are absent
	}{
		"released": {func(*benchmark.Dataset) {}, "[ birds fish] map[]"},
		"edited":   {func(d *benchmark.Dataset) { d.Domains[0].Altered = "these are edited" }, "[fish] map[:they are about all 7 questions of the release, these are 7, not all of them released ones birds:they are about 4 released questions of birds, and these are edited]"},
		"cut":      {func(d *benchmark.Dataset) { *d = *d.Limited(1) }, "[fish] map[:they are about all 7 questions of the release, these are 6, not all of them released ones birds:they are about 4 questions, this run asks 3]"},
		"twice": {func(d *benchmark.Dataset) {
			d.Domains[1].Items[0].Question.Text = d.Domains[1].Items[1].Question.Text
			d.Domains[1].Items[0].Reference = d.Domains[1].Items[1].Reference
		}, "[birds] map[:they are about all 7 questions of the release, these are 7, not all of them released ones fish:they are about 3 questions, of these 1 repeat an earlier one]"},
		"one domain":  {func(d *benchmark.Dataset) { d.Domains = d.Domains[:1] }, "[birds] map[:they are about all 7 questions of the release, these are 4]"},
		"one of ours": {func(d *benchmark.Dataset) { d.Domains[0].Name = "insects" }, "[fish] map[:they are about all 7 questions of the release, these are 7, not all of them released ones]"},
	} {
		d := benchtest.Dataset()
		p := &benchmark.Published{Rows: []benchmark.PublishedRow{{Questions: 7}, {Domain: "birds", Questions: 4}, {Domain: "fish", Questions: 3}}}
		tt.change(d)
		p = p.Beside(d)
		var stand []string
		for _, r := range p.Rows {
			stand = append(stand, r.Domain)
		}
		got := fmt.Sprint(stand, " ", p.Absent)
		check.Equal(t, got, tt.want, "%s: %s", name, got)
		p.Withhold("of a whim")
		check.True(t, len(p.Rows) == 0, "%s: withheld, it has %+v", name, p)
		if p = p.Beside(d); len(stand) > 0 && len(p.Rows) > 0 || strings.Count(fmt.Sprint(p.Absent), "whim") != len(stand) {
			t.Errorf("%s: withheld and asked again, it has %+v", name, p)
		}
	}
}
