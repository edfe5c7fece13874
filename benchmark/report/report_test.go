// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
	"github.com/wildgraph/wildgraph/judge/model"
	"github.com/wildgraph/wildgraph/llm"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		check.OK(t, os.WriteFile(file, []byte(got), 0o644))
	}
	check.Equal(t, got, string(check.Of(os.ReadFile(file)).OK(t)), "%s (-want +got), run with -update if this is meant", file)
}

// run runs the systems and writes the report.
func run(t *testing.T, r *benchmark.Runner) (*report.Report, error) {
	t.Helper()
	records, err := r.Run(t.Context())
	if err != nil {
		return nil, err
	}
	if r.Options.Dir == "" {
		return report.New(records)
	}
	return report.Write(r.Options.Dir, records)
}

// The reports of the test data set.
func TestReportForms(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	r := benchtest.Runner(dir, &calls, nil)
	r.Judge = renamedJudge{name: "lexical/exact", info: lexical.Procedure.Info}
	r.Options.Kit, r.Options.Changed = "offline", []string{"-chunk-size 600", "-limit 8"}
	rep := check.Of(run(t, r)).OK(t)
	var text bytes.Buffer
	check.OK(t, rep.WriteRanking(&text))
	check.OK(t, report.WriteText(&text, rep.Tables()...))
	golden(t, "report.txt", text.String())
	got := benchtest.Files(t, dir)
	golden(t, "report.md", got["/report.md"])
	golden(t, "tables.tex", got["/tables.tex"])
	golden(t, "report.json", got["/report.json"])
	for name, want := range map[string]string{
		"/report.csv": "system,domain,type,n,k,answers,judge," + strings.Join(report.Keys(), ",") + ",", "/pairs.csv": "\nother,parrot,accuracy,best,0,5,0.000000,,,,,\n",
		"/judgments.jsonl": `{"system":"parrot","domain":"birds","id":"`, "/predictions/parrot.jsonl": `{"question":"What does the owl eat?","answer":"The owl eats owl food.","type":"single-fact","domain":"birds","evidence":["owl.txt#0"]}` + "\n",
	} {
		check.Contains(t, got[name], want, "%s", name)
	}
}

// Questions and answers are shown as text in all forms of the report.
func TestHostileTexts(t *testing.T) {
	const evil = "</td><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\u009b2J\u202e\u2066=HYPERLINK(\"x\")"
	set := benchtest.Dataset()
	set.Name = "Zoo | <script>*"
	set.Domains[0].Name = "=cmd\x1b[2J\u009b\u202e"
	set.Domains[1].Name = "*"
	set.Domains[0].Items[0].Question.Text += evil
	set.Domains[0].Items[0].Reference += evil
	var calls atomic.Int64
	dir := t.TempDir()
	r := benchtest.Runner(dir, &calls, nil)
	r.Dataset = set
	rep := check.Of(run(t, r)).OK(t)
	got := benchtest.Files(t, dir)
	for z := html.NewTokenizer(strings.NewReader(got["/report.html"])); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		if kind != html.StartTagToken && kind != html.SelfClosingTagToken {
			continue
		}
		tag := z.Token()
		check.True(t, tag.Data != "img" && tag.Data != "iframe", "report.html has a <%s>", tag.Data)
		for _, a := range tag.Attr {
			check.True(t, !strings.HasPrefix(a.Key, "on") && a.Key != "src",
				"report.html has an attribute %s", a.Key)
		}
	}
	rows := check.Of(csv.NewReader(strings.NewReader(got["/report.csv"])).ReadAll()).OK(t)
	for _, row := range rows {
		check.True(t, !strings.HasPrefix(row[1], "="), "report.csv has a formula: %q", row[1])
	}
	stars := 0
	for _, row := range rows {
		if row[1] == "*" && row[2] == benchmark.All {
			stars++
		}
	}
	check.Equal(t, stars, len(rep.Systems), "%d rows of all domains for %d systems: a domain that is named * is among them", stars, len(rep.Systems))
	var text bytes.Buffer
	check.OK(t, report.WriteText(&text, rep.Tables()...))
	got["terminal"] = text.String()
	for name, file := range got {
		at := strings.IndexFunc(file, func(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) })
		check.True(t, at < 0, "%s holds what steers a terminal: %q", name, file[max(at-40, 0):at+4])
	}
	check.True(t, !strings.Contains(text.String(), "\x1b") && !strings.Contains(got["/report.md"], "<script>"), "control characters or tags in the tables")
	for line := range strings.Lines(got["/judgments.jsonl"]) {
		check.True(t, json.Valid([]byte(line)), "not JSON: %s", line)
	}
}

