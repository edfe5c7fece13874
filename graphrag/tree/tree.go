// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// Node is a leaf or a summary.
type Node struct {
	// Level is 0 for leaves, 1 for summaries of leaves, and so on.
	Level int
	Text  string
	// Children are the nodes summarized, in the order they were read; none for
	// a leaf.
	Children []int32
	// Quotes say where the text of an extractive summary comes from; Source is a
	// position in Children.
	Quotes []summary.Quote
}

// Progress is called with how many of the summaries of a level are made. Calls do
// not overlap.
type Progress func(level, done, total int)

// Tree has texts as leaves and summaries above them. In a tree of [Raptor] a node
// can have several parents. A tree of few leaves may have no summaries, and one
// without leaves has no nodes.
type Tree struct {
	// Nodes level by level: first the leaves in their order.
	Nodes []Node
	// Levels has where each level begins in Nodes.
	Levels []int32
	// Vectors of the nodes, if an embedder was given.
	Vectors [][]float32
}

// Level returns the numbers of the nodes of a level: from first to below end.
func (t *Tree) Level(level int) (first, end int32) {
	end = int32(len(t.Nodes))
	if level+1 < len(t.Levels) {
		end = t.Levels[level+1]
	}
	return t.Levels[level], end
}

// Leaves returns the leaves below a node in ascending order: what its text rests
// on. A leaf rests on itself.
func (t *Tree) Leaves(node int32) []int32 {
	reached := []int32{node}
	for level := t.Nodes[node].Level; level > 0; level-- {
		var next []int32
		for _, n := range reached {
			if t.Nodes[n].Level == 0 {
				next = append(next, n)
			}
			next = append(next, t.Nodes[n].Children...)
		}
		slices.Sort(next)
		reached = slices.Compact(next)
	}
	return reached
}

// Roots returns the nodes without a parent in ascending order.
func (t *Tree) Roots() []int32 {
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

// Join makes one tree of several, such as those of the documents of a corpus.
// Its leaves are those of the first tree, then those of the second, and so on;
// other nodes get new numbers. It has vectors if all trees have.
func Join(trees ...*Tree) *Tree {
	out, embedded := &Tree{}, true
	numbers := make([][]int32, len(trees)) // new ones of the nodes of each tree
	for i, t := range trees {
		numbers[i] = make([]int32, 0, len(t.Nodes))
		embedded = embedded && len(t.Vectors) == len(t.Nodes)
	}
	for level := 0; ; level++ {
		begin := len(out.Nodes)
		for i, t := range trees {
			if level >= len(t.Levels) {
				continue
			}
			first, end := t.Level(level)
			for n := first; n < end; n++ {
				node := t.Nodes[n]
				node.Children = slices.Clone(node.Children)
				for j, c := range node.Children {
					node.Children[j] = numbers[i][c]
				}
				numbers[i] = append(numbers[i], int32(len(out.Nodes)))
				out.Nodes = append(out.Nodes, node)
				if embedded {
					out.Vectors = append(out.Vectors, t.Vectors[n])
				}
			}
		}
		if len(out.Nodes) == begin {
			return out
		}
		out.Levels = append(out.Levels, int32(begin))
	}
}

// newTree returns a tree of leaves.
func newTree(leaves []string) *Tree {
	t := &Tree{}
	if len(leaves) > 0 {
		t.Levels = []int32{0}
	}
	for _, text := range leaves {
		t.Nodes = append(t.Nodes, Node{Text: text})
	}
	return t
}

// grow adds a level of summaries, one for each group of nodes.
func (t *Tree) grow(ctx context.Context, s summary.Summarizer, groups [][]int32, concurrency int, progress Progress) error {
	level := len(t.Levels)
	texts := make([][]string, len(groups))
	for i, g := range groups {
		for _, n := range g {
			texts[i] = append(texts[i], t.Nodes[n].Text)
		}
	}
	summaries := make([]summary.Summary, len(groups))
	var mu sync.Mutex
	done := 0
	err := par.Each(ctx, len(groups), concurrency, func(i int) (err error) {
		if summaries[i], err = s.Summarize(ctx, texts[i]); err != nil {
			return fmt.Errorf("group %d of %d: %w", i+1, len(groups), err)
		}
		if progress != nil {
			mu.Lock()
			defer mu.Unlock()
			done++
			progress(level, done, len(groups))
		}
		return nil
	})
	if err = cmp.Or(ctx.Err(), err); err != nil {
		return fmt.Errorf("tree: level %d: %w", level, err)
	}
	t.Levels = append(t.Levels, int32(len(t.Nodes)))
	for i, one := range summaries {
		t.Nodes = append(t.Nodes, Node{Level: level, Text: one.Text, Children: groups[i], Quotes: one.Quotes})
	}
	return nil
}

// concurrency is the default number of summaries made at a time: a model answers
// over a network.
const concurrency = 8

// embed adds the vectors of the nodes that have none yet.
func (t *Tree) embed(ctx context.Context, e embed.Embedder) error {
	var texts []string
	for _, n := range t.Nodes[len(t.Vectors):] {
		texts = append(texts, n.Text)
	}
	vectors, err := e.EmbedDocuments(ctx, texts)
	if err != nil {
		return fmt.Errorf("tree: embed %d nodes: %w", len(texts), err)
	}
	if len(vectors) != len(texts) {
		return fmt.Errorf("tree: the embedder gave %d vectors for %d texts", len(vectors), len(texts))
	}
	t.Vectors = append(t.Vectors, vectors...)
	for i, v := range t.Vectors {
		if len(v) != len(t.Vectors[0]) || len(v) == 0 {
			return fmt.Errorf("tree: the embedder gave node %d a vector of %d numbers, the first one of %d", i, len(v), len(t.Vectors[0]))
		}
		for _, c := range v {
			if c-c != 0 {
				return fmt.Errorf("tree: the embedder gave node %d a vector with %v", i, c)
			}
		}
	}
	return nil
}
