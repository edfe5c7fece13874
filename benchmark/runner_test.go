// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// run runs the systems and, if there is a folder, writes the report.
func run(t *testing.T, r *benchmark.Runner) (*benchmark.Run, error) {
	t.Helper()
	records, err := r.Run(t.Context())
	if err == nil && r.Options.Dir != "" {
		_, err = report.Write(r.Options.Dir, records)
	}
	return records, err
}

// reported runs the systems and returns the report.
func reported(t *testing.T, r *benchmark.Runner) *report.Report {
	t.Helper()
	records := check.Of(run(t, r)).OK(t)
	return check.Of(report.New(records)).OK(t)
}

func TestRun(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	rep := reported(t, benchtest.Runner(dir, &calls, nil))
	check.Equal(t, calls.Load(), 14, "answers, want 2 systems × 7 questions")
	all := rep.Systems[0].Overall.Types[benchmark.All]
	check.True(t, all.N == 7 && *all.RecallAt5 == 1 && *all.MRR == 1 && *all.AllAt5 == 1, "evidence over all: %+v", all)
	// Each system reads the one document of the question, so the multi-fact questions miss their second unit:
	// (5 + 2·½) / 7.
	if got, want := *all.PromptRecall, 6.0/7; got != want {
		t.Errorf("evidence in the prompt %v, want %v", got, want)
	}
	check.Equal(t, *all.ContextTokens, 5, "context of %v tokens", *all.ContextTokens)
	summary := rep.Systems[0].Overall.Types[wildgraph.Summary]
	check.True(t, *summary.Recall == 0.5 && *summary.Precision == 1 && *summary.F1OfMeans == 2.0/3 && summary.K == 10, "summary: %+v", summary)
	// Domain fish has no second multi-fact question; a domain without multi-fact questions still has the key,
	// and no figures.
	r := benchtest.Runner("", &calls, nil)
	r.Dataset.Domains[1].Items = r.Dataset.Domains[1].Items[:1]
	none, ok := reported(t, r).Systems[0].Domains[1].Types[wildgraph.Summary]
	check.True(t, ok && none.N == 0 && none.Judged == nil && none.RecallAt5 == nil, "a type without questions: %+v", none)
	if mute := rep.Systems[2]; mute.NotApplicable == "" || mute.Overall.Types[benchmark.All].RecallAt5 != nil || mute.Overall.Types[benchmark.All].N != 7 {
		t.Errorf("the system that was not run: %+v", mute)
	}
	got := benchtest.Files(t, dir)
	for _, name := range []string{"/report.json", "/report.md", "/report.html", "/report.csv", "/judgments.jsonl", "/predictions/parrot.jsonl", "/predictions/other.jsonl"} {
		check.True(t, got[name] != "", "no %s", name)
	}
	check.True(t, !strings.Contains(got["/predictions/parrot.jsonl"], `"id"`), "predictions hold an id, which makes the released evaluator score everything 0")
	check.Equal(t, strings.Count(got["/judgments.jsonl"], "\n"), 14, "judgments")
}

// A run that is stopped at any point continues from there, repeats no answer, and ends with the bytes of an
// uninterrupted run, at any concurrency.
func TestResume(t *testing.T) {
	var calls atomic.Int64
	whole := t.TempDir()
	check.OK(t, check.Err(run(t, benchtest.Runner(whole, &calls, nil))))
	want := benchtest.Files(t, whole)
	gone := errors.New("server gone")
	for _, width := range []int{1, 8} {
		var calls atomic.Int64
		dir := t.TempDir()
		runs := 0
		for ; ; runs++ {
			failed := int64(0)
			r := benchtest.Runner(dir, &calls, func(n int64, _ graphrag.Question) error {
				if n%5 == 4 { // every fifth call ends the run
					failed++
					return gone
				}
				return nil
			})
			r.Options.Concurrency = width
			_, err := run(t, r)
			if err == nil {
				break
			}
			check.Must(t, errors.Is(err, gone), "%v", err)
			check.Must(t, runs <= 20, "no end in sight")
		}
		check.True(t, runs != 0, "the run was never interrupted")
		check.Equal(t, benchtest.Files(t, dir), want, "concurrency %d, %d interruptions (-whole +resumed)", width, runs)
	}
}

