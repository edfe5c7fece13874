// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
)

// A run through a real HTTP server answers, embeds and judges, and pays for nothing twice.
func TestModelKit(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing.", "Another thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	server := serve(t, func(req llm.Request) llm.Reply {
		if text, ok := grader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		return llm.Reply{Text: "An answer [1]."}
	})
	dir := t.TempDir()
	args := []string{"-out", dir, "-limit", "1", "-systems", "naiverag,bm25,zeroshot", "-model", "answerer", "-judge-model", "grader", "-embed-model", "embedder", "-no-timings"}
	stdout, stderr, err := bench(t, bare, args...)
	check.OK(t, err)
	r := readReport(t, dir)
	check.Must(t, r.Kit == kit.NameModel && len(r.Systems) == 3, "kit %s, %d systems", r.Kit, len(r.Systems))
	for _, s := range r.Systems {
		o := s.Overall
		check.True(t, o.OverallJudged != nil && o.Lexical == nil && *o.AvgAccuracy == 1, "%s: %+v", s.System, o)
		sum := o.Types["summary"]
		check.True(t, *sum.Precision == 0.5 && *sum.Recall > 0, "%s: %+v", s.System, sum.Judged)
		check.True(t, s.AnswerUsage.Calls != 0 && s.JudgeUsage.Calls != 0, "%s: usage %+v, %+v", s.System, s.AnswerUsage, s.JudgeUsage)
	}
	if naive := r.Systems[0]; naive.Domains[0].Index.EmbeddedTokens == 0 || naive.AnswerUsage.EmbeddedTokens == 0 {
		t.Errorf("embeddings are not counted: %+v, %+v", naive.Domains[0].Index, naive.AnswerUsage)
	}
	// Without the run's records, the cache answers a second run completely.
	check.OK(t, os.Remove(filepath.Join(dir, record.JournalName)))
	paid := server.Bill().Total.Calls
	_, _, err = bench(t, bare, args...)
	check.OK(t, err)
	again := server.Bill().Total.Calls
	check.Equal(t, again, paid, "%d calls were paid for twice", again-paid)
	// The key is in no file.
	err = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(name)
		check.True(t, !bytes.Contains(data, []byte("planted-secret")), "%s holds the key", name)
		return err
	})
	check.True(t, err == nil && !strings.Contains(stdout+stderr, "planted-secret"), "the key was printed, or %v", err)
}

