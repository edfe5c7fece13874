// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// zoo is a data set of two domains with one document per animal.
func zoo() *benchmark.Dataset {
	domain := func(name string, animals ...string) benchmark.Domain {
		d := benchmark.Domain{Name: name, Fingerprint: strings.Join(animals, "-")}
		d.Documents = func() iter.Seq2[graphrag.Document, error] {
			return func(yield func(graphrag.Document, error) bool) {
				for _, a := range animals {
					if !yield(graphrag.Document{ID: a + ".txt", Text: "The " + a + " eats " + a + " food."}, nil) {
						return
					}
				}
			}
		}
		for i, a := range animals {
			it := benchmark.Item{
				Question:  graphrag.Question{ID: fmt.Sprintf("%s/%d", name, i+1), Text: "What does the " + a + " eat?", Type: graphrag.SingleFact},
				Reference: "The " + a + " eats " + a + " food.",
				Gold:      []benchmark.Unit{{a + ".txt"}},
			}
			switch i % 3 {
			case 1:
				it.Question.Type = graphrag.MultiFact
				it.Gold = append(it.Gold, benchmark.Unit{animals[0] + ".txt"})
			case 2:
				it.Question.Type = graphrag.Summary
				it.Statements, it.Reference = []string{it.Reference, "Animals eat."}, ""
			}
			d.Items = append(d.Items, it)
		}
		return d
	}
	return &benchmark.Dataset{Name: "Zoo", Domains: []benchmark.Domain{
		domain("birds", "owl", "hawk", "tit", "jay"), domain("fish", "eel", "cod", "ray"),
	}}
}

// parrot is a system that quotes the document whose name is in the question.
type parrot struct {
	name  string
	calls *atomic.Int64
	fail  func(call int64, q graphrag.Question) error
	docs  []graphrag.Document
}

func (p *parrot) Name() string { return p.name }
func (p *parrot) Close() error { return nil }

func (p *parrot) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		p.docs = append(p.docs, d)
	}
	return graphrag.IndexStats{Documents: len(p.docs), Chunks: len(p.docs)}, nil
}

func (p *parrot) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	n := p.calls.Add(1)
	if p.fail != nil {
		if err := p.fail(n, q); err != nil {
			return graphrag.Answer{}, err
		}
	}
	a := graphrag.Answer{Text: "I do not know.", Usage: graphrag.Usage{Calls: 1, PromptTokens: len(q.Text)}}
	for i, d := range p.docs {
		hit := graphrag.Hit{Chunk: graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID, Text: d.Text, End: len(d.Text)}, Score: float64(-i)}
		if strings.Contains(q.Text, strings.TrimSuffix(d.ID, ".txt")) {
			a.Text = d.Text
			a.Ranked = append([]graphrag.Hit{hit}, a.Ranked...)
			a.Evidence = []graphrag.Hit{hit}
		} else {
			a.Ranked = append(a.Ranked, hit)
		}
	}
	return a, nil
}

// exact is a judge that knows equality only; it has no score for answers that
// hold an x.
type exact struct{}

func (exact) Name() string { return "exact" }

func (exact) Fact(_ context.Context, c judge.Case) (judge.FactJudgment, error) {
	switch {
	case strings.Contains(c.Answer, "x"):
		return judge.FactJudgment{Verdict: judge.NoScore("there is an x")}, nil
	case c.Answer == c.Reference:
		return judge.FactJudgment{Verdict: judge.Score(1, "equal")}, nil
	}
	return judge.FactJudgment{Verdict: judge.Score(0, "other")}, nil
}

func (exact) Summary(_ context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	j := judge.SummaryJudgment{Predicted: []string{c.Answer}, Recall: judge.Score(0, ""), Precision: judge.Score(0, "")}
	for i, s := range c.Statements {
		if s == c.Answer {
			j.Matches = append(j.Matches, judge.Match{Gold: i})
			j.Recall, j.Precision = judge.Score(1/float64(len(c.Statements)), ""), judge.Score(1, "")
		}
	}
	return j, nil
}
