// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
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
	// A long bad reply is not fed back whole.
	script := llmtest.NewScript("m").Reply(llmtest.Any, strings.Repeat("blah ", 100_000), `{"verdict":"yes"}`)
	_, _, err := replies.Decode[verdict](t.Context(), script, llm.Prompt("?"))
	check.OK(t, err)
	n := len(script.Requests()[1].Messages[1].Text)
	check.True(t, n <= 2100, "%d bytes were fed back", n)
}
