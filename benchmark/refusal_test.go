// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// What counts as what, one question at a time.
func TestRefusals(t *testing.T) {
	one, two := []benchmark.Unit{{"a"}}, []benchmark.Unit{{"a", "a2"}, {"b"}}
	read := func(docs ...string) record.Answer {
		a := record.Answer{Ranked: []record.Ranked{}}
		for _, d := range docs {
			a.Evidence = append(a.Evidence, record.Evidence{Doc: d})
		}
		return a
	}
	refused := func(a record.Answer) record.Answer { a.Refused = true; return a }
	derived := func(a record.Answer, docs ...string) record.Answer {
		a.Derived = []record.Derived{{Docs: docs}}
		return a
	}
	fact := func(v judge.Verdict) record.Judgment {
		return record.Judgment{Fact: &judge.FactJudgment{Verdict: v}}
	}
	summary := func(v judge.Verdict) record.Judgment {
		return record.Judgment{Summary: &judge.SummaryJudgment{Recall: v, Precision: judge.Score(1, "")}}
	}
	right, wrong, none := judge.Score(1, ""), judge.Score(0, ""), judge.NoScore("no answer: x")
	statements := benchmark.Item{Gold: two, Statements: []string{"s", "t"}}
	for name, tt := range map[string]struct {
		it   benchmark.Item
		a    record.Answer
		j    record.Judgment
		want stats.Refusals
	}{
		"right":                                  {benchmark.Item{Gold: one}, read("x"), fact(right), stats.Refusals{AnsweredRight: 1}},
		"wrong":                                  {benchmark.Item{Gold: one}, read("a"), fact(wrong), stats.Refusals{AnsweredWrong: 1}},
		"refused, gold read":                     {benchmark.Item{Gold: one}, refused(read("x", "a")), fact(wrong), stats.Refusals{RefusedWrongly: 1}},
		"refused, other read":                    {benchmark.Item{Gold: one}, refused(read("x")), fact(wrong), stats.Refusals{RefusedRightly: 1}},
		"refused, nothing read":                  {benchmark.Item{Gold: one}, refused(read()), fact(wrong), stats.Refusals{RefusedRightly: 1}},
		"refused, one unit of two read":          {benchmark.Item{Gold: two}, refused(read("a2")), fact(wrong), stats.Refusals{RefusedRightly: 1}},
		"refused, both units read":               {benchmark.Item{Gold: two}, refused(read("b", "a2")), fact(wrong), stats.Refusals{RefusedWrongly: 1}},
		"refused summary, one unit of two read":  {statements, refused(read("b")), summary(wrong), stats.Refusals{RefusedWrongly: 1}},
		"refused summary, none read":             {statements, refused(read("x")), summary(wrong), stats.Refusals{RefusedRightly: 1}},
		"summary with half of the gold":          {statements, read("b"), summary(judge.Score(.5, "")), stats.Refusals{AnsweredWrong: 1}},
		"summary with all of the gold":           {statements, read("b"), summary(right), stats.Refusals{AnsweredRight: 1}},
		"refused, only a report on gold read":    {benchmark.Item{Gold: one}, refused(derived(read(), "a", "x")), fact(wrong), stats.Refusals{RefusedWrongly: 1}},
		"refused, only another report read":      {benchmark.Item{Gold: one}, refused(derived(read(), "x")), fact(wrong), stats.Refusals{RefusedRightly: 1}},
		"refused, other text, fact of gold page": {benchmark.Item{Gold: one}, refused(derived(read("x"), "a")), fact(wrong), stats.Refusals{RefusedRightly: 1}},
		"refused, unanswerable":                  {benchmark.Item{Unanswerable: true, Gold: one}, refused(read("a")), fact(right), stats.Refusals{RefusedRightly: 1}},
		"answered, unanswerable":                 {benchmark.Item{Unanswerable: true}, read("a"), fact(wrong), stats.Refusals{AnsweredWrong: 1}},
		"refused, gold not known":                {benchmark.Item{}, refused(read("a")), fact(wrong), stats.Refusals{Unscored: 1}},
		"refused, reading not known":             {benchmark.Item{Gold: one}, record.Answer{Foreign: true, Refused: true}, fact(wrong), stats.Refusals{Unscored: 1}},
		"not judged":                             {benchmark.Item{Gold: one}, read("a"), fact(none), stats.Refusals{Unscored: 1}},
		"failed":                                 {benchmark.Item{Gold: one}, record.Answer{Error: "timeout"}, fact(none), stats.Refusals{Unscored: 1}},
		"no record":                              {benchmark.Item{Gold: one}, record.Answer{}, record.Judgment{}, stats.Refusals{}},
	} {
		var got stats.Refusals
		benchmark.Result{Item: tt.it, Answer: tt.a, Judgment: tt.j}.CountRefusal(&got)
		check.Equal(t, got, tt.want, "%s", name)
	}
	var skipped stats.Refusals
	benchmark.Result{Skipped: true, Answer: refused(read()), Judgment: fact(wrong)}.CountRefusal(&skipped)
	check.Equal(t, skipped, stats.Refusals{}, "skipped")
}

