// SPDX-License-Identifier: Apache-2.0

package report_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"unicode"

	"golang.org/x/net/html"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/lexical"
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

// run runs and reports.
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

// What stands in questions and answers stays text in every form.
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
			if strings.HasPrefix(a.Key, "on") || a.Key == "src" {
				t.Errorf("report.html has an attribute %s", a.Key)
			}
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
		if at := strings.IndexFunc(file, func(r rune) bool { return r != '\n' && r != '\t' && unicode.In(r, unicode.Cc, unicode.Cf) }); at >= 0 {
			t.Errorf("%s holds what steers a terminal: %q", name, file[max(at-40, 0):at+4])
		}
	}
	check.True(t, !strings.Contains(text.String(), "\x1b") && !strings.Contains(got["/report.md"], "<script>"), "control characters or tags in the tables")
	for line := range strings.Lines(got["/judgments.jsonl"]) {
		check.True(t, json.Valid([]byte(line)), "not JSON: %s", line)
	}
}

// A question without a score counts among those without, and in no mean.
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

// thorough also says what precision can be, and what is grounded.
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

// What a judge gives beyond accuracy, recall and precision has a column; a judge that does not give it has none.
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
