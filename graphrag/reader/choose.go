// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/load"
)

// When a second candidate is quoted beside the best, and which.
const (
	enough    = 0.8  // confidence from which the best is quoted alone
	factFloor = 0.3  // part of the best score that another must reach
	sameLoss  = 0.15 // loss of one that holds the same part of the question
	lackGain  = 2.0  // gain of one that holds what the first lacks, as in chained questions
	repeated  = 0.8  // share of the terms of one in another from which they are the same
)

// facts returns the candidates that answer a question for facts, at most limit: the
// best, and if it is not clear that it answers, the next ones that say something else.
func (c *corpus) facts(scores []float64, best, limit int) []int {
	chosen := []int{best}
	have := c.candidates[best].own | c.candidates[best].lead
	for len(chosen) < limit {
		next, gain := -1, 0.0
		for i := range c.candidates {
			x := &c.candidates[i]
			if scores[i] < factFloor*scores[best] || x.list || slices.Contains(chosen, i) ||
				slices.ContainsFunc(chosen, func(o int) bool { return repeats(c.candidates[o].distinct(), x.distinct()) }) {
				continue
			}
			same := float64((x.own & have).count()) / float64(max(1, x.own.count()))
			lacked := c.q.of(x.own&^have) / max(c.q.total, 1e-9)
			if g := (1 - sameLoss*same + lackGain*lacked) * scores[i]; g > gain {
				next, gain = i, g
			}
		}
		if next < 0 {
			break
		}
		chosen = append(chosen, next)
		have |= c.candidates[next].own
	}
	return chosen
}

// repeats tells whether one of two texts has nearly all terms of the other.
func repeats(a, b []int32) bool {
	same := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			same, i, j = same+1, i+1, j+1
		}
	}
	return float64(same) >= repeated*float64(min(len(a), len(b)))
}

// shown is a candidate as it is quoted: one that says nothing but what was asked says
// it under its heading.
func (c *corpus) shown(x *candidate) string {
	blocks := c.pieces[x.piece].blocks
	if h := blocks[x.block].Under; h >= 0 && x.kind == load.Item && !c.q.yesNo && !c.says(x) {
		return load.Plain(blocks[h].Text) + ": " + x.text
	}
	return x.text
}
