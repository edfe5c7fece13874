// SPDX-License-Identifier: Apache-2.0

package raptor_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// harbours is a page of many leaves with a sentence each.
func harbours(n int) graphrag.Document {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "Harbour %d of the coast was built of %s by the shipyard of master %c%c in the year %d for the %s of the town. ",
			i, []string{"oak", "granite", "slate", "brick"}[i%4], 'A'+i%26, 'a'+i%7, 1800+i, []string{"whalers", "pilots", "fishermen"}[i%3])
	}
	return graphrag.Document{ID: "harbours.md", Title: "Harbours", Text: b.String()}
}

func indexed(t *testing.T, k kit.Kit, o raptor.Options, docs ...graphrag.Document) *kit.System {
	t.Helper()
	s := check.Of(raptor.New(k, o)).OK(t)
	baselinestest.Index(t, s, docs...)
	return s
}

// The paper's budget, or the one of a question, limits leaves and summaries together; leaves are whole
// sentences of their page.
func TestBudget(t *testing.T) {
	k, page := baselinestest.OfflineKit(t), harbours(400)
	s := indexed(t, k, raptor.Options{Leaf: 40}, page)
	for _, tokens := range []int{0, 300, 900} {
		a, err := s.Retrieve(t.Context(), graphrag.Question{Text: "harbour of granite built for the whalers of the town by the shipyard", K: 1, Tokens: tokens})
		check.OK(t, err)
		budget, used := tokens, 0
		if budget == 0 {
			budget = 2000 // the paper's budget in tokens
		}
		for _, h := range a.Evidence {
			used += k.Count(h.Chunk.Titled())
			if text := page.Text[h.Chunk.Start:h.Chunk.End]; text != h.Chunk.Text || !strings.HasPrefix(text, "Harbour ") || !strings.HasSuffix(strings.TrimSpace(text), ".") {
				t.Errorf("leaf %q at %q", h.Chunk.Text, text)
			}
		}
		for _, d := range a.Derived {
			used += k.Count(d.Text)
			check.True(t, d.Kind == "summary" && slices.Equal(d.Docs, []string{"harbours.md"}), "%+v", d)
		}
		check.True(t, used <= budget && used >= budget-150, "%d tokens of %d are read", used, budget)
		check.True(t, len(a.Evidence) != 0 && (tokens != 0 || len(a.Derived) != 0),
			"%d leaves, %d summaries in %d tokens", len(a.Evidence), len(a.Derived), budget)
	}
}

// The worked example of the collapsed tree: nodes s1, c4, c1, s2, c7 sorted by similarity. The selection ends
// at the first node that does not fit; a node that fills the budget is taken.
func TestCollapsedBudget(t *testing.T) {
	nodes := []int{130, 86, 90, 140, 60}
	for budget, want := range map[int]int{0: 0, 300: 2, 400: 3, 446: 4, 450: 4, 505: 4, 506: 5, 1000: 5} {
		got := tokens.Within(nodes, budget, func(tokens int) int { return tokens })
		check.Equal(t, len(got), want, "budget %d: %d nodes", budget, len(got))
	}
}

// If no evidence is wanted, nothing is read, and chunks are ranked all the same.
func TestNoEvidence(t *testing.T) {
	s := indexed(t, baselinestest.OfflineKit(t), raptor.Options{}, baselinestest.Pages...)
	a, err := s.Retrieve(t.Context(), graphrag.Question{Text: "Who built the Fram?", Depth: 3})
	check.True(t, err == nil && len(a.Evidence)+len(a.Derived) == 0 && len(a.Ranked) != 0, "%+v, %v", a, err)
}

// A model writes one summary for each cluster, and summaries are cached: another page costs the summaries of
// its own tree and of the nodes above the trees.
func TestSummariesByModel(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
	s := indexed(t, baselinestest.ModelKit(t, m), raptor.Options{Leaf: 40}, harbours(100))
	first := baselinestest.Stages(m)
	check.Must(t, first["summarize"] >= 5, "calls %v", first)
	check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(baselinestest.Pages...))))
	if more := baselinestest.Stages(m)["summarize"] - first["summarize"]; more > 5 {
		t.Errorf("%d calls for a few short pages, after %d for the long one", more, first["summarize"])
	}
}

// If a model refuses or replies with nothing, quotes of its texts replace the summary, and the index reports
// the number of missing summaries.
func TestSummariesThatFail(t *testing.T) {
	for name, m := range map[string]*llmtest.Script{
		"refused": llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrRefused}), "empty": llmtest.NewScript("m").Reply(llmtest.Any, " \n"),
	} {
		s := check.Of(raptor.New(baselinestest.ModelKit(t, m), raptor.Options{Leaf: 40})).OK(t)
		stats := check.Of(s.Index(t.Context(), graphrag.Documents(harbours(100)))).OK(t)
		i := slices.IndexFunc(stats.Stages, func(s graphrag.Stage) bool { return s.Name == "summarize" })
		check.True(t, i >= 0 && stats.Stages[i].Asked >= 5 && stats.Stages[i].Failed == stats.Stages[i].Asked &&
			(stats.Stages[i].Refused > 0) == (name == "refused"), "%s: stages %+v", name, stats.Stages)
		found, err := s.Retrieve(t.Context(), graphrag.Question{Text: "harbour of granite for the whalers", K: 1})
		if err != nil || len(found.Derived) == 0 || !strings.Contains(found.Derived[0].Text, "Harbour") {
			t.Errorf("%s: %d summaries, %v", name, len(found.Derived), err)
		}
	}
}

