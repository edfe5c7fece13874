// SPDX-License-Identifier: Apache-2.0

package langchain_test

import (
	"context"
	"fmt"

	"github.com/tmc/langchaingo/llms/fake"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/langchain"
)

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
