// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// unanswerable is a question that the pages say nothing about.
var unanswerable = graphrag.Question{Text: "Who composed the opera Turandot?", K: 3, Depth: 5, Form: graphrag.Sentence}

// knowing answers the last prompt as a model would that knows the opera: in reject
// mode it does as it is told. No report has to do with the opera.
func knowing(req llm.Request) llm.Reply {
	first, last := req.Messages[0].Text, req.Messages[len(req.Messages)-1].Text
	asked := strings.Contains(last, "Turandot")
	switch {
	case req.Stage != "read" && asked && strings.Contains(first, `{"points": [{`):
		return llm.Reply{Text: `{"points": [{"description": "They say nothing about an opera.", "score": 0}]}`}
	case req.Stage != "read" && asked && strings.Contains(first, `{"high_level_keywords": []`):
		return llm.Reply{Text: `{"high_level_keywords": [], "low_level_keywords": []}`}
	case req.Stage != "read":
		return baselinestest.Obedient(req)
	case asked && strings.Contains(first, "[none]"):
		return llm.Reply{Text: "[none]"}
	case asked:
		return llm.Reply{Text: "Giacomo Puccini [memory]."}
	}
	return llm.Reply{Text: "An answer [1]."}
}

// Every system of the registry leaves it to the reader whether to refuse: in reject
// mode a question that the pages do not answer has the reader's refusal, in open
// mode whoever has something to answer from answers, and a model always has.
func TestModes(t *testing.T) {
	for _, s := range systems(t) {
		t.Run(s.Name, func(t *testing.T) { modes(t, s) })
	}
}

func modes(t *testing.T, of all.System) {
	words := embed.Func(func(ctx context.Context, texts []string) (rows [][]float32, err error) {
		for _, s := range texts {
			rows = append(rows, llmtest.HashVector(strings.ToLower(s), 256))
		}
		return rows, ctx.Err()
	})
	kits := func(mode reader.Mode) map[string]kit.Kit {
		offline := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1, Mode: mode})).OK(t)
		model := check.Of(kit.ByModel(kit.ModelOptions{Model: llmtest.NewScript("m").Handle(llmtest.Any, knowing), Embedder: words, Mode: mode})).OK(t)
		return map[string]kit.Kit{kit.NameOffline: offline, kit.NameModel: model}
	}
	long := unanswerable // beyond what is a keyword by itself
	long.Text += " It was first performed after the death of its composer."
	for _, mode := range []reader.Mode{reader.Open, reader.Reject} {
		for name, k := range kits(mode) {
			if of.NoDocuments && k.AnswerModel == nil {
				k.AnswerModel = llmtest.NewScript("m")
			}
			s, err := of.New(k, kit.Common{})
			if err == nil {
				_, err = s.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
			}
			check.OK(t, err)
			for _, q := range []graphrag.Question{baselinestest.Questions[0], baselinestest.Questions[1], baselinestest.Questions[2], unanswerable, long} {
				a := check.Of(s.Answer(t.Context(), q)).OK(t)
				var last graphrag.Answer
				for piece, err := range s.Stream(t.Context(), q) {
					last = piece
					check.OK(t, err)
				}
				check.Equal(t, last, a, "%s, %s, %q (-Answer +Stream)", name, mode, q.Text)
				material := len(a.Evidence)+len(a.Derived) > 0
				asked := strings.Contains(q.Text, "Turandot")
				told := slices.ContainsFunc(a.Evidence, func(h graphrag.Hit) bool { return strings.Contains(h.Chunk.Text, "1911") }) // and not of 1912 alone
				switch {
				case mode == reader.Reject && asked:
					check.True(t, a.Refused && a.Text == reader.Refusal && len(a.Citations) <= 0,
						"%s in reject mode: %q is answered by %q, want the refusal", name, q.Text, a.Text)
				case a.Refused && (mode == reader.Open && (material || name == kit.NameModel) || told && q.Text == baselinestest.Questions[1].Text):
					t.Errorf("%s in %s mode refuses %q, %d passages and %d derived texts", name, mode, q.Text, len(a.Evidence), len(a.Derived))
				}
			}
		}
	}
}
