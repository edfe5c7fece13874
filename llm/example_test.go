// SPDX-License-Identifier: Apache-2.0

package llm_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/replies"
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

func ExampleDecode() {
	model := llmtest.NewScript("demo").Reply(llmtest.Any, "Of course!\n```json\n{'score': 4,}\n```")
	grade, _, err := replies.Decode[struct {
		Score int `json:"score"`
	}](context.Background(), model, llm.Prompt("How good is it?"))
	fmt.Println(grade.Score, err)
	// Output: 4 <nil>
}
