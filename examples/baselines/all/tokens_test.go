// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/examples/baselines/msgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/tokens"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func named(name string) func(kit.Kit, kit.Common) (*kit.System, error) {
	s, _ := all.Find(name)
	return s.New
}

// What the systems take of a model to index the domain seafaring of the sample,
// prompts and replies in cl100k tokens: as recorded with the prompts of the first
// release, and with the prompts of now.
func TestTokensToIndex(t *testing.T) {
	calls := llmtest.Calls(t)
	r := baselinestest.NewRecorded(calls)
	before := make(map[string][3]int)
	count := tokens.Cl100k().Count
	for _, c := range calls {
		kind, _ := baselinestest.RecordedKind(c.System)
		b := before[kind]
		before[kind] = [3]int{b[0] + 1, b[1] + count(c.System) + count(c.User), b[2] + count(c.Reply)}
	}
	set, _, err := wildgraph.Load(os.DirFS("../../wildgraphbench/bench/sample"), wildgraph.Options{Domains: []string{"seafaring"}})
	if err != nil {
		t.Fatal(err)
	}
	var docs []graphrag.Document
	for doc, err := range set.Domains[0].Documents() {
		if err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	t.Logf("%-18s %28s %36s", "", "before: calls prompt reply", "now")
	for _, x := range []struct {
		system string
		make   func(kit.Kit, kit.Common) (*kit.System, error)
		kinds  []string
		most   float64 // of the tokens before
	}{
		{"msgraphrag-local", named("msgraphrag-local"), []string{"tuples", "describe", "report"}, 2. / 3},
		{"  always gleaned", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return msgraphrag.NewLocal(k, msgraphrag.LocalOptions{Options: msgraphrag.Options{Common: c, AlwaysGlean: true}})
		}, []string{"tuples", "describe", "report"}, 1},
		{"lightrag", named("lightrag"), []string{"lines"}, 2. / 3},
		{"  always gleaned", func(k kit.Kit, c kit.Common) (*kit.System, error) {
			return lightrag.New(k, lightrag.Options{Common: c, AlwaysGlean: true})
		}, []string{"lines"}, 1.15},
		{"fastgraphrag", named("fastgraphrag"), []string{"objects"}, 1.15},
		{"hipporag2", named("hipporag2"), []string{"names", "triples"}, 1.15},
	} {
		var was [3]int
		for _, kind := range x.kinds {
			for i := range was {
				was[i] += before[kind][i]
			}
		}
		m := llmtest.NewScript("recorded").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
			prompt := 0
			for _, message := range req.Messages {
				prompt += count(message.Text)
			}
			reply := r.Reply(req)
			return llm.Reply{Text: reply, Usage: llm.Usage{Calls: 1, PromptTokens: prompt, CompletionTokens: count(reply)}}
		})
		s, err := x.make(baselinestest.ModelKit(t, m), kit.Common{})
		if err != nil {
			t.Fatal(err)
		}
		now, err := s.Index(t.Context(), graphrag.Documents(docs...))
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%s: %d entities, %d relations, stages %+v", x.system, now.Entities, now.Relations, now.Stages)
		share := float64(now.PromptTokens+now.CompletionTokens) / float64(was[1]+was[2])
		t.Logf("%-18s %6d %8d %8d %6d %8d %8d %6.0f %%", x.system, was[0], was[1], was[2], now.Calls, now.PromptTokens, now.CompletionTokens, 100*share)
		if share > x.most {
			t.Errorf("%s takes %.2f of what it took, want %.2f", x.system, share, x.most)
		}
	}
}
