// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"context"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// SequentialOptions of [Sequential].
type SequentialOptions struct {
	// Summarizer is required.
	Summarizer summary.Summarizer
	// Group is how many neighbours make one summary, at least 2; 0 means 5
	// (YiboZhao624/E-2GraphRAG, merge_num).
	Group int
	// Concurrency is how many summaries are made at a time; 0 means 8.
	Concurrency int
	// Progress, if set, is called after each summary.
	Progress Progress
}

// Sequential builds the tree of E²GraphRAG over the leaves of documents: in each,
// every Group of neighbours makes a summary, and so on with the summaries until a
// level has no more than 1.2 times Group. Its summaries are of the texts below
// them; the published code condenses node numbers from the second level on. A
// document of one leaf has no summary: it would say the same again.
func Sequential(ctx context.Context, docs [][]string, o SequentialOptions) (*Tree, error) {
	o.Group = cmp.Or(o.Group, 5)
	checks := opt.Checks{Of: "tree"}
	checks.Want(o.Summarizer != nil, "Summarizer", "missing", "a summarizer")
	opt.Min(&checks, "Group", o.Group, 2)
	opt.Min(&checks, "Concurrency", o.Concurrency, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	t, tops := newTree(docs)
	for {
		groups, more := make([][][]int32, len(tops)), false
		for d, top := range tops {
			first := len(t.Levels) == 1 && len(top) > 1
			if first || 5*len(top) > 6*o.Group { // 1.2 times, without rounding
				groups[d], more = neighbours(top, o.Group), true
			}
		}
		if !more {
			return t, ctx.Err()
		}
		if err := t.grow(ctx, o.Summarizer, tops, groups, o.Concurrency, o.Progress); err != nil {
			return nil, err
		}
	}
}

// neighbours cuts nodes into groups.
func neighbours(nodes []int32, group int) [][]int32 {
	var groups [][]int32
	for lo := 0; lo < len(nodes); lo += group {
		hi := min(lo+group, len(nodes))
		groups = append(groups, nodes[lo:hi:hi])
	}
	return groups
}