// shy refuses what is asked of hawks and eels, and has read their pages.
type shy struct{ benchtest.Parrot }

func (s *shy) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := s.Parrot.Answer(ctx, q)
	a.Refused = q.Text == "What does the hawk eat?" || q.Text == "What does the eel eat?"
	return a, err
}

// A run counts its refusals by system and type. A question without an answer is not
// put to the judge, and marking it so asks no system again.
func TestRunCountsRefusals(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	run := func(unanswerable bool) (*benchmark.Run, *report.Report) {
		t.Helper()
		r := benchtest.Runner(dir, &calls, nil)
		r.Systems = []benchmark.Entry{{Name: "shy", New: func(string) (benchmark.System, error) {
			return &shy{benchtest.Parrot{Calls: &calls}}, nil
		}}}
		r.Dataset.Domains[1].Items[0].Unanswerable = unanswerable // the eel
		out := check.Of(r.Run(t.Context())).OK(t)
		rep := check.Of(report.New(out)).OK(t)
		return out, rep
	}
	_, rep := run(false)
	// Of seven questions two are summaries with half of their gold. The hawk's needs
	// the owl as well, which was not read; the eel's page was.
	got := rep.Systems[0].Overall.Types[benchmark.All].Verdicts()
	check.Equal(t, got.Refusals, stats.Refusals{AnsweredRight: 3, AnsweredWrong: 2, RefusedRightly: 1, RefusedWrongly: 1})
	before := calls.Load()
	out, rep := run(true)
	got = rep.Systems[0].Overall.Types[benchmark.All].Verdicts()
	check.Equal(t, got.Refusals, stats.Refusals{AnsweredRight: 3, AnsweredWrong: 2, RefusedRightly: 2})
	eel := out.Systems[0].Domains[1].Results[0].Judgment.Fact
	check.True(t, eel != nil && eel.Value == 1 && calls.Load() == before, "the eel is judged %+v after %d more answers", eel, calls.Load()-before)
}

// refusing asks a model that declines each question in another natural way.
type refusing struct {
	benchtest.Parrot
	reader.Reader
}

func (r *refusing) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return r.Read(ctx, q, []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "a#0", Doc: "a", Text: "The ferry was built at Holmvik."}}}, nil)
}

// Ten questions without an answer, refused in ten ways, are ten refusals, of a model and of predictions.
func TestNaturalRefusals(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/refusals.txt")).OK(t)
	replies := strings.Split(strings.TrimSpace(string(data)), "\n")
	model := llmtest.NewScript("declines")
	r := benchtest.Runner(t.TempDir(), new(atomic.Int64), nil)
	var items []benchmark.Item
	lines := ""
	for i, reply := range replies {
		q := fmt.Sprintf("What is the number %d of the ferry?", i)
		model.Reply(llmtest.Contains(q), reply)
		items = append(items, benchmark.Item{Type: r.Dataset.Domains[0].Items[0].Type, Question: graphrag.Question{ID: q, Text: q}, Unanswerable: true})
		lines += fmt.Sprintf("{\"question\": %q, \"answer\": %q}\n", q, reply)
	}
	r.Dataset.Domains = r.Dataset.Domains[:1]
	r.Dataset.Domains[0].Items = items
	read := check.Of(reader.ByModel(reader.ModelOptions{Model: model, Mode: reader.Reject})).OK(t)
	foreign := check.Of(own.ReadPredictions("foreign", "f.jsonl", strings.NewReader(lines), nil, func(string) bool { return true })).OK(t)
	r.Systems = []benchmark.Entry{{Name: "refusing", New: func(string) (benchmark.System, error) { return &refusing{benchtest.Parrot{}, read}, nil }}, foreign.Entry()}
	out := check.Of(r.Run(t.Context())).OK(t)
	rep := check.Of(report.New(out)).OK(t)
	for _, s := range rep.Systems {
		check.Equal(t, s.Overall.Types[benchmark.All].Verdicts().Refusals, (stats.Refusals{RefusedRightly: 10}), "%s", s.System)
	}
}

