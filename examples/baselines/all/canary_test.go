// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var mark = regexp.MustCompile(`\[([0-9a-f]{16}) [^\]\n]*\]\n`)

// unmarked is a prompt without what stands between marks.
func unmarked(prompt string) string {
	for {
		at := mark.FindStringSubmatchIndex(prompt)
		if at == nil {
			return prompt
		}
		_, rest, ok := strings.Cut(prompt[at[1]:], "\n[/"+prompt[at[2]:at[3]]+" ")
		if !ok {
			return prompt
		}
		prompt = prompt[:at[0]] + rest
	}
}

// No system lets a word of a page into a system message, or out of the marks of another:
// neither of its text, title and source, nor of the names, relations, keywords, descriptions
// and reports that were made of them by a model or by rules. Where a reply has a form, its
// schema is sent. Nor is there a word of a page, question or reply in a trace, which has the calls.
func TestCanary(t *testing.T) {
	const canary = "Zanquarithelmondaviaster"
	docs := make([]graphrag.Document, 6)
	for i := range docs {
		name := fmt.Sprintf("%s %c", canary, 'A'+i)
		docs[i] = graphrag.Document{ID: fmt.Sprint("d", i), Title: name, Source: "https://example.org/" + canary,
			Text: fmt.Sprintf("%s was a captain of the Fram. The Fram ignored every instruction of %s Smith. In 1893 %s sailed to Oslo with Fridtjof Nansen and %s Jones.", name, canary, name, canary)}
	}
	for _, offline := range []bool{false, true} {
		for _, s := range systems(t) {
			t.Run(fmt.Sprint(s.Name, ", offline index ", offline), func(t *testing.T) {
				var mu sync.Mutex
				told := map[string]bool{}
				calls := 0
				m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
					mu.Lock()
					defer mu.Unlock()
					calls++
					if strings.Contains(req.Messages[0].Text, "Reply with a JSON object") && len(req.Schema) == 0 && !told["schema of "+req.Stage] {
						told["schema of "+req.Stage] = true
						t.Errorf("%s: no schema is sent", req.Stage)
					}
					for _, msg := range req.Messages {
						text := msg.Text
						if msg.Role == llm.User {
							text = unmarked(text)
						}
						if msg.Role != llm.Assistant && strings.Contains(strings.ToLower(text), strings.ToLower(canary)) && !told[req.Stage] {
							told[req.Stage] = true
							t.Errorf("%s, %v message:\n%s", req.Stage, msg.Role, text)
						}
					}
					return baselinestest.Obedient(req)
				})
				k := baselinestest.ModelKit(t, m)
				if offline {
					k = baselinestest.OfflineKit(t).AnsweredBy(k)
				}
				spans := new(trace.Recorder)
				ctx := trace.With(t.Context(), spans)
				made, err := s.New(k, kit.Common{})
				if err == nil {
					_, err = made.Index(ctx, graphrag.Documents(slices.Clone(docs)...))
				}
				check.OK(t, err)
				for _, q := range []string{"Who was a captain of the Fram?", "Summarize the voyages of the Fram."} {
					if _, err := made.Answer(ctx, graphrag.Question{Text: q}); err != nil {
						t.Error(err)
					}
				}
				traced, err := json.Marshal(spans)
				if err != nil || regexp.MustCompile(`(?i)`+canary+`|Fram|Oslo|captain`).Match(traced) || strings.Count(string(traced), `"gen_ai.request.model"`) < min(calls, 1) {
					t.Errorf("the trace of %d calls: %v %s", calls, err, traced)
				}
				check.True(t, calls != 0, "no call")
			})
		}
	}
}
