// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Small versions of the forms that packages use.
type (
	truth struct {
		Verdict bool
		Reason  string
	}
	plan struct {
		SubQueries []struct {
			ID   string
			Text string `llm:"alone"`
		} `json:"sub_queries"`
	}
	report struct {
		Title    string
		Rating   float64
		Findings []struct {
			Summary     string
			Explanation string `llm:"alone"`
		}
	}
	facts   struct{ Triples []replies.Triple }
	numbers struct{ Keep []int }
	names   struct{ Names []string }
	state   struct {
		Status string   `llm:"alone,enum=enough|not enough"`
		Kinds  []string `json:"kinds,omitempty" llm:"enum=a|b"`
	}
)

// readAs returns the value that is read as a T, or the fault that the model would get.
func readAs[T any](reply string) string {
	value, err := replies.Read[T](reply)
	if f, ok := any(&value).(*facts); ok {
		for i := range f.Triples {
			f.Triples[i].Raw = ""
		}
	}
	if err != nil {
		return errors.Unwrap(err).Error()
	}
	return fmt.Sprint(value)
}

// Replies as models write them, and worse: a reply with one meaning is read, others are faults in the words of
// the form, and none is read as an empty answer.
func TestForms(t *testing.T) {
	of := map[string]func(string) string{"truth": readAs[truth], "plan": readAs[plan], "report": readAs[report], "facts": readAs[facts],
		"numbers": readAs[numbers], "names": readAs[names], "form": readAs[form], "state": readAs[state]}
	table(t, "forms.jsonl", func(c struct{ Form, Reply, Want string }) {
		got := of[c.Form](c.Reply)
		check.Equal(t, got, c.Want, "%s:\n%s", c.Reply, got)
	})
	const want = `{"type":"object","additionalProperties":false,"properties":{"status":{"type":"string","enum":["enough","not enough"]},"kinds":{"type":"array","items":{"type":"string","enum":["a","b"]}}},"required":["status"]}`
	check.Equal(t, string(replies.Schema[state]()), want)
}

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

// The second request names the fault in the words of the form.
func TestAskedAgain(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"keep": ["none"]}`, `{"keep": ["1"]}`)
	got, _, err := replies.Decode[struct{ Keep []int }](t.Context(), m, llm.Prompt("?"))
	check.Must(t, err == nil && fmt.Sprint(got.Keep) == "[1]" && m.Calls() == 2, "%v %v", got, err)
	const want = "That reply does not have the form asked for: keep, element 1, holds a text where a number was expected. Reply again with one JSON object of exactly the form shown in the instructions, nothing around it."
	check.Equal(t, m.Requests()[1].Messages[2].Text, want)
}

// Any reply is read or refused, and a value that was read can be written and read again.
func FuzzForm(f *testing.F) {
	for _, s := range []string{`{"keep": ["1"], "facts": [["a", "b", 1]]}`, `{"of": {"a": {"b": "c"}}}`, `[{"names": 1e999}]`, `{"score": "-.5/1e9"}`, `{"details": "x"}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		got, err := replies.Read[form](reply)
		if err != nil {
			return
		}
		raw := check.Of(json.Marshal(struct {
			form
			Facts any `json:"facts"`
		}{got, nil})).OK(t, "%s", reply)
		again, err := replies.Read[form](string(raw))
		got.Facts = nil
		check.True(t, err == nil && fmt.Sprint(again) == fmt.Sprint(got), "%s: %v, read again %v, %v", reply, got, again, err)
	})
}

type verdict struct {
	Verdict string `json:"verdict"`
}

func (v *verdict) Check() error {
	if v.Verdict != "yes" && v.Verdict != "no" {
		return fmt.Errorf("verdict %q is neither yes nor no", v.Verdict)
	}
	return nil
}

func TestDecode(t *testing.T) {
	for _, tc := range []struct {
		name    string
		replies []string
		want    string
		kind    llm.Kind
		calls   int
	}{
		{"good", []string{`{"verdict":"yes"}`}, "yes", "", 1},
		{"fenced", []string{"```\n{'verdict':'no',}\n```"}, "no", "", 1},
		{"prose first", []string{"It is right.", `{"verdict":"yes"}`}, "yes", "", 2},
		{"wrong type first", []string{`{"verdict":1}`, `{"verdict":"yes"}`}, "yes", "", 2},
		{"wrong value first", []string{`{"verdict":"maybe"}`, `{"verdict":"no"}`}, "no", "", 2},
		{"never", []string{"no", "no"}, "", llm.ErrInvalidOutput, 2},
		{"truncated", []string{`{"verdict":"ye`}, "", llm.ErrTruncated, 1},
	} {
		script := llmtest.NewScript("m").Reply(llmtest.Any, tc.replies...)
		ctx, meter := metering.WithMeter(t.Context())
		v, reply, err := replies.Decode[verdict](ctx, script, llm.Prompt("right?"))
		usage := reply.Usage
		if n := meter.Usage().Unread; n != 0 && tc.kind == "" || n != 1 && tc.kind != "" {
			t.Errorf("%s: %d replies are counted as lost", tc.name, n)
		}
		if tc.kind == "" {
			check.True(t, err == nil && v.Verdict == tc.want, "%s: %+v, %v", tc.name, v, err)
		} else {
			var e *llm.Error
			if !errors.Is(err, tc.kind) || !errors.As(err, &e) {
				t.Errorf("%s: %v, want %v", tc.name, err, tc.kind)
				continue
			}
			usage = e.Usage
		}
		check.True(t, script.Calls() == tc.calls && usage.Calls == tc.calls, "%s: %d calls, usage %+v", tc.name, script.Calls(), usage)
		requests := script.Requests()
		if got, want := string(requests[0].Schema), `{"type":"object","additionalProperties":false,"properties":{"verdict":{"type":"string"}},"required":["verdict"]}`; got != want || requests[0].JSON {
			t.Errorf("%s: the schema is %s, want %s", tc.name, got, want)
		}
		if tc.calls == 2 && (len(requests[1].Messages) != 3 || len(requests[0].Messages) != 1) {
			t.Errorf("%s: asked again with %+v", tc.name, requests[1].Messages)
		}
	}
	// The second request shows only a part of a long bad reply.
	script := llmtest.NewScript("m").Reply(llmtest.Any, strings.Repeat("blah ", 100_000), `{"verdict":"yes"}`)
	_, _, err := replies.Decode[verdict](t.Context(), script, llm.Prompt("?"))
	check.OK(t, err)
	n := len(script.Requests()[1].Messages[1].Text)
	check.True(t, n <= 2100, "%d bytes were fed back", n)
}
