// SPDX-License-Identifier: Apache-2.0

package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// A chat model and an embedder of one OpenAI-compatible server, which is overloaded once
// and asked again.
func Example() {
	server := llmtest.NewServer(llmtest.ServerOptions{Key: "secret"})
	defer server.Close()
	server.Fail(llmtest.Fault{Status: http.StatusServiceUnavailable})
	provider := transport.Provider{Kind: "openai", Config: transport.Config{
		BaseURL: server.OpenAIURL(), Key: "secret", Transport: transport.Options{BaseDelay: time.Millisecond},
	}}
	model, err := provider.Model("some-model")
	if err != nil {
		fmt.Println(err)
		return
	}
	reply, err := model.Generate(context.Background(), llm.Prompt("hello"))
	fmt.Println(reply.Text, len(server.Requests()), "requests", err)

	embedder, err := provider.Embedder("some-embedder")
	if err != nil {
		fmt.Println(err)
		return
	}
	vectors, err := embedder.EmbedDocuments(context.Background(), []string{"one", "two"})
	fmt.Println(len(vectors), err)
	// Output:
	// You said: hello 2 requests <nil>
	// 2 <nil>
}
