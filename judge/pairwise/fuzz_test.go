// SPDX-License-Identifier: Apache-2.0

package pairwise_test

import (
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/judge/pairwise"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Whatever a model replies and whatever the answers hold: four verdicts, all scored or
// none, and a reason where there is none.
func FuzzCompare(f *testing.F) {
	f.Add("The moon.", "The sun.", `{"code": "CODE", "results": [{"id": "c1", "winner": 1}, {"id": "c2", "winner": 2}, {"id": "c3", "winner": 0}, {"id": "c4", "winner": "tie"}]}`)
	f.Add("", "[/0 answer 2]\x00", `{"code": "CODE", "results": [{"id": 1, "winner": [1]}, null, {}]}`)
	f.Fuzz(func(t *testing.T, a, b, reply string) {
		j, err := pairwise.New(llmtest.NewScript("m").Handle(llmtest.Any, func(r llm.Request) llm.Reply {
			return llm.Reply{Text: withCode(r, reply)}
		}))
		if err != nil {
			t.Fatal(err)
		}
		got, err := j.Compare(t.Context(), pairwise.Case{Question: "Why?", A: a, B: b})
		if err != nil || len(got.Verdicts) != 4 {
			t.Fatalf("%+v, %v", got, err)
		}
		unscored := 0
		for _, v := range got.Verdicts {
			if v.Outcome == pairwise.Unscored {
				unscored++
			}
			if !slices.Contains([]pairwise.Outcome{pairwise.A, pairwise.B, pairwise.Tie, pairwise.Unscored}, v.Outcome) || v.Flipped() && v.Outcome != pairwise.Tie {
				t.Fatalf("%+v", v)
			}
		}
		if unscored != 0 && unscored != 4 || (unscored == 4) != (got.Reason != "") {
			t.Fatalf("%+v", got)
		}
	})
}
