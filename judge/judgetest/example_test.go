// SPDX-License-Identifier: Apache-2.0

package judgetest_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/judge/lexical"
)

// Checks also work outside of tests.
func Example() {
	lexical, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	answer := judgetest.Answer{
		Question: "When was the Forth Bridge opened?",
		Answer:   graphrag.Answer{Text: "On 4 March 1890."},
		Judge:    lexical,
	}
	ctx := context.Background()
	fmt.Println(judgetest.States("The Forth Bridge was opened on March 4, 1890.")(ctx, answer))
	fmt.Println(judgetest.States("The Forth Bridge was opened in 1891.")(ctx, answer))
	fmt.Println(judgetest.Cites()(ctx, answer))
	// Output:
	// <nil>
	// the answer does not state "The Forth Bridge was opened in 1891.": another date, or none
	// the answer cites nothing
}
