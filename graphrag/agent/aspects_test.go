// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestAspectsByModel(t *testing.T) {
	const question = "Summarize the voyages of the Fram."
	forty := make([]string, 40)
	for i := range forty {
		forty[i] = fmt.Sprintf(`"ice %d"`, i)
	}
	for _, tt := range []struct {
		name, reply string
		want        []string
		calls       int
	}{
		{"as told", `{"aspects": ["Nansen 1893 drift", "Sverdrup Greenland"]}`, []string{"Nansen 1893 drift", "Sverdrup Greenland"}, 1},
		{"loosely", "Here: {\"aspects\": [1911, null, {\"a\": 1}, \"Nansen\\n drift\", \"nansen drift\", \"\", \"...\"]}", []string{"1911", "Nansen drift"}, 1},
		{"one alone", `{"aspects": "Nansen"}`, []string{"Nansen"}, 1},
		{"the question again", `{"aspects": ["summarize the Voyages of the Fram"]}`, nil, 1},
		{"none", `{"aspects": []}`, nil, 1},
		{"forty", `{"aspects": [` + strings.Join(forty, ",") + `]}`, []string{"ice 0", "ice 1", "ice 2", "ice 3", "ice 4", "ice 5", "ice 6", "ice 7"}, 1},
		{"another object", `{"queries": []}`, nil, 2},
		{"no JSON", `Let me think.`, nil, 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Stage(agent.StageAspects), tt.reply)
		plan, err := agent.AspectsByModel(m)
		if err != nil {
			t.Fatal(err)
		}
		got, err := plan(t.Context(), question, []string{"The Fram", "a title\nof two lines", strings.Repeat("long ", 1000)})
		if fmt.Sprint(got) != fmt.Sprint(tt.want) || err != nil || m.Calls() != tt.calls {
			t.Errorf("%s: %q after %d calls, %v; want %q after %d", tt.name, got, m.Calls(), err, tt.want, tt.calls)
		}
		req := m.Requests()[0]
		said := req.Messages[len(req.Messages)-1].Text
		if !strings.Contains(said, question) || !strings.Contains(said, "The Fram\na title of two lines\nlong") || len(said) > 3000 || !strings.Contains(req.Messages[0].Text, fmt.Sprint("up to ", retrieve.MaxAspects)) {
			t.Errorf("%s: the prompt is %s", tt.name, said)
		}
	}
	denied, _ := agent.AspectsByModel(llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}))
	if _, err := denied(t.Context(), question, nil); !errors.Is(err, llm.ErrAuth) {
		t.Error(err)
	}
	if _, err := agent.AspectsByModel(nil); err == nil {
		t.Error("no model")
	}
}
