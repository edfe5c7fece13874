// SPDX-License-Identifier: Apache-2.0

package liverag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/liverag"
)

func Example() {
	j, err := liverag.New(liverag.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, answer := range []string{
		"The bridge was opened in 1890.",
		"The bridge was opened in 1890. Puffins nest on cliffs.",
		"",
		"The bridge was opened in 1871.",
	} {
		f, err := j.Fact(context.Background(), judge.Case{
			Question: "When was the bridge opened?", Reference: "The bridge was opened in 1890.", Answer: answer,
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%.1f\n", liverag.Points(f.Value))
	}
	// Output:
	// 2.0
	// 1.5
	// 0.0
	// -1.0
}
