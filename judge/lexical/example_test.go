// SPDX-License-Identifier: Apache-2.0

package lexical_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// The lexical judge needs no model: it suits tests and first looks.
func Example() {
	j, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	fact, _ := j.Fact(ctx, judge.Case{
		Reference: "Typhoon Sanba made landfall over South Korea on September 17.",
		Answer:    "On 17 September Typhoon Sanba made landfall over South Korea.",
	})
	fmt.Println("fact:", fact.Value)

	summary, _ := j.Summary(ctx, judge.Case{
		Statements: []string{"Sanba formed in September 2012.", "Sanba hit South Korea."},
		Answer:     "Sanba hit South Korea. The weather was fine.",
	})
	fmt.Printf("recall %.2f, precision %.2f, F1 %.2f\n",
		summary.Recall.Value, summary.Precision.Value, summary.F1().Value)
	// Output:
	// fact: 1
	// recall 0.50, precision 0.50, F1 0.50
}
