// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Node is a leaf, or a summary of other nodes.
type Node struct {
	// Level is 0 for leaves, and the number of the round in which a summary was
	// made: it is above the levels of all children.
	Level int
	Text  string
	// Children are the nodes summarized, in the order they were read; none for a leaf.
	Children []int32
	// Quotes say where the text of an extractive summary comes from; Source is a position in Children.
	Quotes []Quote
}

// Tree has texts as leaves and summaries above them. In a tree of [Raptor] a node can have several parents.
// A tree of few leaves may have no summaries, and one without leaves has no nodes.
type Tree struct {
	// Nodes level by level: first the leaves, document by document.
	Nodes []Node
	// Levels has where each level begins in Nodes.
	Levels []int32
}

// Level returns the numbers of the nodes of a level: from first to below end.
func (t *Tree) Level(level int) (first, end int32) {
	end = int32(len(t.Nodes))
	if level+1 < len(t.Levels) {
		end = t.Levels[level+1]
	}
	return t.Levels[level], end
}

// Sources returns the leaves that the text of a node rests on, in ascending order: those it quotes, or,
// where a text does not say what it quotes, all below it. A leaf rests on itself.
func (t *Tree) Sources(node int32) []int32 {
	var leaves []int32
	whole := make(map[int32]bool) // nodes that were looked at as a whole
	var visit func(n int32, start, end int)
	visit = func(n int32, start, end int) {
		of := &t.Nodes[n]
		if start == 0 && end == len(of.Text) {
			if whole[n] {
				return
			}
			whole[n] = true
		}
		switch {
		case of.Level == 0:
			leaves = append(leaves, n)
		case len(of.Quotes) == 0:
			for _, c := range of.Children {
				visit(c, 0, len(t.Nodes[c].Text))
			}
		}
		for _, q := range of.Quotes {
			if q.Start < end && start < q.End {
				visit(of.Children[q.Source], q.SourceStart, q.SourceEnd)
			}
		}
	}
	visit(node, 0, len(t.Nodes[node].Text))
	slices.Sort(leaves)
	return slices.Compact(leaves)
}

// roots returns the nodes without a parent in ascending order.
func (t *Tree) roots() []int32 {
	child := make([]bool, len(t.Nodes))
	for _, n := range t.Nodes {
		for _, c := range n.Children {
			child[c] = true
		}
	}
	var roots []int32
	for n, below := range child {
		if !below {
			roots = append(roots, int32(n))
		}
	}
	return roots
}

// Traverse returns the nodes RAPTOR's traversal reads, given the similarity of each node of the tree to the
// question: the k best of the roots, the k best of their children, and so on down to the leaves, in this
// order and each once. Nodes of a similarity of 0 or less are left out.
func (t *Tree) Traverse(similarity []float64, k int) []int32 {
	var chosen []int32
	taken := make(map[int32]bool)
	for layer := t.roots(); len(layer) > 0 && k > 0; {
		var scored []rank.Scored[int32]
		for _, n := range layer {
			if similarity[n] > 0 {
				scored = append(scored, rank.Scored[int32]{ID: n, Score: similarity[n]})
			}
		}
		layer = nil
		for _, n := range rank.Best(scored, k) {
			if !taken[n.ID] {
				taken[n.ID] = true
				chosen = append(chosen, n.ID)
			}
			layer = append(layer, t.Nodes[n.ID].Children...)
		}
		slices.Sort(layer)
		layer = slices.Compact(layer)
	}
	return chosen
}

// newTree returns a tree of leaves, and the leaves of each document.
func newTree(docs [][]string) (t *Tree, tops [][]int32) {
	t = &Tree{}
	for _, leaves := range docs {
		var top []int32
		for _, text := range leaves {
			top = append(top, int32(len(t.Nodes)))
			t.Nodes = append(t.Nodes, Node{Text: text})
		}
		tops = append(tops, top)
	}
	if len(t.Nodes) > 0 {
		t.Levels = []int32{0}
	}
	return t, tops
}

// concurrency is the default number of summaries made at a time: a model answers over a network.
const concurrency = 8

// grow adds a level of summaries, one for each group of nodes, and replaces the
// nodes of each document by its summaries; a document without groups stays as it
// is. A group of which the summarizer makes nothing has the text of its first node.
func (t *Tree) grow(ctx context.Context, s Summarizer, tops [][]int32, groups [][][]int32, workers int) error {
	level, all := len(t.Levels), slices.Concat(groups...)
	summaries := make([]Summary, len(all))
	err := share.Each(ctx, len(all), workers, func(ctx context.Context, i int) (err error) {
		texts := make([]string, len(all[i]))
		for j, n := range all[i] {
			texts[j] = t.Nodes[n].Text
		}
		if summaries[i], err = s.Summarize(ctx, texts); err != nil {
			return fmt.Errorf("group %d of %d: %w", i+1, len(all), err)
		}
		if strings.TrimSpace(summaries[i].Text) == "" {
			summaries[i] = Summary{Text: texts[0]}
		}
		return nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return fmt.Errorf("summary: level %d: %w", level, err)
	}
	t.Levels = append(t.Levels, int32(len(t.Nodes)))
	for d, of := range groups {
		if len(of) > 0 {
			tops[d] = nil
		}
		for _, group := range of {
			one := summaries[0]
			summaries = summaries[1:]
			tops[d] = append(tops[d], int32(len(t.Nodes)))
			t.Nodes = append(t.Nodes, Node{Level: level, Text: one.Text, Children: group, Quotes: one.Quotes})
		}
	}
	return nil
}

// SequentialOptions of [Sequential].
type SequentialOptions struct {
	// Summarizer is required.
	Summarizer Summarizer
	// Group is the number of neighbours that make one summary, at least 2; 0 means 5
	// (YiboZhao624/E-2GraphRAG, merge_num).
	Group int
}

// Sequential builds the tree of E²GraphRAG over the leaves of documents: in each, every Group of neighbours
// makes a summary, and every Group of these, until a level has at most 1.2 times Group. Its summaries are
// of the texts below them; the published code condenses node numbers from the second level on. A document
// of one leaf has no summary, which would repeat it.
func Sequential(ctx context.Context, docs [][]string, o SequentialOptions) (*Tree, error) {
	o.Group = cmp.Or(o.Group, 5)
	checks := opt.Checks{Of: "summary"}
	checks.Want(o.Summarizer != nil, "Summarizer", "missing", "a summarizer")
	opt.Min(&checks, "Group", o.Group, 2)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	t, tops := newTree(docs)
	for {
		groups, more := make([][][]int32, len(tops)), false
		for d, top := range tops {
			first := len(t.Levels) == 1 && len(top) > 1
			if first || 5*len(top) > 6*o.Group { // 1.2 times, without rounding
				groups[d], more = slices.Collect(slices.Chunk(top, o.Group)), true
			}
		}
		if !more {
			return t, ctx.Err()
		}
		if err := t.grow(ctx, o.Summarizer, tops, groups, concurrency); err != nil {
			return nil, err
		}
	}
}
