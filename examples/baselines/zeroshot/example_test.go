// SPDX-License-Identifier: Apache-2.0

package zeroshot_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func ExampleNew() {
	model := llmtest.NewScript("scripted").Reply(llmtest.Any, "The moon.")
	kit, err := baselines.ModelKit(baselines.ModelOptions{Model: model})
	if err != nil {
		panic(err)
	}
	system, err := zeroshot.New(kit)
	if err != nil {
		panic(err)
	}
	a, err := system.Answer(context.Background(), graphrag.Question{Text: "What raises the tides?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text, len(a.Evidence))
	// Output: The moon. 0
}
