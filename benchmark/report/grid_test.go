// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"context"
	"encoding/json"
	"iter"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/zoo"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// payer is a parrot whose index asks a model, so many times for facts and for reports,
// and that knows the answer from so many chunks on.
type payer struct {
	zoo.Parrot
	facts, reports, knows int
}

func (p *payer) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	stats, err := p.Parrot.Index(ctx, docs)
	m := llm.Metered(llmtest.NewScript("m").Handle(llmtest.Any, func(llm.Request) llm.Reply {
		return llm.Reply{Text: "x", Usage: llm.Usage{Calls: 1, PromptTokens: 100, CompletionTokens: 10}}
	}))
	for i := range p.facts + p.reports {
		req := llm.Prompt("x")
		if req.Stage = "extract"; i >= p.facts {
			req.Stage = "report"
		}
		reply, _ := m.Generate(ctx, req)
		stats.Usage = stats.Usage.Add(reply.Usage)
	}
	return stats, err
}

func (p *payer) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := p.Parrot.Answer(ctx, q)
	if q.K < p.knows {
		a.Text = "No."
	}
	return a, err
}

// zooOf runs three systems in a mode over the zoo, asked with five chunks and swept
// over two: one knows all, one with five chunks, one nothing for less money.
func zooOf(t *testing.T, mode string) *benchmark.Run {
	t.Helper()
	set := zoo.Dataset()
	for i := range set.Types {
		set.Types[i].Statements, set.Types[i].Swept, set.Types[i].K = false, true, 5
	}
	for _, d := range set.Domains {
		for i := range d.Items {
			if d.Items[i].Reference == "" {
				d.Items[i].Reference, d.Items[i].Statements = d.Items[i].Statements[0], nil
			}
		}
	}
	entry := func(name string, facts, reports, knows int) benchmark.Entry {
		return benchmark.Entry{Name: name, New: func(string) (benchmark.System, error) {
			p := &payer{facts: facts, reports: reports, knows: knows}
			p.Calls = new(atomic.Int64)
			return p, nil
		}}
	}
	run, err := (&benchmark.Runner{
		Dataset: set, Judge: zoo.Exact{},
		Systems: []benchmark.Entry{entry("dear", 9, 2, 0), entry("fair", 3, 0, 5), entry("cheap", 1, 0, 9), {Name: "mute", NotApplicable: "has no voice"}},
		Options: benchmark.Options{Kit: "model", SweepTopK: []int{2}, Settings: map[string]any{"mode": mode}, NoTimings: true},
	}).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func zooGrid(t *testing.T) *report.Grid {
	return &report.Grid{
		Heading: "Zoo", TopK: []int{5, 2}, Community: []string{"report"}, Ablation: []string{"cheap", "dear"},
		Trials: []report.Trial{{Mode: report.ModeOpen, Run: zooOf(t, "open")}, {Mode: report.ModeReject, Run: zooOf(t, "reject")}},
		Set:    func(domain string) string { return domain }, Title: strings.ToUpper,
		Published: []report.PublishedAccuracy{
			{Judge: "j", Source: "Zoo, Table 1", Model: "m", TopK: 5, System: "fair", Label: "Fair", Set: "birds", Mode: "reject", Accuracy: 0.5},
			{Judge: "j", Source: "Zoo, Table 1", Model: "m", TopK: 5, System: "bear", Label: "Bear", Set: "fish", Mode: "open", Accuracy: 0.25},
			{Judge: "j", Source: "Zoo, Table 1", Model: "m", TopK: 5, System: "bear", Label: "Bear", Set: "plants", Mode: "open", Accuracy: 1},
			{Judge: "j", Source: "Zoo, Table 3", Model: "m", TopK: 5, System: "dear", Label: "Dear", Set: "birds", Mode: "reject", Accuracy: 0.75, Ablation: true},
		},
	}
}

// Runs side by side: a column for each data set and mode, a table for each top-k, what
// was published beside it, the tokens of construction, and on the page the front of
// the systems than which none is better for less.
func TestGrid(t *testing.T) {
	dir := t.TempDir()
	tables, err := report.WriteGrid(dir, zooGrid(t))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := report.WriteText(&b, append(tables.All, tables.Overview)...); err != nil {
		t.Fatal(err)
	}
	golden(t, "grid.txt", b.String())
	got := files(t, dir)
	var grid report.GridJSON
	if err := json.Unmarshal([]byte(got["/report.json"]), &grid); err != nil {
		t.Fatal(err)
	}
	for _, c := range grid.Cells {
		want := map[string]map[int]float64{"dear": {5: 1, 2: 1}, "fair": {5: 1, 2: 0}, "cheap": {5: 0, 2: 0}}[c.System]
		if c.System == "mute" {
			continue
		}
		if n := map[string]int{"birds": 4, "fish": 3}[c.Set]; c.N != n || c.Accuracy == nil || *c.Accuracy != want[c.TopK] {
			t.Errorf("%s on %s at %d: %d questions, accuracy %v, want %v", c.System, c.Set, c.TopK, c.N, c.Accuracy, want[c.TopK])
		}
	}
	for _, c := range grid.Built {
		want := map[string][2]int{"dear": {11 * 110, 2 * 110}, "fair": {3 * 110, 0}, "cheap": {110, 0}}[c.System]
		if got := [2]int{c.Usage.Tokens(), c.Community.Tokens()}; got != want {
			t.Errorf("%s on %s: %v tokens, want %v", c.System, c.Set, got, want)
		}
	}
	// Fair is as good as dear for less, and cheap the cheapest: the front is of these.
	page := got["/report.html"]
	front := page[strings.Index(page, "Pareto front: "):]
	for _, point := range []string{"Pareto front: 0 at 110", "Pareto front: 100 at 330"} {
		if !strings.Contains(front, point) {
			t.Errorf("the front lacks %q", point)
		}
	}
	if strings.Contains(front, "Pareto front: 100 at 1210") {
		t.Error("a system is on the front that another beats for less")
	}
	for _, want := range []string{"fair, open", "fair, reject", "↳ published: m", "Bear, published: m"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// Where no index took a token there is no trade to draw, and the page says so.
func TestGridWithoutTokens(t *testing.T) {
	r := zoo.Runner("", new(atomic.Int64), nil)
	r.Options.Kit = report.Offline
	run, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	tables, err := report.WriteGrid(dir, &report.Grid{
		Heading: "Zoo", TopK: []int{2}, Trials: []report.Trial{{Mode: report.ModeOpen, Run: run}},
		Set: func(domain string) string { return domain }, Title: strings.ToUpper,
	})
	if err != nil {
		t.Fatal(err)
	}
	page := files(t, dir)["/report.html"]
	if strings.Contains(page, "Pareto front") || !strings.Contains(page, "there is no trade with accuracy to draw") || !strings.Contains(page, "Offline kit.") {
		t.Error("the page draws a trade that there is not, or hides that it is offline")
	}
	for _, table := range tables.All {
		if strings.HasPrefix(table.Title, "Ablation") {
			t.Error("an ablation of nothing")
		}
	}
}
