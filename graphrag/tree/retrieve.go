// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Rank returns all nodes by their cosine to the vector of a question, best first,
// the lower number first among equal ones. The tree must have vectors, and the
// question's must be as long; otherwise there is nothing to rank. For large trees
// a vector.Index over the vectors does the same faster.
func (t *Tree) Rank(question []float32) []rank.Scored[int32] {
	all := make([]int32, len(t.Vectors))
	for i := range all {
		all[i] = int32(i)
	}
	return t.best(question, all, len(all))
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
		var next []int32
		for _, n := range t.best(question, layer, k) {
			chosen = append(chosen, n.ID)
			next = append(next, t.Nodes[n.ID].Children...)
		}
		slices.Sort(next)
		layer = slices.Compact(next)
	}
	return chosen
}

// best returns the k best of some nodes.
func (t *Tree) best(question []float32, nodes []int32, k int) []rank.Scored[int32] {
	var scored []rank.Scored[int32]
	for _, n := range nodes {
		if int(n) < len(t.Vectors) && len(t.Vectors[n]) == len(question) {
			scored = append(scored, rank.Scored[int32]{ID: n, Score: vector.Cosine(question, t.Vectors[n])})
		}
	}
	return rank.Best(scored, k)
}

// Fit returns how many of the texts fit into a budget, given their lengths in the
// order of preference: up to the first that does not, as in RAPTOR's code for
// its collapsed tree. (Algorithm 2 of the paper stops when the budget is just
// reached.)
func Fit(tokens []int, budget int) int {
	for i, n := range tokens {
		if budget -= n; budget < 0 {
			return i
		}
	}
	return len(tokens)
}
