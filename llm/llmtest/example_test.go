// SPDX-License-Identifier: Apache-2.0

package llmtest_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func ExampleScript() {
	model := llmtest.NewScript("fake").
		Reply(llmtest.Contains("capital of France"), "Paris").
		Reply(llmtest.Any, "I do not know.")

	for _, q := range []string{"What is the capital of France?", "Why?"} {
		reply, err := model.Generate(context.Background(), llm.Prompt(q))
		fmt.Println(reply.Text, err)
	}
	fmt.Println(model.Calls(), "calls")
	// Output:
	// Paris <nil>
	// I do not know. <nil>
	// 2 calls
}
