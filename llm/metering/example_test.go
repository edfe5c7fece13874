// SPDX-License-Identifier: Apache-2.0

package metering_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// A meter adds up the calls under its context.
func ExampleWithMeter() {
	model := metering.Metered(llmtest.NewScript("demo").Reply(llmtest.Any, "Colin Archer"))
	ctx, meter := metering.WithMeter(context.Background())
	for range 2 {
		if _, err := model.Generate(ctx, llm.Prompt("Who built the Fram?")); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(meter.Usage().Calls, "calls")
	// Output: 2 calls
}
