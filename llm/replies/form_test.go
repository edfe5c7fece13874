// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/replies"
)

type form struct {
	Answer  bool
	Score   float64
	Keep    []int
	Names   []string
	Facts   []replies.Triple `json:"facts"`
	Details []struct {
		Head string
		Text string `llm:"alone"`
	}
	Of map[string][]string
}

// The second asking names the fault in the words of the form.
func TestAskedAgain(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"keep": ["none"]}`, `{"keep": ["1"]}`)
	got, _, err := replies.Decode[struct{ Keep []int }](t.Context(), m, llm.Prompt("?"))
	check.Must(t, err == nil && fmt.Sprint(got.Keep) == "[1]" && m.Calls() == 2, "%v %v", got, err)
	const want = "That reply does not have the form asked for: keep, element 1, holds a text where a number was expected. Reply again with one JSON object of exactly the form shown in the instructions, nothing around it."
	check.Equal(t, m.Requests()[1].Messages[2].Text, want)
}

// Whatever stands in a reply is read or refused; what is read is read again.
func FuzzForm(f *testing.F) {
	for _, s := range []string{`{"keep": ["1"], "facts": [["a", "b", 1]]}`, `{"of": {"a": {"b": "c"}}}`, `[{"names": 1e999}]`, `{"score": "-.5/1e9"}`, `{"details": "x"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		got, err := replies.Read[form](reply)
		if err != nil {
			return
		}
		raw, err := json.Marshal(struct {
			form
			Facts any `json:"facts"`
		}{got, nil})
		check.OK(t, err, "%s", reply)
		again, err := replies.Read[form](string(raw))
		got.Facts = nil
		check.True(t, err == nil && fmt.Sprint(again) == fmt.Sprint(got), "%s: %v, read again %v, %v", reply, got, again, err)
	})
}