// counting counts the judge's questions.
type counting struct {
	benchtest.Exact
	name  string
	calls *atomic.Int64
}

func (j counting) Name() string { return j.name }

func (j counting) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	j.calls.Add(1)
	return j.Exact.Fact(ctx, c)
}

func (j counting) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	j.calls.Add(1)
	return j.Exact.Summary(ctx, c)
}

// A run in a folder with the records of other runs pays only for new calls, and its report equals that of an
// empty folder.
func TestOnlyWhatIsNew(t *testing.T) {
	dir := t.TempDir()
	for _, tt := range []struct {
		name                   string
		change                 func(*benchmark.Runner)
		built, answers, judged int64
	}{
		{"one question of each type, one system, one domain", func(r *benchmark.Runner) {
			r.Options.Limit = 1
			r.Systems = r.Systems[:1]
			r.Dataset.Domains = r.Dataset.Domains[:1]
		}, 1, 3, 3},
		{"more questions", func(r *benchmark.Runner) {
			r.Systems = r.Systems[:1]
			r.Dataset.Domains = r.Dataset.Domains[:1]
		}, 1, 1, 1},
		{"a domain", func(r *benchmark.Runner) { r.Systems = r.Systems[:1] }, 1, 3, 3},
		{"a system", func(*benchmark.Runner) {}, 2, 7, 7},
		{"nothing", func(*benchmark.Runner) {}, 0, 0, 0},
		{"another judge", func(r *benchmark.Runner) {
			r.Judge = counting{name: "strict", calls: r.Judge.(counting).calls}
		}, 0, 0, 14},
		{"the first judge again", func(*benchmark.Runner) {}, 0, 0, 0},
		{"a sweep", func(r *benchmark.Runner) { r.Options.SweepTopK = []int{3, 10} }, 4, 2 * 2, 2 * 2},
		{"another top-k of facts", func(r *benchmark.Runner) { r.Options.TopK = map[string]int{wildgraph.SingleFact: 3} }, 4, 2 * 3, 2 * 3},
		{"another depth", func(r *benchmark.Runner) { r.Options.Depth = 20 }, 4, 14, 14},
		{"other settings", func(r *benchmark.Runner) { r.Options.Settings = map[string]any{"chunk_size": 600} }, 4, 14, 14},
		{"other settings of one system", func(r *benchmark.Runner) { r.Systems[1].Settings = map[string]any{"own": true} }, 2, 7, 7},
		{"another kit", func(r *benchmark.Runner) { r.Options.Kit = "other" }, 4, 14, 14},
		{"another corpus of a domain", func(r *benchmark.Runner) { r.Dataset.Domains[0].Fingerprint = "new" }, 2, 2 * 4, 2 * 4},
		{"another gold", func(r *benchmark.Runner) { r.Dataset.Domains[0].Items[0].Reference = "Mice." }, 0, 0, 2},
		{"another alias", func(r *benchmark.Runner) { r.Dataset.Domains[0].Items[0].Aliases = []string{"Mice."} }, 0, 0, 2},
		{"another evidence", func(r *benchmark.Runner) { r.Dataset.Domains[0].Items[0].Gold = []benchmark.Unit{{"tit.txt"}} }, 0, 0, 0},
		{"another question", func(r *benchmark.Runner) { r.Dataset.Domains[0].Items[0].Question.Text += " And the tit?" }, 2, 2, 2},
		{"facts that decide nothing", func(r *benchmark.Runner) { r.Options.Config = map[string]any{"mood": "good"} }, 0, 0, 0},
		{"all as before", func(*benchmark.Runner) {}, 0, 0, 0},
	} {
		var built, answers, judged atomic.Int64
		runner := func(dir string) *benchmark.Runner {
			r := benchtest.Runner(dir, &answers, nil)
			r.Judge = counting{name: "exact", calls: &judged}
			tt.change(r)
			for i, e := range r.Systems {
				if e.New != nil {
					r.Systems[i].New = func(domain string) (benchmark.System, error) {
						built.Add(1)
						return e.New(domain)
					}
				}
			}
			return r
		}
		check.OK(t, check.Err(run(t, runner(dir))), "%s", tt.name)
		got := [3]int64{built.Load(), answers.Load(), judged.Load()}
		want := [3]int64{tt.built, tt.answers, tt.judged}
		check.Equal(t, got, want, "%s: indexes, answers and judgments", tt.name)
		alone := t.TempDir()
		check.OK(t, check.Err(run(t, runner(alone))))
		added := benchtest.Files(t, dir)
		for name, want := range benchtest.Files(t, alone) {
			check.Equal(t, added[name], want, "%s: %s (-alone +added)", tt.name, name)
		}
	}
}