// A question without a score is counted as such, and is in no mean.
func TestUnscored(t *testing.T) {
	var calls atomic.Int64
	r := benchtest.Runner("", &calls, func(_ int64, q graphrag.Question) error {
		if strings.Contains(q.Text, "owl") || strings.Contains(q.Text, "tit") {
			return fmt.Errorf("asking: %w", llm.ErrFiltered)
		}
		return nil
	})
	rep := check.Of(run(t, r)).OK(t)
	types := rep.Systems[0].Overall.Types
	single, summary := types[wildgraph.SingleFact], types[wildgraph.Summary]
	check.True(t, single.N == 3 && single.Unscored == 1.0/3 && *single.Accuracy == 1, "an unscored fact: %+v", single.Judged)
	if summary.N != 2 || summary.Unscored != 0.5 || *summary.Recall != 0.5 || types[benchmark.All].Reasons["no answer"] != 2 || !strings.Contains(rep.Systems[0].NotCompared[0], "2 of 7 failed, mostly by: asking: ") {
		t.Errorf("an unscored summary: %+v, %v", summary.Judged, types[benchmark.All].Reasons)
	}
}

// thorough is a judge that also gives the ceiling of precision and the groundedness.
type thorough struct{ benchtest.Exact }

func (t thorough) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	j, err := t.Exact.Fact(ctx, c)
	j.Grounded = judge.Score(1, "")
	j.Scores = map[string]judge.Verdict{"f1/zoo": judge.Score(0.5, ""), "by_model": judge.NoScore("no model")}
	return j, err
}

func (t thorough) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	j, err := t.Exact.Summary(ctx, c)
	j.Ceiling, j.Grounded = judge.Score(0.25, ""), judge.Score(0, "")
	return j, err
}

// Further figures of a judge have columns; without them there are none.
func TestColumnsOfThoroughJudges(t *testing.T) {
	r := study("", nil)
	r.Judge = thorough{}
	rep, err := run(t, r)
	check.OK(t, err)
	all := rep.Systems[0].Overall.Types
	v, ok := all["summary"].Figure("precision_ceiling")
	check.True(t, ok && v == 0.25, "ceiling %v, %v", v, ok)
	v, ok = all[benchmark.All].Figure("grounded")
	check.True(t, ok && v > 0 && v < 1, "grounded %v, %v", v, ok)
	v, ok = all["single-fact"].Figure("f1/zoo")
	check.True(t, ok && v == 0.5, "a named score is %v, %v", v, ok)
	v, ok = all["summary"].Figure("f1/zoo")
	check.True(t, !ok, "a named score of no question is %v", v)
	v, ok = all[benchmark.All].Figure("by_model")
	check.True(t, !ok, "a named score that could not be had is %v", v)
	var csv strings.Builder
	err = rep.WriteCSV(&csv)
	check.True(t, err == nil && strings.Contains(csv.String(), ",unscored,f1/zoo,answered_right,"), "%v, %.300s", err, csv.String())
	text := tables(t, rep)
	for _, want := range []string{"Ceiling", "Grounded", "f1/zoo"} {
		check.Contains(t, text, want)
	}
	r = study("", nil)
	rep = check.Of(run(t, r)).OK(t)
	text = tables(t, rep)
	check.True(t, !strings.Contains(text, "Ceiling") && !strings.Contains(text, "Grounded"), "columns without figures:\n%s", text)
}

