// SPDX-License-Identifier: Apache-2.0

package raptor_test

import (
	"fmt"
	"hash/fnv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/raptor"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A note among notes of one leaf each asks for most summaries again. With Stale it asks for those of the
// cluster that it joins, until too many joined, and a saved system opens with the same tree.
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
