// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// RepairPlan exports repairPlan to tests.
var RepairPlan = repairPlan

// Every usual form of a call is read from the first reply.
func TestCallShapes(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/calls.jsonl")).OK(t)
	for line := range bytes.Lines(table) {
		var c struct{ Reply, Want string }
		check.OK(t, json.Unmarshal(line, &c))
		m := llmtest.NewScript("m").Reply(llmtest.Any, c.Reply)
		next, _ := NextByModel(m)
		move, err := next(t.Context(), &Memory{Tools: []string{ToolSearch, ToolRead, ToolFind, ToolAnswer}})
		var got []string
		for _, call := range move.Calls {
			got = append(got, call.Tool+" "+call.about())
		}
		switch {
		case move.Answered:
			got = []string{"answered " + move.Answer}
		case got == nil:
			got = []string{"gives up"}
		}
		s := strings.Join(got, "; ")
		check.True(t, err == nil && s == c.Want && len(m.Requests()) == 1, "%s: %q after %d calls, %v, want %q", c.Reply, s, len(m.Requests()), err, c.Want)
	}
	long := strings.Repeat(`{"a":`, 200_000)
	check.Equal(t, uniform(long), long, "an open object is changed")
}

// Every form of a decomposition is read from the first reply, or requested again with the fault named.
func TestDecomposeShapes(t *testing.T) {
	table := check.Of(os.ReadFile("testdata/decompose.jsonl")).OK(t)
	for line := range bytes.Lines(table) {
		var c struct{ Reply, Want string }
		check.OK(t, json.Unmarshal(line, &c))
		m := llmtest.NewScript("m").Reply(llmtest.Any, c.Reply)
		decompose, _ := DecomposeByModel(m, nil, 0)
		subs, err := decompose(t.Context(), "Where was it built?")
		var parts []string
		for _, s := range subs {
			parts = append(parts, fmt.Sprint(s.ID, " ", s.Text, " ", s.DependsOn))
		}
		got := strings.Join(parts, "; ")
		if all := m.Requests(); len(all) > 1 {
			got = "again: " + all[1].Messages[len(all[1].Messages)-1].Text
			if fault, ok := strings.CutPrefix(c.Want, "again: "); ok && strings.Contains(got, fault) {
				got = c.Want
			}
		}
		check.True(t, err == nil && got == c.Want, "%s: %q, %v, want %q", c.Reply, got, err, c.Want)
	}
}