func TestServerTrouble(t *testing.T) {
	closed := llmtest.NewServer(llmtest.ServerOptions{})
	closed.Close()
	for _, tt := range []struct {
		name, url string
		faults    []llmtest.Fault
		want      string
	}{
		{name: "wrong key", faults: []llmtest.Fault{{Status: 401}}, want: "not authorized"},
		{name: "unreachable", url: closed.OpenAIURL(), want: closed.OpenAIURL()},
		{name: "nonsense", faults: []llmtest.Fault{llmtest.HTMLPage(), llmtest.HTMLPage(), llmtest.HTMLPage()}, want: "m, made before all others"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := llmtest.NewServer(llmtest.ServerOptions{})
			defer server.Close()
			server.Fail(tt.faults...)
			url := tt.url
			if url == "" {
				url = server.OpenAIURL()
			}
			t.Setenv("OPENAI_BASE_URL", url)
			t.Setenv("OPENAI_API_KEY", "sk")
			_, _, err := bench(t, bare, "-out", t.TempDir(), "-limit", "1", "-systems", "bm25", "-model", "m", "-concurrency", "1")
			if err == nil || !strings.Contains(err.Error(), tt.want) || setup.Status(io.Discard, "wildgraphbench", err) != 1 {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

// The exit status distinguishes a figure below its minimum from a missing score.
func TestStatus(t *testing.T) {
	answer := "No verdict here."
	serve(t, func(llm.Request) llm.Reply { return llm.Reply{Text: answer} })
	for _, tt := range []struct {
		name string
		args []string
		want int
		text string
	}{
		{"good enough", []string{"-systems", "bm25", "-min", "evidence_recall_at_5=0.01", "-min", "unscored=0"}, 0, ""},
		{"too low", []string{"-systems", "bm25", "-min", "mrr=1"}, cli.Failed, "mrr of bm25 is "},
		{"not defined", []string{"-systems", "zeroshot", "-model", "m", "-limit", "1", "-min", "mrr=0"}, setup.ExitIncomplete, "zeroshot has no figure mrr"},
		{"no verdicts", []string{"-systems", "bm25", "-model", "m", "-limit", "1"}, setup.ExitIncomplete, "scores are missing"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := bench(t, bare, append(tt.args, "-out", t.TempDir())...)
			var errs strings.Builder
			if got := setup.Status(&errs, "wildgraphbench", err); got != tt.want || !strings.Contains(errs.String(), tt.text) {
				t.Errorf("exit status %d, %q; want %d with %q", got, errs.String(), tt.want, tt.text)
			}
		})
	}
}

func TestBudgetOfAllStarts(t *testing.T) {
	server := serve(t, nil)
	dir := t.TempDir()
	var spent int
	for range 3 { // every start stops at the budget, and all starts together stay within it
		_, _, err := bench(t, bare, "-out", dir, "-systems", "bm25", "-model", "m", "-budget-tokens", "30000", "-concurrency", "1")
		check.Must(t, errors.Is(err, llm.ErrBudgetExceeded), "error %v, want the budget", err)
		bill := server.Bill().Total
		spent = bill.PromptTokens + bill.CompletionTokens
	}
	check.True(t, spent != 0 && spent <= 30000, "%d tokens spent of 30000", spent)
	for _, r := range server.Requests() {
		if body := string(r.Body); !strings.Contains(body, `"temperature":0,`) && !strings.Contains(body, `"temperature":0}`) || !strings.Contains(body, `"seed":1`) {
			t.Fatalf("a call without the settings of the run: %s", body)
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, cli.LedgerName))
	var account paid.Account
	check.OK(t, errors.Join(err, json.Unmarshal(data, &account)))
	got := account.Total.Usage.PromptTokens + account.Total.Usage.CompletionTokens
	check.Equal(t, got, spent, "the ledger has %d tokens, the bill %d", got, spent)
}

func TestDryRun(t *testing.T) {
	server := serve(t, nil)
	dir := filepath.Join(t.TempDir(), "out")
	prices := filepath.Join(t.TempDir(), "prices.json")
	check.OK(t, os.WriteFile(prices, []byte(`{"currency": "EUR", "models": [
		{"model": "m", "as_of": "2026-01-31", "prompt": 1, "completion": 4},
		{"model": "e", "as_of": "2026-01-31", "embedded": 0.1}]}`), 0o644))
	stdout, _, err := bench(t, bare, "-dry-run", "-out", dir, "-model", "m", "-embed-model", "e", "-prices", prices, "-systems", "naiverag,bm25,zeroshot,hipporag")
	check.OK(t, err)
	for stage, calls := range map[string]int{"naiverag embed": 0, "bm25 answer": 24, "zeroshot answer": 24, "hipporag index": 162, "hipporag search": 24, "all: answer": 96} {
		got := dryRow(t, stdout, stage)[0]
		check.Equal(t, got, calls, "%s: %d calls, want %d:\n%s", stage, got, calls, stdout)
	}
	check.True(t, strings.Contains(stdout, "EUR. Replies") && strings.Contains(stdout, "Nothing was called."), "the output:\n%s", stdout)
	check.Equal(t, len(server.Requests()), 0, "a dry run called the server")
	check.True(t, check.Err(os.Stat(dir)) != nil, "a dry run made a report folder")
	stdout, _, err = bench(t, bare, "-dry-run", "-out", dir)
	check.True(t, err == nil && strings.Contains(stdout, "makes no call") && strings.Contains(stdout, "Expected time: "), "offline: %s, %v", stdout, err)
}

func TestCancel(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var out, errs bytes.Buffer
	err := run(ctx, []string{"-out", t.TempDir()}, bare, &out, &errs)
	if !errors.Is(err, context.Canceled) || setup.Status(&errs, "wildgraphbench", err) != setup.ExitIncomplete || !strings.Contains(errs.String(), "start it again") {
		t.Errorf("error %v, %s", err, errs.String())
	}
}

// Another judge in the same folder pays only for judging; another folder pays for nothing that the shared cache
// has. Models get a short test call when the first call is about to be made, and only then.
func TestJudgeAgain(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, _ string) bool { return true },
	}
	var read, graded, ready atomic.Int64
	serve(t, func(req llm.Request) llm.Reply {
		if text, ok := grader.Reply(req); ok {
			graded.Add(1)
			return llm.Reply{Text: text}
		}
		if strings.HasSuffix(req.Messages[len(req.Messages)-1].Text, "the word ready.") {
			ready.Add(1)
		} else {
			read.Add(1)
		}
		return llm.Reply{Text: "An answer [1]."}
	})
	dir, other := t.TempDir(), t.TempDir()
	for i, tt := range []struct {
		dir, judge    string
		reads, grades bool // calls that are paid for
		signs         int64
	}{
		{dir, "strict", true, true, 2}, {dir, "mild", false, true, 0}, {dir, "strict", false, false, 0}, {other, "mild", false, false, 0},
		{t.TempDir(), "m", false, true, 1},
	} {
		read.Store(0)
		ready.Store(0)
		graded.Store(0)
		var out, errs bytes.Buffer // without -cache
		args := []string{"-out", tt.dir, "-limit", "1", "-systems", "bm25", "-model", "m", "-judge-model", tt.judge, "-no-timings"}
		err := run(t.Context(), args, bare, &out, &errs)
		check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
		check.Equal(t, ready.Load(), tt.signs, "start %d, %s: %d signs of life", i, tt.judge, ready.Load())
		check.True(t, (read.Load() > 0) == tt.reads && (graded.Load() > 0) == tt.grades,
			"start %d, %s: %d answers and %d grades are paid for", i, tt.judge, read.Load(), graded.Load())
		name := readReport(t, tt.dir).Config["judge"].(string)
		check.True(t, strings.HasSuffix(name, tt.judge), "start %d: the report is by %s", i, name)
	}
}

// Two profiles judge the same answers, each in its own report; only the judge of the paper gets the evidence.
func TestTwoProfiles(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
		Holds:      func(_, _ string) bool { return true },
	}
	var read atomic.Int64
	serve(t, func(req llm.Request) llm.Reply {
		askedAs(t, req)
		if text, ok := grader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		if strings.Contains(req.Messages[len(req.Messages)-1].Text, "passage") {
			read.Add(1)
		}
		return llm.Reply{Text: "An answer [1]."}
	})
	dir := t.TempDir()
	stdout, _, err := bench(t, bare, "-out", dir, "-limit", "1", "-systems", "bm25", "-model", "m", "-no-timings", "-grounded", "-judge-profile", "joint,paper", "-v")
	check.OK(t, err)
	answered := read.Load()
	for folder, profile := range map[string]string{dir: "joint", filepath.Join(dir, "paper"): "paper"} {
		r := readReport(t, folder)
		if name := r.Config["judge"].(string); !strings.HasPrefix(name, "wildgraph/"+profile+"/gold/") || r.Config["judge_profile"] != profile || !strings.Contains(name, "/grounded") {
			t.Errorf("%s: judged by %s, %v", folder, name, r.Config["judge_profile"])
		}
		sum := r.Systems[0].Overall.Types["summary"]
		check.True(t, *sum.Recall == 1 && *sum.Precision == 1, "%s: %+v", profile, sum.Judged)
	}
	check.True(t, strings.Count(stdout, "Main results") == 2 && strings.Contains(stdout, "The same answers, judged by wildgraph/paper/"),
		"the report of one profile is not printed:\n%s", stdout)
	_, _, err = bench(t, bare, "-out", dir, "-limit", "1", "-systems", "bm25", "-model", "m", "-no-timings", "-judge-profile", "paper")
	check.True(t, err == nil && read.Load() == answered && answered != 0, "%d answers, then %d: %v", answered, read.Load(), err)
	// A model judges all rows, also those of predictions and of systems that answered without a model.
	other := t.TempDir()
	theirs := "theirs=" + filepath.Join(dir, "predictions", "bm25.jsonl")
	if stdout, _, err := bench(t, bare, "-out", other, "-limit", "1", "-systems", "none", "-score", theirs, "-judge-model", "m"); err != nil || strings.Contains(strings.ToLower(stdout), "lexical") {
		t.Errorf("%v\n%s", err, stdout)
	} else if r := readReport(t, other); len(r.Systems) != 1 || r.Systems[0].System != "theirs" || !strings.HasPrefix(r.Config["judge"].(string), "wildgraph/joint/") || read.Load() != answered {
		t.Errorf("%v", r.Config)
	}
	// A finished run is judged by words if no server is named.
	t.Setenv("OPENAI_BASE_URL", "")
	t.Setenv("OPENAI_API_KEY", "")
	stdout, _, err = bench(t, bare, "-out", dir, "-limit", "1", "-systems", "bm25", "-model", "m", "-no-timings", "-judge-profile", "lexical")
	check.True(t, err == nil && read.Load() == answered && strings.Contains(stdout, "lexical/gold/v"),
		"by words: %d answers, then %d: %v\n%s", answered, read.Load(), err, stdout)
}