// Pages without a sentence, without a word, and with one endless sentence are indexed.
func TestOddPages(t *testing.T) {
	for name, text := range map[string]string{
		"no sentence": "menu\nhome\nlogin", "no word": "--- | --- | ***\n\n---", "endless": strings.Repeat("harbour whale ", 5000),
		"blank": " \n\t ", "one letter": "a",
	} {
		s := indexed(t, baselinestest.OfflineKit(t), raptor.Options{}, graphrag.Document{ID: "x.md", Text: text})
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Which harbour has a whale?", K: 2})
		check.True(t, err == nil, "%s: %v", name, err)
		check.True(t, len(a.Ranked) > 0 == (name == "endless"), "%s: %d chunks", name, len(a.Ranked))
	}
}

// Traversal reads the best nodes of each layer, and nothing else.
func TestTraverse(t *testing.T) {
	s := indexed(t, baselinestest.OfflineKit(t), raptor.Options{Leaf: 40, Traverse: true, Layer: 2}, harbours(100))
	a := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: "harbour of granite for the whalers", K: 1})).OK(t)
	check.Equal(t, []int{len(a.Evidence), min(2, len(a.Derived))}, []int{2, 2}, "%d leaves, %d summaries", len(a.Evidence), len(a.Derived))
}

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	s, err := raptor.New(k, raptor.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := s.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
		panic(err)
	}
	a, err := s.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1, Tokens: 60})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	fmt.Println(a.Ranked[0].Chunk.Doc)
	// Output:
	// The Fram was built by Colin Archer.
	// fram.md
}

// In a tree of notes with one leaf each, a new note changes most summaries. With Stale it changes only its own
// cluster's summary, until too many notes have joined, and a saved system opens with the same tree.
func TestStale(t *testing.T) {
	var notes []graphrag.Document
	for i := range 420 {
		subject := []string{"granite harbour whalers", "railway tunnel engine", "orchard apple cider", "glacier moraine valley"}[i%4]
		notes = append(notes, graphrag.Document{ID: fmt.Sprintf("n%03d.md", i), Text: fmt.Sprintf("The %s of entry %d is listed under %c%c.", subject, i, 'a'+i%23, 'a'+i%19)})
	}
	grown := func(stale float64) (*kit.System, *llmtest.Script) {
		m := llmtest.NewScript("m").Handle(llmtest.Any, func(r llm.Request) llm.Reply {
			digest := fnv.New32()
			digest.Write([]byte(r.Messages[len(r.Messages)-1].Text))
			return llm.Reply{Text: fmt.Sprintf("It tells of %x.", digest.Sum32()), Finish: llm.FinishStop}
		})
		s := check.Of(raptor.New(baselinestest.ModelKit(t, m), raptor.Options{Stale: stale})).OK(t)
		return s, m
	}
	asked := func(s *kit.System, m *llmtest.Script, change func(*kit.System)) int {
		before := m.Calls()
		change(s)
		return m.Calls() - before
	}
	index := func(s *kit.System) { baselinestest.Index(t, s, notes[:400]...) }
	insert := func(note graphrag.Document) func(*kit.System) {
		return func(s *kit.System) {
			check.OK(t, check.Err(s.Insert(t.Context(), graphrag.Documents(note))))
		}
	}
	exact, em := grown(0)
	some, sm := grown(.1)
	all, first := asked(exact, em, index), asked(some, sm, index)
	one, few := asked(exact, em, insert(notes[400])), asked(some, sm, insert(notes[400]))
	check.True(t, all == first && one >= all/2 && few != 0 && few <= 4, "calls: an index %d and %d, a note %d, with Stale %d", all, first, one, few)
	most := 0
	for _, note := range notes[401:] {
		most = max(most, asked(some, sm, insert(note)))
	}
	check.True(t, most <= all, "%d calls for a note, %d for all", most, all)
	dir := t.TempDir()
	check.OK(t, some.Save(t.Context(), dir))
	opened, om := grown(.1)
	check.OK(t, check.Err(opened.Open(t.Context(), dir)))
	for _, q := range []string{"What does it tell of?", "It tells of entries."} {
		want := check.Of(some.Retrieve(t.Context(), graphrag.Question{Text: q, K: 5, Tokens: 1 << 20})).OK(t)
		got := check.Of(opened.Retrieve(t.Context(), graphrag.Question{Text: q, K: 5, Tokens: 1 << 20})).OK(t)
		diff := cmp.Diff(want.Derived, got.Derived)
		check.True(t, diff == "" && len(want.Derived) != 0 && om.Calls() == 0, "%q, opened with %d calls:\n%s", q, om.Calls(), diff)
	}
}
