// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
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
		for _, system := range all.Systems() {
			s, err := system.New(baselinestest.ModelKit(t, m), kit.Common{})
			if err != nil {
				t.Fatal(err)
			}
			stats, err := s.Index(t.Context(), baselinestest.Stream(docs...))
			if err != nil {
				t.Fatalf("%s, %s: %v", system.Name, kind, err)
			}
			if system.PerChunk == 0 {
				continue
			}
			want := graphrag.Stage{Name: "extract", Asked: 2, Failed: 2}
			if kind == "refused" || kind == "filtered" {
				want.Refused = 2
			}
			if stats.Entities != 0 || len(stats.Stages) == 0 || stats.Stages[0] != want {
				t.Errorf("%s, %s: %d entities, stages %+v, want %+v", system.Name, kind, stats.Entities, stats.Stages, want)
			}
		}
	}
}
