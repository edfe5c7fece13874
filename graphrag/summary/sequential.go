// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
)

// DefaultGroup is how many neighbours E²GraphRAG condenses into one (YiboZhao624/
// E-2GraphRAG, merge_num).
const DefaultGroup = 5

// SequentialOptions of [Sequential].
type SequentialOptions struct {
	// Summarizer is required.
	Summarizer Summarizer
	// Embedder, if set, gives the tree the vectors of its nodes.
	Embedder embed.Embedder
	// Group is how many neighbours make one summary, at least 2; 0 means
	// [DefaultGroup].
	Group int
	// Workers is how many summaries are made at the same time; 0 means
	// [DefaultWorkers] or more.
	Workers int
	// Progress, if set, hears how far the tree is.
	Progress Progress
}

// Sequential builds the tree of E²GraphRAG: each Group of neighbouring leaves
// makes a summary, and so on with the summaries until a level has no more than
// 1.2 times Group. Its summaries are of the texts below them; the published
// code condenses node numbers from the second level on.
func Sequential(ctx context.Context, leaves []string, o SequentialOptions) (*Tree, error) {
	var errs []error
	if o.Summarizer == nil {
		errs = append(errs, errors.New("summary: Summarizer is missing"))
	}
	if o.Group == 0 {
		o.Group = DefaultGroup
	}
	if o.Group < 2 {
		errs = append(errs, fmt.Errorf("summary: Group is %d, want at least 2", o.Group))
	}
	if o.Workers < 0 {
		errs = append(errs, fmt.Errorf("summary: Workers is %d, want 0 or more", o.Workers))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	t := newTree(leaves)
	for size := len(leaves); size > 0; {
		groups := neighbours(len(t.Nodes)-size, size, o.Group)
		if err := t.grow(ctx, o.Summarizer, groups, workersOrDefault(o.Workers), o.Progress); err != nil {
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
