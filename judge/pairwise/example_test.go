// SPDX-License-Identifier: Apache-2.0

package pairwise_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/judge/pairwise"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Two systems by what a model likes better; the model of the example likes what is
// long, what comes first, and what comes second.
func ExampleJudge_Compare() {
	j, err := pairwise.New(llmtest.NewScript("scripted").Handle(llmtest.Any, longer))
	if err != nil {
		panic(err)
	}
	var tally pairwise.Tally
	for _, c := range []pairwise.Case{
		{Question: "What do the pages say about tides?", A: "They rise.", B: "They rise and fall twice a day, by the moon."},
		{Question: "What do the pages say about ships?", A: "The Fram was built in Larvik.", B: "One was built."},
		{Question: "What do the pages say about the Pole?", A: "It was reached.", B: "It was reached in 1911 and in 1912."},
	} {
		said, err := j.Compare(context.Background(), c)
		if err != nil {
			panic(err)
		}
		tally.Add(said)
	}
	rates, err := tally.Rates(stats.Options{})
	if err != nil {
		panic(err)
	}
	for _, r := range rates[:2] {
		fmt.Printf("%s: A %d, B %d, ties %d (%d by order); B wins %.0f %%, p %.2f\n", r.Criterion, r.A, r.B, r.Ties, r.Flipped, 100*r.WinRate.Estimate, r.Sign.P)
	}
	// Output:
	// comprehensiveness: A 1, B 2, ties 0 (0 by order); B wins 67 %, p 1.00
	// diversity: A 0, B 0, ties 3 (3 by order); B wins 50 %, p 1.00
}