// moody is a judge with a way to fail; its name is that of the zoo's.
type moody struct {
	benchtest.Exact
	cause string
	calls *atomic.Int64
	anew  *atomic.Int64 // calls that pass by caches
}

func (j moody) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	j.calls.Add(1)
	if metering.WantsFreshReply(ctx) {
		j.anew.Add(1)
	}
	if j.cause != "" {
		return judge.FactJudgment{Verdict: judge.NoScore(j.cause + ": the judge failed")}, nil
	}
	return j.Exact.Fact(ctx, c)
}

// watched counts the questions that are asked past caches.
type watched struct {
	benchtest.Parrot
	anew *atomic.Int64
}

func (w *watched) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	if metering.WantsFreshReply(ctx) {
		w.anew.Add(1)
	}
	return w.Parrot.Answer(ctx, q)
}

// What failed for a passing reason is asked again at the next start, and all that
// failed if that is wanted, then past the caches; the report is that of a healthy run.
func TestHealing(t *testing.T) {
	var calls atomic.Int64
	healthy := t.TempDir()
	reported(t, benchtest.Runner(healthy, &calls, nil))
	want := benchtest.Files(t, healthy)
	for _, tt := range []struct {
		cause       llm.Kind
		ofOne       bool // it can be the reason that one question has no answer
		retry, heal bool
	}{
		{llm.ErrEmpty, true, false, true},
		{llm.ErrTruncated, true, false, true},
		{llm.ErrFiltered, true, false, true},
		{llm.ErrTransient, false, false, true},
		{llm.ErrInvalidOutput, true, false, false},
		{llm.ErrInvalidOutput, true, true, true},
		{llm.ErrRefused, true, false, false},
		{llm.ErrRefused, true, true, true},
	} {
		t.Run(fmt.Sprintf("%s, retry %v", string(tt.cause), tt.retry), func(t *testing.T) {
			for _, who := range []string{"answer", "judge"} {
				if who == "answer" && !tt.ofOne {
					continue
				}
				var answers, judged, anew atomic.Int64
				dir := t.TempDir()
				start := func(broken, retry bool) {
					r := benchtest.Runner(dir, &answers, nil)
					r.Options.Retry = retry
					j := moody{calls: &judged, anew: &anew}
					if broken && who == "judge" {
						j.cause = string(tt.cause)
					}
					r.Judge = j
					for n := range r.Systems[:2] {
						r.Systems[n].New = func(string) (benchmark.System, error) {
							return &watched{benchtest.Parrot{Calls: &answers, Fail: func(_ int64, q graphrag.Question) error {
								if broken && who == "answer" && strings.Contains(q.Text, "owl") {
									return &llm.Error{Kind: tt.cause}
								}
								return nil
							}}, &anew}, nil
						}
					}
					reported(t, r)
				}
				start(true, false)
				for again := range 2 { // the second finds nothing to do
					answers.Store(0)
					judged.Store(0)
					anew.Store(0)
					start(false, tt.retry)
					expected := [3]int64{}
					switch {
					case !tt.heal || again > 0:
					case who == "answer":
						expected = [3]int64{2, 2, 2} // the owl, of two systems
					default:
						expected = [3]int64{0, 10, 10} // all facts
					}
					if !tt.retry {
						expected[2] = 0
					}
					if asked := [3]int64{answers.Load(), judged.Load(), anew.Load()}; asked != expected {
						t.Errorf("%s, start %d: answers, judgments and calls past caches %v, want %v", who, again, asked, expected)
					}
				}
				check.Equal(t, (cmp.Diff(want, benchtest.Files(t, dir)) == ""), tt.heal, "%s: healed", who)
			}
		})
	}
}
