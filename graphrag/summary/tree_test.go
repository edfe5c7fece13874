// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// joiner is a summarizer that keeps all it reads, and counts its calls.
type joiner struct {
	mu    sync.Mutex
	calls int
	fail  string // text to fail at
}

var errBroken = errors.New("broken")

func (j *joiner) Name() string { return "joiner" }

func (j *joiner) Summarize(ctx context.Context, texts []string) (summary.Summary, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.calls++
	if j.fail != "" && slices.Contains(texts, j.fail) {
		return summary.Summary{}, errBroken
	}
	return summary.Summary{Text: "(" + strings.Join(texts, " ") + ")", Usage: graphrag.Usage{Calls: 1}}, ctx.Err()
}

func numbered(n int) []string {
	var leaves []string
	for i := range n {
		leaves = append(leaves, fmt.Sprint(i))
	}
	return leaves
}

func sizes(t *summary.Tree) []int {
	var out []int
	for l := range t.Levels {
		first, end := t.Level(l)
		out = append(out, int(end-first))
	}
	return out
}

// The calls of E²GraphRAG's tree.
func TestSequentialCalls(t *testing.T) {
	for _, c := range []struct {
		leaves int
		levels []int
	}{
		{1, []int{1}}, {4, []int{1}}, {6, []int{2}}, {30, []int{6}}, {31, []int{7, 2}},
		{100, []int{20, 4}}, {1000, []int{200, 40, 8, 2}},
	} {
		j := &joiner{}
		tree, err := summary.Sequential(t.Context(), numbered(c.leaves), summary.SequentialOptions{Summarizer: j})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.levels, sizes(tree)[1:]); diff != "" {
			t.Errorf("%d leaves: %s", c.leaves, diff)
		}
		calls := 0
		for _, n := range c.levels {
			calls += n
		}
		if j.calls != calls || tree.Usage.Calls != calls {
			t.Errorf("%d leaves: %d calls, %d of them counted, want %d", c.leaves, j.calls, tree.Usage.Calls, calls)
		}
	}
}

func TestSequentialCondensesNeighbours(t *testing.T) {
	tree, err := summary.Sequential(t.Context(), numbered(7), summary.SequentialOptions{Summarizer: &joiner{}, Group: 2})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int{7, 4, 2}, sizes(tree)); diff != "" {
		t.Error(diff)
	}
	var texts []string
	for _, n := range tree.Nodes[7:] {
		texts = append(texts, n.Text)
	}
	want := []string{"(0 1)", "(2 3)", "(4 5)", "(6)", "((0 1) (2 3))", "((4 5) (6))"}
	if diff := cmp.Diff(want, texts); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int32{4, 5, 6}, tree.Leaves(12)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int32{3}, tree.Leaves(3)); diff != "" {
		t.Error(diff)
	}
}

func TestTreesOfNothing(t *testing.T) {
	s, err := summary.Sequential(t.Context(), nil, summary.SequentialOptions{Summarizer: &joiner{}})
	if err != nil || len(s.Nodes) != 0 || len(s.Levels) != 0 {
		t.Errorf("%v %v", s, err)
	}
	r, err := summary.Raptor(t.Context(), nil, summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{}})
	if err != nil || len(r.Nodes) != 0 {
		t.Errorf("%v %v", r, err)
	}
	if got := r.Traverse([]float32{1}, 3); got != nil {
		t.Errorf("traversed %v", got)
	}
}