// Answers whose texts were not stored are requested again for a judge that reads the evidence, and for no
// other.
func TestTextsForTheJudge(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	for i, want := range []int64{14, 28, 28} {
		r := benchtest.Runner(dir, &calls, nil)
		r.Options.ShowEvidence = i > 0
		check.OK(t, check.Err(run(t, r)))
		check.Equal(t, calls.Load(), want, "start %d: %d answers", i, calls.Load())
	}
}

func TestRecordsOfAnotherVersion(t *testing.T) {
	dir := t.TempDir()
	j, err := journal.Open(filepath.Join(dir, record.JournalName), journal.Header{Schema: "wildgraph-run/2", Config: `{"limit":0}`}, journal.Options{})
	check.OK(t, errors.Join(err, j.Close()))
	var calls atomic.Int64
	_, err = run(t, benchtest.Runner(dir, &calls, nil))
	check.True(t, errors.Is(err, record.ErrOtherSchema) && strings.Contains(err.Error(), "wildgraph-run/2") &&
		strings.Contains(err.Error(), "choose another folder") && calls.Load() <= 0, "error %v", err)
}

func TestFailures(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) {
		var calls atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		r := benchtest.Runner(t.TempDir(), &calls, func(n int64, _ graphrag.Question) error {
			if n == 2 {
				cancel()
			}
			return ctx.Err()
		})
		_, err := r.Run(ctx)
		check.Is(t, err, context.Canceled, "error %v, want context.Canceled", err)
		check.True(t, calls.Load() <= 5, "%d answers were asked for after the cancel", calls.Load()-2)
	})
	t.Run("validation reports everything", func(t *testing.T) {
		_, err := (&benchmark.Runner{Options: benchmark.Options{Limit: -1, TopK: map[string]int{"x": -2}}}).Run(t.Context())
		for _, want := range []string{"no data set", "no system", "no judge", "Limit", "TopK"} {
			check.Fails(t, err, want)
		}
	})
	t.Run("names that are no file names", func(t *testing.T) {
		var calls atomic.Int64
		for _, name := range []string{"", "../x", ".x", "a b", "a/b", strings.Repeat("x", 65)} {
			r := benchtest.Runner("", &calls, nil)
			r.Systems[0].Name = name
			check.Fails(t, check.Err(run(t, r)), "file name", "%q", name)
		}
	})
	t.Run("folder in use", func(t *testing.T) {
		var calls atomic.Int64
		dir := t.TempDir()
		r := benchtest.Runner(dir, &calls, func(n int64, _ graphrag.Question) error {
			if n == 1 {
				check.Fails(t, check.Err(run(t, benchtest.Runner(dir, &calls, nil))), "in use", "a second run in the folder")
			}
			return nil
		})
		check.OK(t, check.Err(run(t, r)))
	})
}

