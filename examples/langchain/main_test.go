// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The agent searches the folder, is shown what stands there, and answers.
func TestRun(t *testing.T) {
	source, err := os.ReadFile("main.go")
	if n := bytes.Count(source, []byte("\n")); err != nil || n > 80 {
		t.Errorf("%d lines, %v", n, err)
	}
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
	if err := run(t.Context(), &out, server.OpenAIURL(), "m", "../ask/testdata/corpus", "Why are there two high tides a day?"); err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(out.String(), "The moon draws the water.\n") || strings.Contains(out.String(), "\n0 tokens") {
		t.Error(out.String())
	}
}