// cells are the states of questions in the index of a page, by system.
func cells(t *testing.T, file string) map[string][]page.State {
	t.Helper()
	_, rest, _ := strings.Cut(file, `id="index">`)
	packed, _, _ := strings.Cut(rest, "<")
	raw := check.Of(base64.StdEncoding.DecodeString(packed)).OK(t)
	z := check.Of(gzip.NewReader(bytes.NewReader(raw))).OK(t)
	var index struct {
		Systems []page.System
		Cells   []struct{ State []page.State }
	}
	check.OK(t, json.NewDecoder(z).Decode(&index))
	for i, s := range index.Systems {
		check.True(t, slices.Contains(index.Cells[i].State, page.Pending) == strings.HasPrefix(s.Note, "only "), "%s: the note is %q", s.Name, s.Note)
	}
	out := make(map[string][]page.State)
	for i, s := range index.Systems {
		out[s.Name] = index.Cells[i].State
	}
	return out
}

// A run that was stopped has a report of the answers so far; missing answers are not counted as wrong.
func TestUnfinished(t *testing.T) {
	var calls atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	dir := t.TempDir()
	r := benchtest.Runner(dir, &calls, func(n int64, _ graphrag.Question) error {
		if n == 3 {
			cancel()
		}
		return ctx.Err()
	})
	r.Options.Concurrency = 1
	part, err := r.Run(ctx)
	check.Must(t, err != nil && part != nil, "%v, %v", part, err)
	rep := check.Of(report.Write(dir, part)).OK(t)
	file := benchtest.Files(t, dir)["/report.html"]
	states := cells(t, file)["parrot"]
	missing := 0
	for _, s := range states {
		if s == page.Pending {
			missing++
		}
	}
	check.True(t, missing != 0 && missing != len(states) && strings.Contains(file, "Unfinished: "), "states %v", states)
	n := rep.Systems[0].Overall.Types["all"].N
	check.Equal(t, n, len(states)-missing, "figures over %d questions", n)
	// The next start answers the rest.
	calls.Store(100)
	r = benchtest.Runner(dir, &calls, nil)
	check.OK(t, check.Err(report.Write(dir, check.Of(r.Run(t.Context())).OK(t))))
	file = benchtest.Files(t, dir)["/report.html"]
	for name, states := range cells(t, file) {
		check.True(t, !slices.Contains(states, page.Pending) && !strings.Contains(file, "Unfinished"), "%s lacks answers: %v", name, states)
	}
}

// row is a system of a made-up run: the costs of its index and of a question, and the questions that it
// answers.
type row struct {
	name            string
	graph           bool
	index, question int
	right           func(i int) bool
	steps           []graphrag.Step
}

// spent is a run of systems over forty questions, each about its own page; half of the questions cost a tenth
// more, half a tenth less.
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

