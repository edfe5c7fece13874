// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/vector"
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
