// SPDX-License-Identifier: Apache-2.0

package raptor

import (
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The best nodes that fit the budget are chosen, however many there are.
func TestChoose(t *testing.T) {
	nodes := make([]summary.Node, 1000)
	likeness := make([]float64, len(nodes))
	var want []int32
	for i := range likeness {
		n := i * 7 % len(nodes)
		likeness[n] = float64(900 - i) // the last hundred nodes are not similar
		want = append(want, int32(n))
	}
	s := &searcher{count: func(string) int { return 2 }, tree: &summary.Tree{Nodes: nodes}}
	for budget, most := range map[int]int{0: 0, 1: 0, 2: 1, 127: 63, 128: 64, 129: 64, 600: 300, 1 << 20: 900} {
		got := s.choose(likeness, budget)
		check.Equal(t, got, want[:most], "%d tokens: %d nodes, want the best %d", budget, len(got), most)
	}
}
