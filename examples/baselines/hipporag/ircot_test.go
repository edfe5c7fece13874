// SPDX-License-Identifier: Apache-2.0

package hipporag_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// steps gives a list of hits for each query, by chunk and score.
type steps map[string][]graphrag.Hit

func (s steps) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	return graphrag.Found{Ranked: s[q.Text]}, ctx.Err()
}

func hits(pairs ...any) (out []graphrag.Hit) {
	for i := 0; i < len(pairs); i += 2 {
		id := pairs[i].(string)
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{ID: id, Doc: id, Text: "Text of " + id + "."}, Score: pairs[i+1].(float64)})
	}
	return out
}

// over is iterative retrieval over lists that are given.
func over(t *testing.T, m llm.Model, s steps, most int) *kit.System {
	t.Helper()
	k := baselinestest.ModelKit(t, m)
	f := hipporag.Around(kit.Frame{Name: "given", Kit: k, Build: func(context.Context, *kit.Corpus) (graphrag.Retriever, error) { return s, nil }}, most, 0)
	made := check.Of(kit.New(f)).OK(t)
	baselinestest.Index(t, made, baselinestest.Pages[0])
	return made
}

func thinking(thoughts ...string) *llmtest.Script {
	return llmtest.NewScript("m").Reply(llmtest.Stage(hipporag.StageThought), thoughts...)
}

// The worked example: a chunk has its best score over the steps, and of equal ones
// the first that was seen is first. The second step's scores are another walk's, a
// hundredth of those of the first.
func TestMerge(t *testing.T) {
	s := over(t, thinking("second", "So the answer is: p4."), steps{
		"first": hits("p1", 1.0, "p2", .6, "p3", .2), "second": hits("p4", .01, "p2", .009, "p1", .001),
	}, 4)
	found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "first", K: 9})).OK(t)
	var got []string
	for _, h := range found.Ranked {
		got = append(got, fmt.Sprintf("%s %.1f", h.Chunk.ID, h.Score))
	}
	check.Equal(t, got, []string{"p1 1.0", "p4 1.0", "p2 0.9", "p3 0.2"})
}

// The search ends with an answer, an empty thought, one that was had before, a reply
// that cannot be used, or the last step, and asks for nothing more then.
func TestEnds(t *testing.T) {
	lists := steps{"q": hits("a", 1.0), "one": hits("b", 1.0), "two": hits("c", 1.0), "three": hits("d", 1.0)}
	for name, tt := range map[string]struct {
		m     *llmtest.Script
		calls int
		found int
	}{
		"answer":    {thinking("one", "So the answer is: a."), 2, 2},
		"in a text": {thinking("Now I know. so the answer is: b"), 1, 1},
		"no answer": {thinking("So the answer is not in the passages.", "two", "So, the answer is b."), 2, 2},
		"a label":   {thinking("Next thought: one", "Thought 2: two"), 2, 3},
		"sentences": {thinking("one. It is known for more.", "SO THE ANSWER IS Oslo"), 2, 1},
		"empty":     {thinking(" \n "), 1, 1},
		"again":     {thinking("one", "one"), 2, 2},
		"question":  {thinking("q"), 1, 1},
		"steps":     {thinking("one", "two", "three", "four"), 2, 3},
		"refused":   {llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrRefused}), 1, 1},
	} {
		found, err := over(t, tt.m, lists, 3).Retrieve(t.Context(), graphrag.Question{Text: "q", K: 9})
		if calls := baselinestest.Stages(tt.m)[hipporag.StageThought]; err != nil || calls != tt.calls || len(found.Ranked) != tt.found {
			t.Errorf("%s: %d calls, %d chunks, %v; want %d and %d", name, calls, len(found.Ranked), err, tt.calls, tt.found)
		}
	}
}

// What the model is shown: the best passages so far and its thoughts, between marks.
func TestPrompt(t *testing.T) {
	m := thinking("one", "two")
	check.OK(t, check.Err(over(t, m, steps{"q": hits("a", 1.0), "one": hits("b", 1.0)}, 3).Retrieve(t.Context(), graphrag.Question{Text: "q", K: 1})))
	asked := m.Requests()
	second := asked[1].Messages[1].Text
	for _, want := range []string{"Text of a.", "Text of b.", "[1] one", "Question: q"} {
		check.Contains(t, second, want)
	}
	check.True(t, !strings.Contains(asked[0].Messages[1].Text, "thoughts"), "thoughts before the first:\n%s", asked[0].Messages[1].Text)
}

func ExampleNewIRCoT() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := hipporag.NewIRCoT(k, hipporag.IRCoTOptions{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	for _, step := range a.Steps {
		fmt.Println(strings.TrimSpace(step.Kind + " " + step.Query))
	}
	// Output:
	// The Fram was built by Colin Archer.
	// search Who built the Fram?
	// link Fram
	// reflect
	// stop
}