// A graph that costs a million tokens to build and saves two thousand a question pays from five hundred
// questions on, if it answers as well; otherwise it never does, and the sentence gives the reason.
func TestPayoff(t *testing.T) {
	agent := row{name: "agentic:bm25", question: 3000, right: most, steps: []graphrag.Step{{Kind: "turn"}, {Kind: "search", Tokens: 700}, {Kind: "turn"}, {Kind: "find", Tokens: 50}, {Kind: "turn"}}}
	for _, tt := range []struct {
		name      string
		graph     row
		questions float64 // number of questions, 0 for never
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

// The table divides the costs of the index among the questions, in money if there are prices; the chart has a
// dot for each system, and a line through the ones that none beats in both cost and quality.
func TestSpending(t *testing.T) {
	run := spent(row{name: "a<b&c", question: 3000, right: most}, row{name: "dear", graph: true, index: 50_000, question: 4000, right: half}, row{name: "cheap", question: 100, right: half})
	run.Currency = "EUR"
	run.Price = func(u graphrag.Usage) (float64, bool) { return float64(u.PromptTokens) / 1e6, true }
	dir := t.TempDir()
	check.OK(t, check.Err(report.Write(dir, run)))
	got := benchtest.Files(t, dir)
	want := "| dear | 1.0 | 1.0 | 0 | 4,000 | 2,000 | 0.00 | 4,500 | 4,050 | 4,005 | 0.00450 | 0.00405 | 0.00400 |"
	check.Contains(t, got["/report.md"], want)
	// The page draws a dot for each system, and a line through the two that none beats: the cheap one, and the
	// most accurate one.
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

// grown asks every question four times, with different IDs.
func grown(r *benchmark.Runner) *benchmark.Runner {
	for i, d := range r.Dataset.Domains {
		items := slices.Clone(d.Items)
		for _, suffix := range []string{"b", "c", "d"} {
			for _, it := range d.Items {
				it.Question.ID += suffix
				items = append(items, it)
			}
		}
		r.Dataset.Domains[i].Items = items
	}
	return r
}

// The best system is compared with every other one, and every system with the baselines, each as one family of
// tests. With few questions there is a difference and no statement of its certainty.
func TestPairs(t *testing.T) {
	for _, tt := range []struct {
		name string
		many bool
	}{{"7 questions", false}, {"28 questions", true}} {
		r := study("", nil)
		scholar := r.Systems[1]
		r.Systems = append(r.Systems, scholar, r.Systems[0])
		r.Systems[2].Name, r.Systems[3].Name = "pupil", "twin"
		r.Systems[1].Baseline = true
		if tt.many {
			r = grown(r)
		}
		rep := check.Of(run(t, r)).OK(t)
		var got []string
		for _, p := range rep.Pairs {
			if p.Figure != "accuracy" {
				continue
			}
			got = append(got, fmt.Sprint(p.A, " ", p.B, " ", p.Family))
			check.True(t, p.Family != "best" || p.Difference >= 0,
				"%s: the best is worse: %+v", tt.name, p)
			check.True(t, (p.P != nil && p.PHolm != nil && p.Low != nil && p.High != nil && p.Detectable != nil && p.Tests == 3) == tt.many,
				"%s: %+v", tt.name, p)
		}
		want := []string{"scholar parrot best", "pupil parrot best", "twin parrot best", "scholar parrot baselines", "scholar pupil baselines", "scholar twin baselines"}
		check.Equal(t, got, want, "%s: pairs", tt.name)
		_, text, _ := strings.Cut(tables(t, rep), "The best system and the others")
		text, _, _ = strings.Cut(text, "With fewer than")
		for _, want := range []string{"Best − other", "System − baseline", "parrot − scholar", "pupil − scholar"} {
			check.Contains(t, tables(t, rep), want, "%s: the tables lack", tt.name)
		}
		check.True(t, (tt.many || strings.Contains(text, "too few")) && !strings.Contains(text, "scholar − "),
			"%s:\n%s", tt.name, text)
		all := rep.Systems[0].Overall.Types[benchmark.All]
		check.True(t, (len(all.Intervals) > 0) == tt.many, "%s: intervals %v", tt.name, all.Intervals)
	}
}

// If the best system is a baseline, both tables show it on its side.
func TestBestBaseline(t *testing.T) {
	r := study("", nil)
	r.Systems[0].Baseline = true
	rep := check.Of(run(t, r)).OK(t)
	if text := tables(t, rep); len(rep.Pairs) != 6 || strings.Count(text, "parrot − scholar") != 3 || strings.Count(text, "scholar − parrot") != 3 {
		t.Errorf("%d pairs\n%s", len(rep.Pairs), text)
	}
}

// reviewer ranks the pages on which its reports are based, and reads no chunk; blind finds nothing.
type reviewer struct{ scholar }

func (r *reviewer) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := r.scholar.Answer(ctx, q)
	a.Evidence = []graphrag.Hit{}
	slices.SortStableFunc(a.Ranked, func(x, y graphrag.Hit) int { // pages about the question first
		return strings.Index(q.Text, strings.TrimSuffix(y.Chunk.Doc, ".txt")) - strings.Index(q.Text, strings.TrimSuffix(x.Chunk.Doc, ".txt"))
	})
	return a, err
}

type blind struct{ scholar }

func (b *blind) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: "Animals eat.", Found: graphrag.Nothing()}, nil
}

