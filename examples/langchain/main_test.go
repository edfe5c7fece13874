// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The agent searches the folder, is shown what stands there, and answers.
func TestRun(t *testing.T) {
	source, err := os.ReadFile("main.go")
	n := bytes.Count(source, []byte("\n"))
	check.True(t, err == nil && n <= 80, "%d lines, %v", n, err)
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		_, shown, asked := strings.Cut(req.Messages[len(req.Messages)-1].Text, "Action: search\nAction Input: high tides")
		switch {
		case !asked:
			return llm.Reply{Text: "Thought: I have to look it up.\nAction: search\nAction Input: high tides"}
		case strings.Contains(shown, "moon"):
			return llm.Reply{Text: "Thought: I know it.\nFinal Answer: The moon draws the water."}
		}
		return llm.Reply{Text: "Final Answer: nothing was shown: " + shown}
	}})
	defer server.Close()
	var out strings.Builder
	check.OK(t, run(t.Context(), &out, server.OpenAIURL(), "m", "../ask/testdata/corpus", "Why are there two high tides a day?"))
	check.True(t, strings.HasPrefix(out.String(), "The moon draws the water.\n") && !strings.Contains(out.String(), "\n0 tokens"), "%v", out.String())
}
