// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// memory is a system that knows one sentence.
type memory struct{}

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
			Type:      "fact",
			Question:  graphrag.Question{ID: "owls/1", Text: "How do barn owls hunt?"},
			Reference: "Barn owls hunt by ear.",
		}, {
			Type:      "fact",
			Question:  graphrag.Question{ID: "owls/2", Text: "How do barn owls fly?"},
			Reference: "Barn owls fly without a sound.",
		}},
	}
	lexical, err := judge.NewLexical(judge.Options{})
	if err != nil {
		panic(err)
	}
	set := &benchmark.Dataset{
		Name:    "Owls",
		Types:   []benchmark.Type{{Key: "fact", Title: "Fact", Short: "Fact", Plural: "questions about facts", K: 5}},
		Domains: []benchmark.Domain{owls},
	}
	run, err := (&benchmark.Runner{
		Dataset: set,
		Systems: []benchmark.Entry{{Name: "memory", New: func(string) (benchmark.System, error) { return memory{}, nil }}},
		Judge:   lexical,
		Options: benchmark.Options{Kit: report.Offline},
	}).Run(context.Background())
	if err != nil {
		panic(err)
	}
	r, err := report.New(run)
	if err != nil {
		panic(err)
	}
	types := r.Systems[0].Overall.Types
	fmt.Printf("%d questions, lexical accuracy %.2f\n", types[benchmark.All].N, *types["fact"].Lexical.Accuracy)
	// Output:
	// 2 questions, lexical accuracy 0.50
}
