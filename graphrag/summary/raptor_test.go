// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/internal/check"
)

// topics embeds a text by the topics it names, "t0" to "t5", with some noise.
type topics struct{ noise float64 }

func (e topics) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, s := range texts {
		h := fnv.New64a()
		h.Write([]byte(s))
		rng := rand.New(rand.NewPCG(h.Sum64(), 1))
		v := make([]float32, 24)
		for topic := range 6 {
			v[topic] = float32(strings.Count(s, fmt.Sprintf("t%d", topic)))
		}
		for j := range v {
			v[j] += float32(e.noise * rng.NormFloat64())
		}
		out[i] = v
	}
	return out, ctx.Err()
}

func (e topics) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	v, err := e.EmbedDocuments(ctx, []string{text})
	return v[0], err
}

// onTopics returns n leaves, the topics taking turns.
func onTopics(n, topics int) []string {
	var leaves []string
	for i := range n {
		leaves = append(leaves, fmt.Sprintf("t%d leaf %d", i%topics, i))
	}
	return leaves
}

func raptor(t *testing.T, leaves []string, o summary.RaptorOptions) *summary.Tree {
	t.Helper()
	if o.Summarizer == nil {
		o.Summarizer = &joiner{}
	}
	if o.Embedder == nil {
		o.Embedder = topics{.02}
	}
	built := check.Of(summary.Raptor(t.Context(), [][]string{leaves}, o)).OK(t)
	checkTree(t, built, leaves)
	return built
}

// checkTree verifies what holds for every tree.
func checkTree(t *testing.T, built *summary.Tree, docs ...[]string) {
	t.Helper()
	leaves := slices.Concat(docs...)
	parents := make([]int, len(built.Nodes))
	for i, n := range built.Nodes {
		first, end := built.Level(n.Level)
		check.Must(t, int32(i) >= first && int32(i) < end, "node %d of level %d is not in %d to %d", i, n.Level, first, end)
		if n.Level == 0 {
			check.Must(t, n.Text == leaves[i] && len(n.Children) == 0, "leaf %d is %+v", i, n)
			continue
		}
		check.Must(t, len(n.Children) != 0 && slices.IsSorted(n.Children), "node %d has the children %v", i, n.Children)
		for _, c := range n.Children {
			parents[c]++
			check.Must(t, built.Nodes[c].Level < n.Level,
				"node %d of level %d has a child of level %d", i, n.Level, built.Nodes[c].Level)
		}
	}
	for i, n := range built.Nodes {
		check.Must(t, len(docs) != 1 || n.Level >= len(built.Levels)-1 || parents[i] != 0,
			"node %d of level %d belongs to nothing", i, n.Level)
	}
}

// The leaves of a document have a tree of their own, and the tops of all trees, and
// documents that are too short for one, are clustered in common.
func TestRaptorOfDocuments(t *testing.T) {
	docs := [][]string{onTopics(60, 3), {"t4 alone"}, nil, {"t5 alone", "t5 and again"}, onTopics(60, 4)}
	o := summary.RaptorOptions{Summarizer: &joiner{}, Embedder: topics{.02}, Dim: 2, Regularization: 1e-2}
	built := check.Of(summary.Raptor(t.Context(), docs, o)).OK(t)
	checkTree(t, built, docs...)
	of := func(leaf int32) int { // its document
		switch {
		case leaf < 60:
			return 0
		case leaf < 63:
			return int(leaf - 59)
		}
		return 4
	}
	alone, common := 0, 0
	first, end := built.Level(1)
	for n := first; n < end; n++ {
		docs := make(map[int]bool)
		for _, leaf := range built.Sources(n) {
			docs[of(leaf)] = true
		}
		check.Equal(t, len(docs), 1, "node %d of the first level is of %d documents", n, len(docs))
		alone++
	}
	for n := end; int(n) < len(built.Nodes); n++ {
		docs := make(map[int]bool)
		for _, leaf := range built.Sources(n) {
			docs[of(leaf)] = true
		}
		if len(docs) > 1 {
			common++
		}
	}
	check.True(t, alone != 0 && common != 0, "levels %v: %d summaries of one document, %d of several", sizes(built), alone, common)
}

func TestRaptorSameAtAnyWorkers(t *testing.T) {
	leaves := onTopics(90, 4)
	want := raptor(t, leaves, summary.RaptorOptions{Concurrency: 1, Embedder: topics{.3}})
	for _, w := range []int{2, 16} {
		check.Equal(t, cmp.Diff(want, raptor(t, leaves, summary.RaptorOptions{Concurrency: w, Embedder: topics{.3}})), "", "%d workers", w)
	}
}

func TestRaptorOfFewLeavesHasNoSummaries(t *testing.T) {
	built := raptor(t, onTopics(11, 2), summary.RaptorOptions{})
	check.Equal(t, len(built.Levels), 1, "levels %v", sizes(built))
	built = raptor(t, onTopics(12, 2), summary.RaptorOptions{})
	check.Equal(t, len(built.Levels), 2, "levels %v", sizes(built))
}

// No cluster is longer than the limit, whatever the vectors, unless it is one
// node.
func TestRaptorKeepsToTheLimit(t *testing.T) {
	words := func(s string) int { return len(strings.Fields(s)) }
	for name, leaves := range map[string][]string{
		"topics": onTopics(100, 3), "one topic": onTopics(70, 1), "all the same": slices.Repeat([]string{"t1 again again"}, 64),
	} {
		built := raptor(t, leaves, summary.RaptorOptions{ClusterTokens: 20, CountTokens: words, MaxLevels: 1})
		if len(built.Levels) != 2 {
			t.Errorf("%s: levels %v", name, sizes(built))
		}
		for i, n := range built.Nodes {
			sum := 0
			for _, c := range n.Children {
				sum += words(built.Nodes[c].Text)
			}
			check.True(t, sum <= 20 || len(n.Children) <= 1, "%s: node %d is made of %d words", name, i, sum)
		}
	}
}

// Summaries that all look alike do not keep it going for ever, and vectors of
// zeros are as good as any.
func TestRaptorEnds(t *testing.T) {
	blank := slices.Repeat([]string{""}, 40)
	built := raptor(t, blank, summary.RaptorOptions{Embedder: topics{}})
	check.True(t, len(built.Levels) <= 6, "levels %v", sizes(built))
	built = raptor(t, onTopics(200, 6), summary.RaptorOptions{ClusterTokens: 1})
	check.Equal(t, len(built.Levels), 1, "clusters of one node each made the levels %v", sizes(built))
}

type badEmbedder struct {
	topics
	vectors [][]float32
}

func (e badEmbedder) EmbedDocuments(context.Context, []string) ([][]float32, error) {
	return e.vectors, nil
}

func TestRaptorRefusesBadVectors(t *testing.T) {
	nan := float32(math.NaN())
	for want, vectors := range map[string][][]float32{
		"1 vectors for 2 texts": {{1}}, "of 1 numbers, the first one of 2": {{1, 2}, {1}}, "node 1 a vector with NaN": {{1}, {nan}}, "of 0 numbers": {{}, {}},
	} {
		_, err := summary.Raptor(t.Context(), [][]string{{"a", "b"}}, summary.RaptorOptions{Summarizer: &joiner{}, Embedder: badEmbedder{vectors: vectors}})
		check.True(t, err != nil && strings.Contains(err.Error(), want), "got %v, want …%s…", err, want)
	}
}