// A ranking of pages behind reports is shown, but not compared, not marked as the best of its column, and does
// not keep another system from being the best.
func TestRankingOfProvenance(t *testing.T) {
	r := grown(study("", nil))
	r.Options.CountTokens, r.Options.Found = nil, true
	notes := []graphrag.Derived{{Kind: "report", Text: "A report.", Provenance: graphrag.Provenance{Docs: []string{"owl.txt"}}}}
	r.Systems = []benchmark.Entry{
		r.Systems[1],
		{Name: "blind", New: func(string) (benchmark.System, error) { return &blind{}, nil }},
		{Name: "reviewer", New: func(string) (benchmark.System, error) { return &reviewer{scholar{notes: notes}}, nil }},
		{Name: "unsure", New: func(string) (benchmark.System, error) { return &unsure{reviewer{scholar{notes: notes}}}, nil }},
	}
	rep := check.Of(run(t, r)).OK(t)
	all := rep.Systems[2].Overall.Types[benchmark.All]
	check.True(t, *all.MRR == 1 && all.Found == nil && all.ContextTokens == nil, "%+v", all)
	// If a system reads reports only, its share of text from sources is 0, also if it found nothing; the share
	// of statements in what was read counts only questions with a report.
	scholar, unsure := rep.Systems[0].Overall.Types[benchmark.All], rep.Systems[3].Overall.Types[benchmark.All]
	check.True(t, scholar.Found != nil && unsure.Found == nil && unsure.RecallAt5 != nil,
		"found in source text %v, in reports %v; recall %v", scholar.Found, unsure.Found, unsure.RecallAt5)
	for _, p := range rep.Pairs {
		check.True(t, p.Figure != "evidence_recall_at_5" || p.A != "reviewer" && p.B != "reviewer",
			"compared: %+v", p)
	}
	evidence := rep.Tables()[1]
	for i, cell := range evidence.Rows[2].Cells[:8] {
		check.True(t, !cell.Best && evidence.Rows[0].Cells[i].Best, "column %d: reviewer %+v, scholar %+v", i, cell, evidence.Rows[0].Cells[i])
	}
	check.Contains(t, strings.Join(evidence.Notes, " "), "reviewer reads no chunk", "notes %q", evidence.Notes)
	for _, cell := range rep.Tables()[0].Rows[0].Cells { // all systems answer alike
		check.True(t, !cell.Best, "the best of equal ones: %+v", cell)
	}
}

// unsure is a reviewer that has no report on tits.
type unsure struct{ reviewer }

func (u *unsure) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if strings.Contains(q.Text, "tit") {
		return graphrag.Answer{Text: "Animals eat.", Found: graphrag.Found{Ranked: []graphrag.Hit{}, Evidence: []graphrag.Hit{}}}, nil
	}
	return u.reviewer.Answer(ctx, q)
}

// wobbly answers differently with each seed; its figures are over all answers.
type wobbly struct {
	benchtest.Parrot
	seed int
}

func (w *wobbly) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := w.Parrot.Answer(ctx, q)
	if w.seed == 1 {
		a.Text = "Nothing."
	}
	return a, err
}

// If questions are asked again of systems with other seeds, the report says what the seeds change, and which
// systems they do not change; a second start builds nothing.
func TestSeeds(t *testing.T) {
	built := 0
	start := func(dir string) (*report.Report, error) {
		r := study(dir, nil)
		fresh := func(seed int) (benchmark.System, error) {
			built++
			return &wobbly{benchtest.Parrot{Calls: new(atomic.Int64)}, seed}, nil
		}
		r.Systems = []benchmark.Entry{r.Systems[0], {
			Name: "wobbly", New: func(string) (benchmark.System, error) { return fresh(0) }, Again: func(_ string, repeat int) (benchmark.System, error) { return fresh(repeat) },
		}}
		r.Options.Repeat = 3
		return run(t, r)
	}
	dir := t.TempDir()
	rep, err := start(dir)
	check.OK(t, err)
	s := rep.Systems[1]
	if built != 6 || *s.Same != 0 || s.BySeed["accuracy"] != (report.Interval{0, 1}) || s.Overall.Types["all"].N != 21 {
		t.Errorf("built %d, same %v, by seed %v", built, *s.Same, s.BySeed)
	}
	var text strings.Builder
	check.OK(t, rep.WriteRanking(&text))
	for _, want := range []string{"Accuracy over 3 seeds, from the least to the most: wobbly 0.0 to 100.0.", "no ranking of parrot: asked again", "2 systems and 7 questions", "Too few questions to tell which is better: 7."} {
		check.Contains(t, strings.Join(strings.Fields(text.String()), " "), want)
	}
	_, err = start(dir)
	check.True(t, err == nil && built == 6, "a second start built %d: %v", built-6, err)
}
