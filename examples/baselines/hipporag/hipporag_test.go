// SPDX-License-Identifier: Apache-2.0

package hipporag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
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

// With the recorded triples, and spelling in place of vectors, recall is at least that of the specification,
// section 11: 66.1 % at 5 with names found by a rule, and 47.6 without PageRank.
func TestMuSiQue(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	for _, tt := range []struct {
		name string
		o    hipporag.Options
		min  float64
	}{
		{"hipporag", hipporag.Options{}, 66},
		{"code", hipporag.Options{OverwriteSynonyms: true, ASCIIPhrases: true}, 66},
		{"no synonyms", hipporag.Options{NoSynonyms: true}, 63},
		{"no walk", hipporag.Options{Damping: 1e-12}, 45},
		{"no specificity", hipporag.Options{NoSpecificity: true}, 63},
	} {
		tt.o.Extract, tt.o.Cut.KeepLinks = m.Triples, true
		s := check.Of(hipporag.New(k, tt.o)).OK(t)
		r := m.Measure(t, s)
		t.Logf("%-15s R@1 %.1f R@2 %.1f R@5 %.1f R@10 %.1f R@20 %.1f all@5 %.0f", tt.name, r.At[1], r.At[2], r.At[5], r.At[10], r.At[20], r.All[5])
		check.True(t, r.At[5] >= tt.min, "%s: R@5 %.1f, want %v", tt.name, r.At[5], tt.min)
	}
}

// TestGoldenRun repeats a run that was made with igraph, whose file is in testdata: exact linking, facts
// without synonyms, damping 0.5. The first ten passages of every question have its scores, and recall at 1, 2,
// 5, 10 and 20 is 30.3, 44.6, 55.1, 62.0 and 65.2 %, with all gold passages among five in 29 %.
func TestGoldenRun(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	data, err := os.ReadFile(filepath.Join(os.Getenv("MUSIQUE_DIR"), "../../golden/musique_train_runs.json"))
	if err != nil {
		t.Skip("the golden file does not stand beside the data")
	}
	var golden struct {
		Questions []struct {
			Gold  []int
			Nodes []string     `json:"query_nodes"`
			Top   [][2]float64 `json:"v1_exact_nosyn_d0.5_top10"`
		}
	}
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(golden.Questions) == len(m.Items), "%d questions, %v", len(golden.Questions), err)
	nodes := make(map[string][]string)
	for i, it := range m.Items {
		nodes[it.Question.Text] = golden.Questions[i].Nodes
	}
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	s, err := hipporag.New(k, hipporag.Options{
		Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples, NoSynonyms: true, ASCIIPhrases: true,
		Entities: func(_ context.Context, q string) ([]string, error) { return nodes[q], nil },
		Fallback: hipporag.None,
	})
	check.OK(t, err)
	r := m.Measure(t, s)
	for k, want := range map[int]float64{1: 30.3, 2: 44.6, 5: 55.1, 10: 62.0, 20: 65.2} {
		check.True(t, math.Abs(r.At[k]-want) <= 0.1, "R@%d is %.2f, want %.1f", k, r.At[k], want)
	}
	check.True(t, math.Abs(r.All[5]-29) <= 0.1, "all@5 is %.1f, want 29", r.All[5])
	for i, it := range m.Items {
		q := it.Question
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: q.Text, K: 10})).OK(t)
		tolerance := 1e-6
		if slices.Contains(golden.Questions[i].Nodes, "caricom") {
			// The reference has a phrase without letters, from the triple (Trinidad and Tobago dollar,
			// abbreviated as, $), which is rejected here. It is one edge away from this question's phrases.
			tolerance = 1e-4
		}
		for j, want := range golden.Questions[i].Top {
			if want[1] == 0 {
				break // passages without a score are not in the results
			}
			if j >= len(a.Ranked) {
				t.Errorf("%q: %d passages", q.Text, len(a.Ranked))
				break
			}
			if got := a.Ranked[j]; got.Chunk.Doc != fmt.Sprintf("%06d", int(want[0])) || math.Abs(got.Score-want[1]) > tolerance {
				t.Errorf("%q: place %d is passage %s with %v, want %v with %v", q.Text, j+1, got.Chunk.Doc, got.Score, want[0], want[1])
				break
			}
		}
	}
}

// steps returns a list of hits, by chunk and score, for each query.
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

// over is iterative retrieval over given lists.
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

// The worked example: a chunk has its best score over the steps, and of equal scores the chunk seen first is
// first. The second step's scores are from another PageRank, a hundredth of the first ones.
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

// The search ends with an answer, an empty or repeated thought, an unusable reply, or the last step, and then
// makes no more calls.
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

// The model gets the best passages so far and its thoughts, between marks.
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