func TestProgress(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	var last benchmark.Event
	run := func() {
		r := benchtest.Runner(dir, &calls, nil)
		r.Options.Progress = func(e benchmark.Event) {
			check.True(t, e.Done >= last.Done, "progress went back from %+v to %+v", last, e)
			last = e
		}
		last = benchmark.Event{}
		check.OK(t, check.Err(run(t, r)))
	}
	run()
	check.True(t, last.Done == 14 && last.Total == 14 && last.Resumed == 0, "last event %+v", last)
	run()
	check.True(t, last.Done == 14 && last.Resumed == 14, "last event of the resumed run %+v", last)
}

// How each kind of result is counted, one question at a time.
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

// shy refuses questions about hawks and eels, and has read their pages.
type shy struct{ benchtest.Parrot }

func (s *shy) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	a, err := s.Parrot.Answer(ctx, q)
	a.Refused = q.Text == "What does the hawk eat?" || q.Text == "What does the eel eat?"
	return a, err
}

// A run counts refusals by system and type. The judge does not get a question without an answer, and marking a
// question as such asks no system again.
func TestRunCountsRefusals(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	run := func(unanswerable bool) (*benchmark.Run, *report.Report) {
		t.Helper()
		r := benchtest.Runner(dir, &calls, nil)
		r.Systems = []benchmark.Entry{{Name: "shy", New: func(string) (benchmark.System, error) {
			return &shy{benchtest.Parrot{Calls: &calls}}, nil
		}}}
		r.Dataset.Domains[1].Items[0].Unanswerable = unanswerable // marks the eel's question
		out := check.Of(r.Run(t.Context())).OK(t)
		rep := check.Of(report.New(out)).OK(t)
		return out, rep
	}
	_, rep := run(false)
	// Of seven questions two are summaries with half of their gold. The hawk's question also needs the owl's
	// page, which was not read; the eel's page was read.
	got := rep.Systems[0].Overall.Types[benchmark.All].Verdicts()
	check.Equal(t, got.Refusals, stats.Refusals{AnsweredRight: 3, AnsweredWrong: 2, RefusedRightly: 1, RefusedWrongly: 1})
	before := calls.Load()
	out, rep := run(true)
	got = rep.Systems[0].Overall.Types[benchmark.All].Verdicts()
	check.Equal(t, got.Refusals, stats.Refusals{AnsweredRight: 3, AnsweredWrong: 2, RefusedRightly: 2})
	eel := out.Systems[0].Domains[1].Results[0].Judgment.Fact
	check.True(t, eel != nil && eel.Value == 1 && calls.Load() == before, "the eel is judged %+v after %d more answers", eel, calls.Load()-before)
}

// refusing asks a model that refuses each question in other natural words.
type refusing struct {
	benchtest.Parrot
	reader.Reader
}

func (r *refusing) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return r.Read(ctx, q, []graphrag.Hit{{Chunk: graphrag.Chunk{ID: "a#0", Doc: "a", Text: "The ferry was built at Holmvik."}}}, nil)
}

// Ten questions without an answer, refused in ten wordings, are ten refusals: of a model and of predictions.
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

// moody is a judge that can fail in a way; its name is the one of the test data's judge.
type moody struct {
	benchtest.Exact
	cause string
	calls *atomic.Int64
	anew  *atomic.Int64 // number of calls that ignore caches
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

// watched counts the questions for which caches must be ignored.
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

// Questions that failed for a reason that may pass are asked again at the next start, and on request all failed
// ones, then without caches; the report equals that of a healthy run.
func TestHealing(t *testing.T) {
	var calls atomic.Int64
	healthy := t.TempDir()
	reported(t, benchtest.Runner(healthy, &calls, nil))
	want := benchtest.Files(t, healthy)
	for _, tt := range []struct {
		cause       llm.Kind
		ofOne       bool // whether this reason can leave a single question without an answer
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
				for again := range 2 { // the second start must find nothing to do
					answers.Store(0)
					judged.Store(0)
					anew.Store(0)
					start(false, tt.retry)
					expected := [3]int64{}
					switch {
					case !tt.heal || again > 0:
					case who == "answer":
						expected = [3]int64{2, 2, 2} // the owl's question, of two systems
					default:
						expected = [3]int64{0, 10, 10} // all fact questions
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
