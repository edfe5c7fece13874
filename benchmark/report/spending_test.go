// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/model"
)

// row is a system of a made-up run: what its index and a question cost, and which questions
// it answers.
type row struct {
	name            string
	graph           bool
	index, question int
	right           func(i int) bool
	steps           []graphrag.Step
}

// spent is a run of systems over forty questions, each about a page of its own, half of them a
// tenth dearer and half of them cheaper.
func spent(rows ...row) *benchmark.Run {
	run := &benchmark.Run{Kit: "model", JudgeInfo: model.Paper.Procedure().Info, MaxFailed: 1}
	set := &benchmark.Dataset{Name: "made up", Types: []benchmark.Type{{Key: "fact", Title: "Fact", Short: "F", Plural: "facts"}}}
	var items []benchmark.Item
	for i := range 40 {
		page := fmt.Sprint("page", i)
		items = append(items, benchmark.Item{Type: "fact", Question: graphrag.Question{ID: page, Text: "What of " + page + "?"}, Gold: []benchmark.Unit{{page}}})
	}
	set.Domains = []benchmark.Domain{{Name: "d", Items: items}}
	run.Dataset = set
	for _, r := range rows {
		d := benchmark.DomainRun{Index: record.Index{Usage: map[string]graphrag.Usage{"x": {Calls: 1, PromptTokens: r.index}}}}
		if r.graph {
			d.Index.Stats.Entities = 5
		}
		for i, it := range items {
			v := 0.0
			if r.right(i) {
				v = 1
			}
			tokens := r.question + r.question/10*(1-2*(i%2))
			d.Results = append(d.Results, benchmark.Result{Domain: "d", Item: it,
				Answer:   record.Answer{Text: "x", Ranked: []record.Ranked{}, Steps: r.steps, Usage: graphrag.Usage{Calls: 1, PromptTokens: tokens, ProviderCached: tokens / 2}},
				Judgment: record.Judgment{Fact: &judge.FactJudgment{Verdict: judge.Score(v, "")}},
			})
		}
		run.Systems = append(run.Systems, benchmark.SystemRun{Name: r.name, Domains: []benchmark.DomainRun{d}})
	}
	return run
}

func most(i int) bool { return i%4 > 0 }
func half(i int) bool { return i%2 == 0 }

// A graph that costs a million tokens and saves two thousand a question pays from five hundred
// questions on, where it answers as well; else it does not, and the sentence says why.
func TestPayoff(t *testing.T) {
	agent := row{name: "agentic:bm25", question: 3000, right: most, steps: []graphrag.Step{{Kind: "turn"}, {Kind: "search", Tokens: 700}, {Kind: "turn"}, {Kind: "find", Tokens: 50}, {Kind: "turn"}}}
	for _, tt := range []struct {
		name      string
		graph     row
		questions float64 // 0 is never
		want      string
	}{
		{"saves", row{name: "hipporag2", graph: true, index: 1_000_000, question: 1000, right: most}, 500, "A graph pays here from 500 questions on (95 % interval "},
		{"saves nothing", row{name: "hipporag2", graph: true, index: 1_000_000, question: 6000, right: most}, 0, "A graph saves nothing here at any number of questions: hipporag2 costs 2.0 times as much a question as agentic:bm25"},
		{"answers worse", row{name: "hipporag2", graph: true, index: 1_000_000, question: 1000, right: func(i int) bool { return i%8 == 1 }}, 0, "A graph does not pay here: the best without one, agentic:bm25, answers better than hipporag2 (-62.5 points, 95 % interval "},
		{"a little worse", row{name: "hipporag2", graph: true, index: 1_000_000, question: 1500, right: func(i int) bool { return i%4 > 0 && i > 1 }}, 0, "Whether a graph pays here cannot be told: hipporag2 has -2.5 points, 95 % interval "},
		{"costs nothing to index", row{name: "wild", graph: true, question: 1000, right: most}, 1, "A graph pays here from 1 question on"},
	} {
		var html, text bytes.Buffer
		run := spent(agent, tt.graph, row{name: "bm25", question: 900, right: half})
		r, err := report.New(run)
		check.OK(t, err)
		p := r.Payoff
		if p == nil || (p.Questions == nil) != (tt.questions == 0) || p.Questions != nil && *p.Questions != tt.questions || p.Plain != "agentic:bm25" || p.Graph != tt.graph.name {
			t.Fatalf("%s: %+v", tt.name, p)
		}
		if tt.questions == 500 && (*p.Low > 500 || *p.High < 500 || *p.Low < 400 || *p.High > 600) {
			t.Errorf("%s: interval %v to %v", tt.name, *p.Low, *p.High)
		}
		check.OK(t, r.WriteRanking(&text))
		check.Contains(t, strings.Join(strings.Fields(text.String()), " "), tt.want, "%s:", tt.name)
		err = r.WriteHTML(&html, run)
		check.True(t, err == nil && strings.Contains(html.String(), tt.want[:20]), "%s: %v", tt.name, err)
		for i, want := range []report.Spending{{Turns: 3, Searches: 2, Read: 750, Question: 3000, Cached: 1500}, {Turns: 1, Searches: 1, Index: float64(tt.graph.index), Question: float64(tt.graph.question), Cached: float64(tt.graph.question) / 2}} {
			got := *r.Systems[i].Spending
			check.True(t, got == want, "%s: %+v, want %+v", tt.name, got, want)
		}
	}
	r, err := report.New(spent(agent))
	check.True(t, err == nil && r.Payoff == nil, "without a graph: %+v, %v", r.Payoff, err)
}

// The table spreads the index over the questions, in money where there are prices; the chart
// has a dot for each system and joins those that nothing beats.
func TestSpending(t *testing.T) {
	run := spent(row{name: "a<b&c", question: 3000, right: most}, row{name: "dear", graph: true, index: 50_000, question: 4000, right: half}, row{name: "cheap", question: 100, right: half})
	run.Currency = "EUR"
	run.Price = func(u graphrag.Usage) (float64, bool) { return float64(u.PromptTokens) / 1e6, true }
	dir := t.TempDir()
	check.OK(t, check.Err(report.Write(dir, run)))
	got := benchtest.Files(t, dir)
	want := "| dear | 1.0 | 1.0 | 0 | 4,000 | 2,000 | 0.00 | 4,500 | 4,050 | 4,005 | 0.00450 | 0.00405 | 0.00400 |"
	check.Contains(t, got["/report.md"], want)
	// The page draws a dot for each, and joins those that nothing beats: the cheap one, and the
	// one that answers best.
	_, drawn, _ := strings.Cut(got["/report.html"], "over the cost of a question")
	drawn, _, _ = strings.Cut(drawn, "</figure>")
	var dots []string
	for _, dot := range strings.SplitAfter(drawn, "</li>") {
		if _, dot, ok := strings.Cut(dot, "<li>"); ok {
			dots = append(dots, strings.TrimSuffix(dot, "</li>"))
		}
	}
	joined := []string{"cheap: 50 at 100", "a&lt;b&amp;c: 75 at 3000", "dear: 50 at 4050", "frontier: 50 at 100", "frontier: 75 at 3000"}
	check.Equal(t, dots, joined)
}
