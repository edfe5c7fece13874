// SPDX-License-Identifier: Apache-2.0

package rank_test

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/judge/rank"
)

func Example() {
	qrels, err := rank.ReadQrels(strings.NewReader("q1 0 d1 1\nq1 0 d3 1\nq1 0 d5 1\nq2 0 d8 1\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	run, err := rank.ReadRun(strings.NewReader("q1 Q0 d1 1 9.0 bm25\nq1 Q0 d2 2 8.0 bm25\nq1 Q0 d3 3 7.0 bm25\n"))
	if err != nil {
		fmt.Println(err)
		return
	}
	run.Unit = "doc"
	measures := []rank.Measure{{Kind: rank.Recall, K: 5}, {Kind: rank.NDCG, K: 10}, {Kind: rank.RR}}
	for _, averaging := range []rank.Averaging{rank.Complete, rank.InRun} {
		result, err := rank.Evaluate(qrels, run, measures, averaging)
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range result.Figures() {
			fmt.Printf("%s %.4f (%v, n=%d)\n", f.Name, f.Value, averaging, f.N)
		}
	}
	// Output:
	// recall@5/doc 0.3333 (complete, n=2)
	// nDCG@10/doc 0.3520 (complete, n=2)
	// RR/doc 0.5000 (complete, n=2)
	// recall@5/doc 0.6667 (in-run, n=1)
	// nDCG@10/doc 0.7039 (in-run, n=1)
	// RR/doc 1.0000 (in-run, n=1)
}

// A document that stands twice takes two places.
func ExampleHippoRecall() {
	fmt.Println(rank.HippoRecall([]string{"x", "x", "y"}, []string{"x", "y"}, 2))
	// Output: 0.5
}
