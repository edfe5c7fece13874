// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"context"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// SequentialOptions of [Sequential].
type SequentialOptions struct {
	// Summarizer is required.
	Summarizer summary.Summarizer
	// Embedder, if set, gives the tree the vectors of its nodes.
	Embedder embed.Embedder
	// Group is how many neighbours make one summary, at least 2; 0 means 5
	// (YiboZhao624/E-2GraphRAG, merge_num).
	Group int
	// Concurrency is how many summaries are made at a time; 0 means 8.
	Concurrency int
	// Progress, if set, is called after each summary.
	Progress Progress
}

// Sequential builds the tree of E²GraphRAG: each Group of neighbouring leaves
// makes a summary, and so on with the summaries until a level has no more than
// 1.2 times Group. Its summaries are of the texts below them; the published
// code condenses node numbers from the second level on.
func Sequential(ctx context.Context, leaves []string, o SequentialOptions) (*Tree, error) {
	o.Group = cmp.Or(o.Group, 5)
	checks := opt.Checks{Of: "tree"}
	checks.Want(o.Summarizer != nil, "Summarizer", "missing", "a summarizer")
	opt.Min(&checks, "Group", o.Group, 2)
	opt.Min(&checks, "Concurrency", o.Concurrency, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	t := newTree(leaves)
	for size := len(leaves); size > 0; {
		groups := neighbours(len(t.Nodes)-size, size, o.Group)
		if err := t.grow(ctx, o.Summarizer, groups, cmp.Or(o.Concurrency, concurrency), o.Progress); err != nil {
			return nil, err
		}
		size = len(groups)
		if 5*size <= 6*o.Group { // 1.2 times, without rounding
			break
		}
	}
	if o.Embedder != nil && len(leaves) > 0 {
		if err := t.embed(ctx, o.Embedder); err != nil {
			return nil, err
		}
	}
	return t, ctx.Err()
}

// neighbours cuts the n nodes from first on into groups.
func neighbours(first, n, group int) [][]int32 {
	var groups [][]int32
	for lo := 0; lo < n; lo += group {
		var g []int32
		for i := lo; i < min(lo+group, n); i++ {
			g = append(g, int32(first+i))
		}
		groups = append(groups, g)
	}
	return groups
}
