// SPDX-License-Identifier: Apache-2.0

package model_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/judge/model"
)

// The grader of judgetest stands in for a model.
func Example() {
	grader := judgetest.Grader{Fact: func(reference, candidate string) bool { return strings.Contains(candidate, "1890") }}
	j, err := model.New(grader, model.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	f, err := j.Fact(context.Background(), judge.Case{Reference: "It opened in 1890.", Answer: "In 1890."})
	fmt.Println(f.Value, f.Protocol.Canaries, "control items,", f.Protocol.FailedCanaries, "failed", err)
	// Output: 1 2 control items, 0 failed <nil>
}
