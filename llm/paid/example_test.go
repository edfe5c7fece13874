// SPDX-License-Identifier: Apache-2.0

package paid_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// A model within a budget: the second question is answered from the journal.
func Example() {
	dir, err := os.MkdirTemp("", "paid")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	client, err := paid.Open(paid.Options{
		File: filepath.Join(dir, "replies.journal"), Run: "demo", Tokens: 100_000,
		Prices: &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "demo", AsOf: "2025-06-01", Prompt: 1000, Completion: 4000}}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	model, err := client.Model(llmtest.NewScript("demo").Reply(llmtest.Any, "Paris"))
	if err != nil {
		fmt.Println(err)
		return
	}
	req := llm.Prompt("What is the capital of France?")
	req.Stage = "answer"
	for range 2 {
		reply, err := model.Generate(context.Background(), req)
		fmt.Println(reply.Text, err)
	}
	for _, line := range client.Account().Stages {
		fmt.Println(line.Name, line.Calls, line.Usage.PromptTokens, line.Usage.CompletionTokens, line.Cost)
	}
	// Output:
	// Paris <nil>
	// Paris <nil>
	// answer 1 8 2 0.0160
}

func ExampleEstimate() {
	var e paid.Estimate
	e.Add("extract", "gpt-x", llm.Usage{Calls: 1000, PromptTokens: 1_600_000, CompletionTokens: 200_000})
	e.Add("judge", "gpt-y", llm.Usage{Calls: 300, PromptTokens: 90_000, CompletionTokens: 6_000})
	prices := &paid.Prices{Currency: "USD", Models: []paid.Price{{Model: "gpt-x", AsOf: "2025-06-01", Prompt: 0.25, Completion: 2}}}
	for _, s := range e.Stages {
		fmt.Println(s.Stage, s.Usage.Calls, s.Usage.PromptTokens+s.Usage.CompletionTokens, prices.Cost(s.Model, s.Usage))
	}
	fmt.Println("total", e.Total().Calls, e.Cost(prices), prices.Currency)
	// Output:
	// extract 1000 1800000 0.8000
	// judge 300 96000 unknown
	// total 1300 at least 0.8000 USD
}
