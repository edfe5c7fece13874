// SPDX-License-Identifier: Apache-2.0

package langchain_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms/fake"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A chat model and an embedder of one OpenAI-compatible server.
func ExampleOpenAI() {
	server := llmtest.NewServer(llmtest.ServerOptions{Key: "secret"})
	defer server.Close()
	config := langchain.Config{Model: "some-model", BaseURL: server.OpenAIURL(), Key: "secret"}

	model, err := langchain.OpenAI(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("hello"))
	fmt.Println(reply.Text, err)

	embedder, err := langchain.OpenAIEmbedder(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := embedder.EmbedDocuments(context.Background(), []string{"one", "two"})
	fmt.Println(len(vectors), err)
	// Output:
	// You said: hello <nil>
	// 2 <nil>
}

// Any langchaingo model serves; this one comes with langchaingo.
func ExampleFrom() {
	model, err := langchain.From(fake.NewFakeLLM([]string{"forty-two"}), langchain.FromOptions{Name: "fake"})
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("What is six times seven?"))
	fmt.Println(reply.Text, reply.Usage.Estimated, err)
	// Output: forty-two true <nil>
}