func TestTreeErrors(t *testing.T) {
	_, err := summary.Sequential(t.Context(), numbered(40), summary.SequentialOptions{Summarizer: &joiner{fail: "12"}})
	if !errors.Is(err, errBroken) || !strings.Contains(err.Error(), "level 1: group 3 of 8") {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := summary.Sequential(ctx, numbered(40), summary.SequentialOptions{Summarizer: &joiner{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if _, err := summary.Raptor(ctx, numbered(40), summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{}}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	_, err = summary.Sequential(t.Context(), nil, summary.SequentialOptions{Group: 1, Workers: -1})
	for _, part := range []string{"Summarizer is missing", "Group is 1", "Workers is -1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
	_, err = summary.Raptor(t.Context(), nil, summary.RaptorOptions{Threshold: 2, Dim: -1, Regularization: -1})
	for _, part := range []string{"Summarizer is missing", "Embedder is missing", "Threshold is 2", "Dim is -1", "Regularization is -1"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%v does not say %q", err, part)
		}
	}
}

// RAPTOR's worked example: nodes s1, c4, c1, s2, c7 in rank order.
func TestFitWorkedExample(t *testing.T) {
	tokens := []int{130, 86, 90, 140, 60}
	for _, c := range []struct {
		budget   int
		overflow summary.Overflow
		want     []int
	}{
		{300, summary.Stop, []int{0, 1}},
		{300, summary.Skip, []int{0, 1, 4}},
		{400, summary.Stop, []int{0, 1, 2}},
		{400, summary.Skip, []int{0, 1, 2, 4}},
		{450, summary.Stop, []int{0, 1, 2, 3}},
		{450, summary.Skip, []int{0, 1, 2, 3}},
		{446, summary.Stop, []int{0, 1, 2, 3}},
		{446, summary.StopBelow, []int{0, 1, 2}},
		{0, summary.Stop, nil},
	} {
		if diff := cmp.Diff(c.want, summary.Fit(tokens, c.budget, c.overflow)); diff != "" {
			t.Errorf("budget %d, overflow %d: %s", c.budget, c.overflow, diff)
		}
	}
}

// Two levels over four leaves: each step keeps what the steps before chose.
func TestTraverseAndRank(t *testing.T) {
	tree := &summary.Tree{
		Levels: []int32{0, 4, 6},
		Nodes: []summary.Node{
			{}, {}, {}, {},
			{Level: 1, Children: []int32{0, 1}}, {Level: 1, Children: []int32{1, 2, 3}},
			{Level: 2, Children: []int32{4, 5}},
		},
		Vectors: [][]float32{{1, 0}, {0, 1}, {1, 1}, {-1, 0}, {2, 1}, {0, 3}, {0, 0}},
	}
	if diff := cmp.Diff([]int32{6, 4, 0}, tree.Traverse([]float32{1, 0}, 1)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int32{6, 4, 5, 0, 2}, tree.Traverse([]float32{1, 0}, 2)); diff != "" {
		t.Error(diff)
	}
	var order []int32
	for _, r := range tree.Rank([]float32{5, 0}) {
		order = append(order, r.Node)
	}
	if diff := cmp.Diff([]int32{0, 4, 2, 1, 5, 6, 3}, order); diff != "" {
		t.Error(diff)
	}
	if got := tree.Rank([]float32{1, 2, 3}); got != nil {
		t.Errorf("a vector of another length ranks %v", got)
	}
}

func TestJoin(t *testing.T) {
	build := func(leaves ...string) *summary.Tree {
		tree, err := summary.Sequential(t.Context(), leaves, summary.SequentialOptions{Summarizer: &joiner{}, Embedder: topics{}, Group: 2})
		if err != nil {
			t.Fatal(err)
		}
		return tree
	}
	long, short := build("t0", "t1", "t2", "t3", "t4", "t5"), build("t1 too")
	joined := summary.Join(short, &summary.Tree{}, long)
	if diff := cmp.Diff([]int{7, 4, 2}, sizes(joined)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]int32{7, 11, 12}, joined.Roots()); diff != "" {
		t.Error(diff)
	}
	if got := joined.Nodes[11].Text; got != "((t0 t1) (t2 t3))" {
		t.Errorf("node 11 is %q", got)
	}
	if diff := cmp.Diff([]int32{1, 2, 3, 4}, joined.Leaves(11)); diff != "" {
		t.Error(diff)
	}
	if joined.Usage.Calls != long.Usage.Calls+1 || len(joined.Vectors) != 13 {
		t.Errorf("%d calls, %d vectors", joined.Usage.Calls, len(joined.Vectors))
	}
	// The shallow tree is found as well as the deep one.
	question := make([]float32, 24)
	question[1] = 1
	if diff := cmp.Diff([]int32{7, 0}, joined.Traverse(question, 1)); diff != "" {
		t.Error(diff)
	}
	bare := summary.Join(long, &summary.Tree{Nodes: []summary.Node{{Text: "x"}}, Levels: []int32{0}})
	if bare.Vectors != nil || len(bare.Nodes) != 12 {
		t.Errorf("%d vectors, %d nodes", len(bare.Vectors), len(bare.Nodes))
	}
}

func TestProgress(t *testing.T) {
	var heard [][3]int
	_, err := summary.Sequential(t.Context(), numbered(6), summary.SequentialOptions{Summarizer: &joiner{}, Group: 2, Progress: func(level, done, total int) {
		heard = append(heard, [3]int{level, done, total})
	}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([][3]int{{1, 1, 3}, {1, 2, 3}, {1, 3, 3}, {2, 1, 2}, {2, 2, 2}}, heard); diff != "" {
		t.Error(diff)
	}
}
