// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// memory is a system that knows one sentence.
type memory struct{}

func (memory) Name() string { return "memory" }
func (memory) Close() error { return nil }
func (memory) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}
func (memory) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: "Barn owls hunt by ear."}, nil
}

// A data set in memory, a system of one's own, the lexical judge, and the main
// table of the report.
func Example() {
	owls := benchmark.Domain{
		Name: "owls",
		Documents: func() iter.Seq2[graphrag.Document, error] {
			return func(yield func(graphrag.Document, error) bool) {
				yield(graphrag.Document{ID: "owls.md", Text: "Barn owls hunt by ear."}, nil)
			}
		},
		Items: []benchmark.Item{{
			Question:  graphrag.Question{ID: "owls/1", Text: "How do barn owls hunt?", Type: graphrag.SingleFact},
			Reference: "Barn owls hunt by ear.",
		}, {
			Question:  graphrag.Question{ID: "owls/2", Text: "How do barn owls fly?", Type: graphrag.SingleFact},
			Reference: "Barn owls fly without a sound.",
		}},
	}
	lexical, err := judge.NewLexical(judge.Options{})
	if err != nil {
		panic(err)
	}
	report, err := (&benchmark.Runner{
		Dataset: &benchmark.Dataset{Name: "Owls", Domains: []benchmark.Domain{owls}},
		Systems: []benchmark.Entry{{Name: "memory", New: func(string) (graphrag.System, error) { return memory{}, nil }}},
		Judge:   lexical,
		Options: benchmark.Options{Kit: benchmark.OfflineKit},
	}).Run(context.Background())
	if err != nil {
		panic(err)
	}
	types := report.Systems[0].Overall.Types
	fmt.Printf("%d questions, lexical accuracy %.2f\n", types[benchmark.All].N, *types[graphrag.SingleFact].Lexical.Accuracy)
	// Output:
	// 2 questions, lexical accuracy 0.50
}
