// SPDX-License-Identifier: Apache-2.0

package multihop_test

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/multihop"
)

// Rows of the paper, read from it by hand: of every table the first system, the last
// and one between.
func TestPublished(t *testing.T) {
	const deepseek, qwen = "DeepSeek-V3-0324", "Qwen3-32B"
	n := 0
	for _, tt := range []struct {
		k                        int
		mode, model, system, set string
		want                     float64 // NaN is none
	}{
		{20, "open", deepseek, "zeroshot", multihop.HotpotQA, 53.7},
		{20, "reject", deepseek, "naiverag", multihop.MuSiQue, 30.63},
		{20, "reject", deepseek, "gretriever", multihop.TwoWiki, 5},
		{20, "open", deepseek, "hipporag2", "anonyrag-chs", 12.92},
		{20, "reject", qwen, "hipporag-ircot", multihop.TwoWiki, 65.4},
		{20, "open", qwen, "youtu", "anonyrag-eng", 40.05},
		{10, "open", deepseek, "naiverag", multihop.HotpotQA, 79.4},
		{10, "open", deepseek, "gretriever", multihop.Textbooks, 70.24},
		{10, "reject", deepseek, "youtu", multihop.MuSiQue, 46.9},
		{20, "reject", deepseek, "youtu-nocommunity", multihop.TwoWiki, 75.1},
		{20, "open", deepseek, "youtu-noschema", "anonyrag-chs", 35.61},
		{20, "reject", deepseek, "youtu", multihop.HotpotQA, 81.2},
		{20, "reject", deepseek, "zeroshot", multihop.HotpotQA, math.NaN()},
		{7, "open", deepseek, "youtu", multihop.HotpotQA, math.NaN()},
	} {
		got := math.NaN()
		for _, p := range multihop.Published(tt.k, tt.mode).Rows {
			if p.Model == tt.model && p.System == tt.system && p.Domain == tt.set {
				got = 100 * *p.AvgAccuracy
			}
		}
		if !(math.Abs(got-tt.want) < 1e-9) && !math.IsNaN(got+tt.want) || math.IsNaN(got) != math.IsNaN(tt.want) {
			t.Errorf("%+v: %v", tt, got)
		}
	}
	for _, k := range []int{10, 20} {
		for _, mode := range []string{"open", "reject"} {
			n += len(multihop.Published(k, mode).Rows)
		}
	}
	// Table 1: eleven systems with nine figures and one with six, seven with nine and one
	// with six; Table 2: ten with nine; Table 3: two that are not in Table 1, with six.
	if want := 11*9 + 6 + 7*9 + 6 + 10*9 + 2*6; n != want {
		t.Errorf("%d figures, want %d", n, want)
	}
}
