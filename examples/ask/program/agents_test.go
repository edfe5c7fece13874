// SPDX-License-Identifier: Apache-2.0

package program

import (
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// An agent answers over a folder, with quotes and places: by lines and passages alone, and by a
// system that it searches with. Without a model there is nobody to decide.
func TestAgents(t *testing.T) {
	dir := notes(t)
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		switch {
		case req.SchemaName != "search":
			return llm.Reply{Text: "It hears mice below the snow [1]."}
		case len(req.Messages) > 2:
			return llm.Reply{Text: `{"thought": "", "answer": "mice", "ids": [1]}`}
		case strings.Contains(req.Messages[0].Text, `"tool": "search"`):
			return llm.Reply{Text: `{"thought": "", "calls": [{"tool": "search", "query": "barn owl"}]}`}
		}
		return llm.Reply{Text: `{"thought": "", "calls": [{"tool": "read", "source": "notes/owl.md", "from": 0}]}`}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "none")
	for _, system := range []string{"files", "agentic:wild"} {
		if _, _, err := ask(t, "", "-docs", dir, "-system", system, "Who?"); err == nil || !strings.Contains(err.Error(), "needs -model") {
			t.Errorf("%s: %v", system, err)
		}
		out, errs, err := ask(t, "", "-docs", dir, "-system", system, "-model", "fake", "What does the barn owl hear?")
		check.True(t, err == nil && strings.HasPrefix(out, "It hears mice below the snow.\n") &&
			strings.Contains(out, "notes/owl.md:5"), "%s: %v: %s%s", system, err, out, errs)
	}
}
