// SPDX-License-Identifier: Apache-2.0

package zeroshot_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/zeroshot"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func ExampleNew() {
	model := llmtest.NewScript("scripted").Reply(llmtest.Any, "The moon.")
	k, err := kit.ByModel(kit.ModelOptions{Model: model})
	if err != nil {
		panic(err)
	}
	system, err := zeroshot.New(k)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := system.Index(ctx, graphrag.Documents()); err != nil { // it reads no documents
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "What raises the tides?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text, len(a.Evidence))
	// Output: The moon. 0
}
