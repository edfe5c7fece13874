// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// The values of RAPTOR for questions: the tokens of a collapsed tree's context
// (section 3) and the nodes per level of a traversal (parthsarthi03/raptor).
const (
	DefaultBudget  = 2000
	DefaultPerStep = 5
)

// Ranked is a node with its cosine to a question.
type Ranked struct {
	Node  int32
	Score float64
}

// Rank returns all nodes by their cosine to the vector of a question, best first,
// the lower number first among equal ones. The tree must have vectors, and the
// question's must be as long; otherwise there is nothing to rank.
func (t *Tree) Rank(question []float32) []Ranked {
	all := make([]int32, len(t.Vectors))
	for i := range all {
		all[i] = int32(i)
	}
	return t.rank(question, all)
}

// Traverse returns the nodes RAPTOR's traversal reads: the k best of the roots
// (of one tree, its top level), the k best of their children, and so on down to
// the leaves, in this order and each once.
func (t *Tree) Traverse(question []float32, k int) []int32 {
	if k < 1 {
		return nil
	}
	var chosen []int32
	for layer := t.Roots(); len(layer) > 0; {
		ranked := t.rank(question, layer)
		var next []int32
		for _, r := range ranked[:min(k, len(ranked))] {
			chosen = append(chosen, r.Node)
			next = append(next, t.Nodes[r.Node].Children...)
		}
		slices.Sort(next)
		layer = slices.Compact(next)
	}
	return chosen
}

func (t *Tree) rank(question []float32, nodes []int32) []Ranked {
	var ranked []Ranked
	for _, n := range nodes {
		if int(n) < len(t.Vectors) && len(t.Vectors[n]) == len(question) {
			ranked = append(ranked, Ranked{n, vector.Cosine(question, t.Vectors[n])})
		}
	}
	slices.SortFunc(ranked, func(a, b Ranked) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Node, b.Node))
	})
	return ranked
}

// Overflow says what [Fit] does with a text that does not fit.
type Overflow int

const (
	// Stop ends there; a text that fills the budget exactly still fits. RAPTOR's
	// code does this.
	Stop Overflow = iota
	// StopBelow is Stop, but the budget itself is already too much, as in
	// algorithm 2 of the paper.
	StopBelow
	// Skip passes over it and goes on.
	Skip
)

// Fit returns the positions of the texts that fit into a budget, given their
// lengths in the order of preference.
func Fit(tokens []int, budget int, overflow Overflow) []int {
	var chosen []int
	left := budget
	if overflow == StopBelow {
		left--
	}
	for i, n := range tokens {
		switch {
		case n <= left:
			left -= n
			chosen = append(chosen, i)
		case overflow != Skip:
			return chosen
		}
	}
	return chosen
}
