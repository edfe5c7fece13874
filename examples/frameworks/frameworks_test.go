// SPDX-License-Identifier: Apache-2.0

package frameworks_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/cloudwego/eino/compose"
	"github.com/cloudwego/eino/schema"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	"github.com/tmc/langchaingo/llms/openai"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/examples/frameworks"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func system(t *testing.T) *kit.System {
	t.Helper()
	k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	s, err := hipporag2.New(k, hipporag2.Options{})
	if err == nil {
		_, err = s.Index(t.Context(), graphrag.Documents(
			graphrag.Document{ID: "ada", Title: "Ada", Text: "Ada Lovelace wrote about the Analytical Engine of Charles Babbage."},
			graphrag.Document{ID: "tides", Text: "The moon raises the tides of the sea."}))
	}
	check.OK(t, err)
	return s
}

// The agent searches the system, reads what it finds, and answers.
func TestLangChain(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		_, shown, asked := strings.Cut(req.Messages[len(req.Messages)-1].Text, "Action: search\nAction Input: tides")
		switch {
		case !asked:
			return llm.Reply{Text: "Thought: I have to look it up.\nAction: search\nAction Input: tides"}
		case strings.Contains(shown, "moon"):
			return llm.Reply{Text: "Thought: I know it.\nFinal Answer: The moon draws the water."}
		}
		return llm.Reply{Text: "Final Answer: nothing was shown: " + shown}
	}})
	defer server.Close()
	model := check.Of(openai.New(openai.WithBaseURL(server.OpenAIURL()), openai.WithModel("m"), openai.WithToken("none"))).OK(t)
	words := func(s string) int { return len(strings.Fields(s)) }
	answer, read, err := frameworks.LangChain(t.Context(), system(t), words, model, "What raises the tides?")
	check.True(t, err == nil && answer == "The moon draws the water." && read > 0, "%q, %d tokens, %v", answer, read, err)
}

// A chain of Eino and one of Genkit retrieve from a system; an error of the system is an error of the chain.
func TestFrameworks(t *testing.T) {
	const question = "What did Ada Lovelace write about?"
	chain, err := compose.NewChain[string, []*schema.Document]().AppendRetriever(frameworks.Eino(system(t))).Compile(t.Context())
	check.OK(t, err)
	docs, err := chain.Invoke(t.Context(), question)
	check.True(t, err == nil && len(docs) != 0 && docs[0].MetaData["document"] == "ada" &&
		docs[0].Score() > 0 && strings.Contains(docs[0].Content, "Babbage"), "eino: %v, %v", docs, err)
	g := genkit.Init(t.Context())
	r := frameworks.Genkit(g, "wildgraph/hipporag2", system(t), 1)
	got, err := genkit.Retrieve(t.Context(), g, ai.WithRetriever(r), ai.WithTextDocs(question))
	check.True(t, err == nil && len(got.Documents) == 1 && got.Documents[0].Metadata["document"] == "ada" &&
		strings.Contains(got.Documents[0].Content[0].Text, "Babbage"), "genkit: %v, %v", got, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.True(t, check.Err(chain.Invoke(ctx, question)) != nil, "eino: no error of a cancelled question")
	for _, file := range []string{"eino.go", "genkit.go"} {
		data, err := os.ReadFile(file)
		check.True(t, err == nil && strings.Count(string(data), "\n") <= 40, "%s has more than 40 lines, %v", file, err)
	}
}
