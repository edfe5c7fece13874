// SPDX-License-Identifier: Apache-2.0

package upstream_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/upstream"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func Example() {
	model := llmtest.NewScript("demo").Reply(llmtest.Any, `I think so: {"score": "yes", "reason": "same date"}`)
	j, err := upstream.New(model, upstream.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := j.Fact(context.Background(), judge.Case{Reference: "It opened in 1890.", Answer: "In 1890."})
	fmt.Println(f.Value, f.Reason, err)
	// Output: 1 same date <nil>
}
