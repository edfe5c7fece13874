// SPDX-License-Identifier: Apache-2.0

package replies_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/replies"
)

func ExampleDecode() {
	model := llmtest.NewScript("demo").Reply(llmtest.Any, "Of course!\n```json\n{'score': 4,}\n```")
	grade, _, err := replies.Decode[struct {
		Score int `json:"score"`
	}](context.Background(), model, llm.Prompt("How good is it?"))
	fmt.Println(grade.Score, err)
	// Output: 4 <nil>
}
