// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/summary"
)

func ExampleExtractive() {
	s, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 20})
	if err != nil {
		fmt.Println(err)
		return
	}
	got, err := s.Summarize(context.Background(), []string{
		"The Moon is the only natural satellite of the Earth.",
		"The Moon orbits the Earth in about 27 days.",
		"Tides on the Earth follow the Moon.",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, q := range got.Quotes {
		fmt.Println("text", q.Source, "says:", got.Text[q.Start:q.End])
	}
	// Output:
	// text 0 says: The Moon is the only natural satellite of the Earth.
	// text 2 says: Tides on the Earth follow the Moon.
}
