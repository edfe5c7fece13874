// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/judge/rank"
)

func Example() {
	var qrels rank.Qrels
	var run rank.Run
	err := errors.Join(
		qrels.Add("q1", []rank.Judgment{{"d1", 1}, {"d3", 1}, {"d5", 1}}),
		qrels.Add("q2", []rank.Judgment{{"d8", 1}}),
		run.AddRanking("q1", []string{"d1", "d2", "d3"}),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	measures := []rank.Measure{{Kind: rank.Recall, K: 5}, {Kind: rank.NDCG, K: 10}, {Kind: rank.RR}}
	for _, averaging := range []rank.Averaging{rank.Complete, rank.InRun} {
		result, err := rank.Evaluate(&qrels, &run, measures, averaging)
		if err != nil {
			fmt.Println(err)
			return
		}
		for i, m := range measures {
			fmt.Printf("%v %.4f (%v, n=%d)\n", m, result.Mean(i), averaging, len(result.Queries))
		}
	}
	// Output:
	// recall@5 0.3333 (complete, n=2)
	// nDCG@10 0.3520 (complete, n=2)
	// RR 0.5000 (complete, n=2)
	// recall@5 0.6667 (in-run, n=1)
	// nDCG@10 0.7039 (in-run, n=1)
	// RR 1.0000 (in-run, n=1)
}

// A document that stands twice takes two places.
func ExampleHippoRecall() {
	fmt.Println(rank.HippoRecall([]string{"x", "x", "y"}, []string{"x", "y"}, 2))
	// Output: 0.5
}
