// SPDX-License-Identifier: Apache-2.0

package multihop_test

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/report"
)

// Rows of the paper, read from it by hand: of every table the first system, the last
// and one between.
func TestPublished(t *testing.T) {
	all := multihop.Published()
	find := func(table, model, system, set, mode string) float64 {
		for _, p := range all {
			if p.Source == "arXiv 2508.19855, Table "+table && p.Model == model && p.System == system && p.Set == set && p.Mode == mode {
				return 100 * p.Accuracy
			}
		}
		return math.NaN()
	}
	const deepseek, qwen = "DeepSeek-V3-0324", "Qwen3-32B"
	for _, tt := range []struct {
		table, model, system, set, mode string
		want                            float64
	}{
		{"1", deepseek, "zeroshot", multihop.HotpotQA, report.ModeOpen, 53.7},
		{"1", deepseek, "naiverag", multihop.MuSiQue, report.ModeReject, 30.63},
		{"1", deepseek, "gretriever", multihop.TwoWiki, report.ModeReject, 5},
		{"1", deepseek, "hipporag2", "anonyrag-chs", report.ModeOpen, 12.92},
		{"1", deepseek, "youtu", multihop.Textbooks, report.ModeOpen, 86.54},
		{"1", qwen, "hipporag-ircot", multihop.TwoWiki, report.ModeReject, 65.4},
		{"1", qwen, "youtu", "anonyrag-eng", report.ModeOpen, 40.05},
		{"2", deepseek, "naiverag", multihop.HotpotQA, report.ModeOpen, 79.4},
		{"2", deepseek, "gretriever", multihop.Textbooks, report.ModeOpen, 70.24},
		{"2", deepseek, "youtu", multihop.MuSiQue, report.ModeReject, 46.9},
		{"3", deepseek, "youtu-nocommunity", multihop.TwoWiki, report.ModeReject, 75.1},
		{"3", deepseek, "youtu-noschema", "anonyrag-chs", report.ModeOpen, 35.61},
		{"3", deepseek, "youtu", multihop.HotpotQA, report.ModeReject, 81.2},
	} {
		if got := find(tt.table, tt.model, tt.system, tt.set, tt.mode); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	if got := find("1", deepseek, "zeroshot", multihop.HotpotQA, report.ModeReject); !math.IsNaN(got) {
		t.Errorf("no rejecting without evidence is printed, but %v", got)
	}
	// Eleven systems with nine figures and one with six, seven with nine and one with six; ten with nine; four with six.
	if want := 11*9 + 6 + 7*9 + 6 + 10*9 + 4*6; len(all) != want {
		t.Errorf("%d figures, want %d", len(all), want)
	}
}
