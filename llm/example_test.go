// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
)

// A function of one's own is a model for every system, judge and cache.
func ExampleByFunc() {
	model := llm.ByFunc("echo", func(_ context.Context, req llm.Request) (llm.Reply, error) {
		return llm.Reply{Text: "You said: " + req.Messages[len(req.Messages)-1].Text, Finish: llm.FinishStop}, nil
	})
	reply, err := model.Generate(context.Background(), llm.Prompt("Hello"))
	fmt.Println(model.Name(), "|", reply.Text, err)
	// Output: echo | You said: Hello <nil>
}