// A corpus is indexed by rules and a model answers, or the other way round; the calls are those of the parts
// that use the model.
func TestMixedKits(t *testing.T) {
	var calls atomic.Int64
	serve(t, func(req llm.Request) llm.Reply {
		calls.Add(1)
		return baselinestest.Obedient(req)
	})
	for _, tt := range []struct {
		index, answer, kit string
	}{{kit.NameOffline, kit.NameModel, "offline+model"}, {kit.NameModel, kit.NameOffline, "model+offline"}, {kit.NameModel, kit.NameModel, "model"}, {kit.NameOffline, kit.NameOffline, "offline"}} {
		dir := t.TempDir()
		args := []string{"-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", "hipporag,zeroshot", "-no-timings", "-index-kit", tt.index, "-answer-kit", tt.answer}
		if tt.kit != "offline" {
			args = append(args, "-model", "m")
		}
		if _, _, err := bench(t, bare, args...); err != nil && !errors.Is(err, setup.ErrIncomplete) {
			t.Fatalf("%s: %v", tt.kit, err)
		}
		r := readReport(t, dir)
		hippo, zero := r.Systems[0], r.Systems[1]
		all := hippo.Overall.Types[benchmark.All]
		if r.Kit != tt.kit || (hippo.Domains[0].Index.Calls > 0) != (tt.index == kit.NameModel) || (hippo.AnswerUsage.Calls > 0) != (tt.answer == kit.NameModel) ||
			(all.Judged != nil) != (tt.answer == kit.NameModel) || (all.Lexical != nil) != (tt.answer == kit.NameOffline) || (zero.NotApplicable == "") != (tt.answer == kit.NameModel) {
			t.Errorf("%s: kit %s, %d calls to index, %d to answer; %+v", tt.kit, r.Kit, hippo.Domains[0].Index.Calls, hippo.AnswerUsage.Calls, all)
		}
		before := calls.Load()
		stdout, _, err := bench(t, bare, append(args, "-dry-run")...)
		check.Must(t, err == nil && calls.Load() == before, "%v", err)
		if strings.Contains(stdout, "hipporag index") != (tt.index == kit.NameModel) || strings.Contains(stdout, "hipporag answer") != (tt.answer == kit.NameModel) {
			t.Errorf("%s: the estimate\n%s", tt.kit, stdout)
		}
	}
}
