// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"iter"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
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
			return graphrag.Documents(graphrag.Document{ID: "owls.md", Text: "Barn owls hunt by ear."})
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
	byWords, err := lexical.New(judge.Options{})
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
		Judge:   byWords,
		Options: benchmark.Options{Kit: "offline"},
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

// A retriever of one's own, by the words of titles, with the offline kit around
// it.
func ExampleEntry() {
	offline, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		panic(err)
	}
	build := func(_ context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
		return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
			scores := make([]float64, len(c.Chunks))
			for i, chunk := range c.Chunks {
				for word := range strings.FieldsSeq(chunk.Title) {
					scores[i] += float64(strings.Count(q.Text, word) * len(word))
				}
			}
			hits, err := c.ByScore(ctx, scores, q.Want(), "title")
			return graphrag.Found{Ranked: hits}, err
		}), nil
	}
	byTitle := benchmark.Entry{Name: "by-title", New: func(string) (benchmark.System, error) {
		return kit.New(kit.Frame{Name: "by-title", Kit: offline, Build: build})
	}}

	set, err := wildgraph.Load(os.DirFS("../examples/wildgraphbench/bench/sample"), benchmark.LoadOptions{Domains: []string{"seafaring"}})
	if err != nil {
		panic(err)
	}
	byWords, err := lexical.New(judge.Options{})
	if err != nil {
		panic(err)
	}
	run, err := (&benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{byTitle}, Judge: byWords}).Run(context.Background())
	if err != nil {
		panic(err)
	}
	report, err := report.New(run)
	if err != nil {
		panic(err)
	}
	all := report.Systems[0].Overall.Types[benchmark.All]
	fmt.Printf("%d questions, evidence recall at 5 of %.2f\n", all.N, *all.RecallAt5)
	// Output:
	// 12 questions, evidence recall at 5 of 0.43
}
