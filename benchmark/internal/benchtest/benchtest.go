// SPDX-License-Identifier: Apache-2.0

// Package benchtest holds a small data set and fakes of all parts of a run, for tests.
package benchtest

import (
	"context"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
)

// Dataset returns a data set of two domains with one document per animal.
func Dataset() *benchmark.Dataset {
	domain := func(name string, animals ...string) benchmark.Domain {
		d := benchmark.Domain{Name: name, Fingerprint: strings.Join(animals, "-")}
		var docs []graphrag.Document
		d.Documents = func() iter.Seq2[graphrag.Document, error] { return graphrag.Documents(docs...) }
		for i, a := range animals {
			docs = append(docs, graphrag.Document{ID: a + ".txt", Text: "The " + a + " eats " + a + " food."})
			it := benchmark.Item{
				Type:      wildgraph.SingleFact,
				Question:  graphrag.Question{ID: fmt.Sprintf("%s/%d", name, i+1), Text: "What does the " + a + " eat?"},
				Reference: "The " + a + " eats " + a + " food.",
				Gold:      []benchmark.Unit{{a + ".txt"}},
			}
			switch i % 3 {
			case 1:
				it.Type = wildgraph.MultiFact
				it.Gold = append(it.Gold, benchmark.Unit{animals[0] + ".txt"})
			case 2:
				it.Type = wildgraph.Summary
				it.Statements, it.Reference = []string{it.Reference, "Animals eat."}, ""
			}
			d.Items = append(d.Items, it)
		}
		return d
	}
	return &benchmark.Dataset{Name: "Zoo", Types: wildgraph.Types(), Domains: []benchmark.Domain{
		domain("birds", "owl", "hawk", "tit", "jay"), domain("fish", "eel", "cod", "ray"),
	}}
}

// Parrot is a system that quotes the document named in the question.
type Parrot struct {
	Calls *atomic.Int64                               // number of answers so far
	Fail  func(call int64, q graphrag.Question) error // error of a call, from 1; may be nil
	docs  []graphrag.Document
}

// Close does nothing.
func (p *Parrot) Close() error { return nil }

// Index keeps the documents.
func (p *Parrot) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		p.docs = append(p.docs, d)
	}
	return graphrag.IndexStats{Documents: len(p.docs), Chunks: len(p.docs)}, nil
}

// Answer quotes the document that the question names.
func (p *Parrot) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	n := p.Calls.Add(1)
	if p.Fail != nil {
		if err := p.Fail(n, q); err != nil {
			return graphrag.Answer{}, err
		}
	}
	a := graphrag.Answer{Text: "I do not know.", Found: graphrag.Found{Usage: graphrag.Usage{Calls: 1, PromptTokens: len(q.Text)}}}
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

// Exact is a judge that compares texts for equality; answers that contain an x are unscored.
type Exact struct{}

// Name returns "exact".
func (Exact) Name() string { return "exact" }

// Fact compares the answer with the reference.
func (Exact) Fact(_ context.Context, c judge.Case) (judge.FactJudgment, error) {
	switch {
	case strings.Contains(c.Answer, "x"):
		return judge.FactJudgment{Verdict: judge.NoScore("there is an x")}, nil
	case c.Answer == c.Reference:
		return judge.FactJudgment{Verdict: judge.Score(1, "equal")}, nil
	}
	return judge.FactJudgment{Verdict: judge.Score(0, "other")}, nil
}

// Summary compares the answer with each statement.
func (Exact) Summary(_ context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	j := judge.SummaryJudgment{Predicted: []string{c.Answer}, Recall: judge.Score(0, ""), Precision: judge.Score(0, "")}
	for i, s := range c.Statements {
		if s == c.Answer {
			j.Matches = append(j.Matches, judge.Match{Gold: i})
			j.Recall, j.Precision = judge.Score(1/float64(len(c.Statements)), ""), judge.Score(1, "")
		}
	}
	return j, nil
}

// Runner returns a runner of two parrots over the data set; calls counts their answers.
func Runner(dir string, calls *atomic.Int64, fail func(int64, graphrag.Question) error) *benchmark.Runner {
	entry := func(name string) benchmark.Entry {
		return benchmark.Entry{Name: name, New: func(string) (benchmark.System, error) { return &Parrot{Calls: calls, Fail: fail}, nil }}
	}
	return &benchmark.Runner{
		Dataset: Dataset(),
		Systems: []benchmark.Entry{entry("parrot"), entry("other"), {Name: "mute", NotApplicable: "has no voice"}},
		Judge:   Exact{},
		Options: benchmark.Options{
			Dir: dir, Kit: "model", NoTimings: true, Concurrency: 3,
			CountTokens: func(s string) int { return len(strings.Fields(s)) },
			Settings:    map[string]any{"chunk_size": 1200},
			Config:      map[string]any{"topk_qa": 5, "topk_summary": 10},
		},
	}
}

// Files reads the files of a folder, without partial files.
func Files(tb testing.TB, dir string) map[string]string {
	tb.Helper()
	out := make(map[string]string)
	check.OK(tb, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == record.JournalName {
			return err
		}
		data, err := os.ReadFile(name)
		out[strings.TrimPrefix(name, dir)] = string(data)
		return err
	}))
	return out
}
