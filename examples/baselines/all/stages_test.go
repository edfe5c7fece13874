// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A system whose model fails at every chunk says so, in whatever way it fails: an
// empty graph is never silent, and the names of the prompts' own examples are not
// taken for the corpus's.
func TestFailingModelIsCounted(t *testing.T) {
	docs := []graphrag.Document{
		{ID: "a", Text: "The Fram was built by Colin Archer for Fridtjof Nansen."},
		{ID: "b", Text: "Roald Amundsen sailed the Fram to the Bay of Whales."},
	}
	for kind, m := range map[string]*llmtest.Script{
		"refused":   llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrRefused}),
		"filtered":  llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrFiltered}),
		"truncated": llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrTruncated}),
		"empty":     llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrEmpty}),
		"garbage":   llmtest.NewScript("m").Reply(llmtest.Any, "I am sorry, I cannot do that."),
		"echo": llmtest.NewScript("m").Handle(llmtest.Any, func(r llm.Request) llm.Reply {
			return llm.Reply{Text: r.Messages[0].Text}
		}),
	} {
		for _, system := range systems(t) {
			s := check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
			stats := check.Of(s.Index(t.Context(), graphrag.Documents(docs...))).OK(t, "%s, %s", system.Name, kind)
			if system.Calls.Chunk == 0 { // no model reads chunks
				continue
			}
			want := graphrag.Stage{Name: "extract", Asked: 2, Failed: 2}
			if kind == "refused" || kind == "filtered" {
				want.Refused = 2
			}
			check.True(t, stats.Entities == 0 && len(stats.Stages) != 0 && stats.Stages[0] == want,
				"%s, %s: %d entities, stages %+v, want %+v", system.Name, kind, stats.Entities, stats.Stages, want)
		}
	}
}

// All calls of a kind begin alike: what differs from call to call, the code of the
// marks above all, comes with the user's message, so that a provider's cache of
// beginnings serves the rest.
func TestPromptsBeginAlike(t *testing.T) {
	var docs []graphrag.Document
	for _, text := range []string{"The Fram was built by Colin Archer.", "Roald Amundsen went to the Bay of Whales.", "Fridtjof Nansen came to Svalbard."} {
		docs = append(docs, graphrag.Document{ID: text[:5], Text: text})
	}
	for _, system := range systems(t) {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s := check.Of(system.New(baselinestest.ModelKit(t, m), kit.Common{})).OK(t)
		baselinestest.Index(t, s, docs...)
		for _, q := range []string{"Who built the Fram?", "Who went to the Bay of Whales?"} {
			check.OK(t, check.Err(s.Answer(t.Context(), graphrag.Question{Text: q, K: 2})))
		}
		begins := make(map[string]string)
		for _, r := range m.Requests() {
			first := r.Messages[0]
			kind := r.Stage // of passages and of questions
			if strings.Contains(r.Messages[len(r.Messages)-1].Text, " question]") {
				kind += " question"
			}
			if old, ok := begins[kind]; ok && old != first.Text && first.Role == llm.System {
				t.Errorf("%s, %s: begins with\n%s\nand with\n%s", system.Name, kind, old, first.Text)
			}
			begins[kind] = first.Text
		}
	}
}
