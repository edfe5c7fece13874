// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm"
)

// newRunner runs two parrots over the zoo; calls counts the answers.
func newRunner(dir string, calls *atomic.Int64, fail func(int64, graphrag.Question) error) *benchmark.Runner {
	entry := func(name string) benchmark.Entry {
		return benchmark.Entry{Name: name, New: func(string) (graphrag.System, error) {
			return &parrot{name: name, calls: calls, fail: fail}, nil
		}}
	}
	return &benchmark.Runner{
		Dataset: zoo(),
		Systems: []benchmark.Entry{entry("parrot"), entry("other"), {Name: "mute", NotApplicable: "has no voice"}},
		Judge:   exact{},
		Options: benchmark.Options{
			Dir: dir, Kit: "model", NoTimings: true, Concurrency: 3,
			CountTokens: func(s string) int { return len(strings.Fields(s)) },
			Settings:    map[string]any{"chunk_size": 1200},
		},
	}
}

func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == benchmark.JournalName {
			return err
		}
		data, err := os.ReadFile(name)
		out[strings.TrimPrefix(name, dir)] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRun(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	report, err := newRunner(dir, &calls, nil).Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if calls.Load() != 14 {
		t.Errorf("%d answers, want 2 systems × 7 questions", calls.Load())
	}
	all := report.Systems[0].Overall.Types[benchmark.All]
	if all.N != 7 || *all.RecallAt5 != 1 || *all.MRR != 1 || *all.AllAt5 != 1 {
		t.Errorf("evidence over all: %+v", all)
	}
	// Each evidence is the one document of the question, so the multi-fact
	// questions miss their second unit: (5 + 2·½) / 7.
	if got, want := *all.PromptRecall, 6.0/7; got != want {
		t.Errorf("evidence in the prompt %v, want %v", got, want)
	}
	if *all.ContextTokens != 5 {
		t.Errorf("context of %v tokens, want 5", *all.ContextTokens)
	}
	summary := report.Systems[0].Overall.Types[graphrag.Summary]
	if *summary.Recall != 0.5 || *summary.Precision != 1 || *summary.F1OfMeans != 2.0/3 || summary.K != 10 {
		t.Errorf("summary: %+v", summary)
	}
	// fish has no second multi-fact question; a domain without any still has
	// the key, and no figures.
	r := newRunner("", &calls, nil)
	r.Dataset.Domains[1].Items = r.Dataset.Domains[1].Items[:1]
	if one, err := r.Run(t.Context()); err != nil {
		t.Error(err)
	} else if none, ok := one.Systems[0].Domains[1].Types[graphrag.Summary]; !ok || none.N != 0 || none.Judged != nil || none.RecallAt5 != nil {
		t.Errorf("a type without questions: %+v", none)
	}
	if mute := report.Systems[2]; mute.NotApplicable == "" || mute.Overall.Types[benchmark.All].RecallAt5 != nil || mute.Overall.Types[benchmark.All].N != 7 {
		t.Errorf("the system that was not run: %+v", mute)
	}
	got := files(t, dir)
	for _, name := range []string{"/report.json", "/report.md", "/report.html", "/report.csv", "/judgments.jsonl", "/predictions/parrot.jsonl", "/predictions/other.jsonl"} {
		if got[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if strings.Contains(got["/predictions/parrot.jsonl"], `"id"`) {
		t.Error("predictions hold an id, which makes the released evaluator score everything 0")
	}
	if n := strings.Count(got["/judgments.jsonl"], "\n"); n != 14 {
		t.Errorf("%d judgments, want 14", n)
	}
}

// A run that stops at any point goes on from there, repeats no answer, and
// ends with the bytes of a run in one go, whatever the concurrency.
func TestResume(t *testing.T) {
	var calls atomic.Int64
	whole := t.TempDir()
	if _, err := newRunner(whole, &calls, nil).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	want := files(t, whole)
	gone := errors.New("server gone")
	for _, width := range []int{1, 8} {
		var calls atomic.Int64
		dir := t.TempDir()
		runs := 0
		for ; ; runs++ {
			failed := int64(0)
			r := newRunner(dir, &calls, func(n int64, _ graphrag.Question) error {
				if n%5 == 4 { // every fifth call ends the run
					failed++
					return gone
				}
				return nil
			})
			r.Options.Concurrency = width
			_, err := r.Run(t.Context())
			if err == nil {
				break
			}
			if !errors.Is(err, gone) {
				t.Fatal(err)
			}
			if runs > 20 {
				t.Fatal("no end in sight")
			}
		}
		if runs == 0 {
			t.Error("the run was never interrupted")
		}
		if diff := cmp.Diff(want, files(t, dir)); diff != "" {
			t.Errorf("concurrency %d, %d interruptions (-whole +resumed):\n%s", width, runs, diff)
		}
	}
}

func TestCompleteRunCostsNothing(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	for range 2 {
		if _, err := newRunner(dir, &calls, nil).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		left := filepath.Join(dir, "predictions", ".tmp-123")
		if _, err := os.Stat(left); err == nil {
			t.Error("what a killed run left half written is still there")
		}
		if err := os.WriteFile(left, []byte("{"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if calls.Load() != 14 {
		t.Errorf("%d answers for two runs, want 14", calls.Load())
	}
}

func TestOtherConfiguration(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	if _, err := newRunner(dir, &calls, nil).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	before := files(t, dir)
	for name, change := range map[string]func(*benchmark.Runner){
		`chunk_size: 1200 there, 600 here`: func(r *benchmark.Runner) { r.Options.Settings = map[string]any{"chunk_size": 600} },
		`limit: 0 there, 1 here`:           func(r *benchmark.Runner) { r.Options.Limit = 1 },
		`fingerprints: `:                   func(r *benchmark.Runner) { r.Dataset.Domains[0].Fingerprint = "new" },
		`topk_qa: 5 there, 3 here`:         func(r *benchmark.Runner) { r.Options.TopKFact = 3 },
	} {
		r := newRunner(dir, &calls, nil)
		change(r)
		_, err := r.Run(t.Context())
		if !errors.Is(err, benchmark.ErrOtherConfig) || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one with %q", err, name)
		}
	}
	if diff := cmp.Diff(before, files(t, dir)); diff != "" {
		t.Errorf("a refused run changed the folder:\n%s", diff)
	}
}

func TestFailures(t *testing.T) {
	t.Run("of one question", func(t *testing.T) {
		var calls atomic.Int64
		r := newRunner("", &calls, func(_ int64, q graphrag.Question) error {
			if strings.Contains(q.Text, "owl") {
				return fmt.Errorf("asking: %w", llm.ErrFiltered)
			}
			return nil
		})
		report, err := r.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		single := report.Systems[0].Overall.Types[graphrag.SingleFact]
		if single.N != 3 || single.Unscored != 1.0/3 || *single.Accuracy != 1 {
			t.Errorf("an unscored question changed the mean: %+v", single)
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		var calls atomic.Int64
		ctx, cancel := context.WithCancel(t.Context())
		r := newRunner(t.TempDir(), &calls, func(n int64, _ graphrag.Question) error {
			if n == 2 {
				cancel()
			}
			return ctx.Err()
		})
		if _, err := r.Run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v, want context.Canceled", err)
		}
		if calls.Load() > 5 {
			t.Errorf("%d answers were asked for after the cancel", calls.Load()-2)
		}
	})
	t.Run("validation reports everything", func(t *testing.T) {
		_, err := (&benchmark.Runner{Options: benchmark.Options{Limit: -1, TopKFact: -2}}).Run(t.Context())
		for _, want := range []string{"no data set", "no system", "no judge", "Limit", "TopKFact"} {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v lacks %q", err, want)
			}
		}
	})
	t.Run("names that are no file names", func(t *testing.T) {
		var calls atomic.Int64
		for _, name := range []string{"", "../x", ".x", "a b", "a/b", strings.Repeat("x", 65)} {
			r := newRunner("", &calls, nil)
			r.Systems[0].Name = name
			if _, err := r.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "file name") {
				t.Errorf("%q: %v", name, err)
			}
		}
	})
	t.Run("folder in use", func(t *testing.T) {
		var calls atomic.Int64
		dir := t.TempDir()
		r := newRunner(dir, &calls, func(n int64, _ graphrag.Question) error {
			if n == 1 {
				if _, err := newRunner(dir, &calls, nil).Run(t.Context()); err == nil || !strings.Contains(err.Error(), "in use") {
					t.Errorf("a second run in the folder: %v", err)
				}
			}
			return nil
		})
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestProgress(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	var last benchmark.Event
	run := func() {
		r := newRunner(dir, &calls, nil)
		r.Options.Progress = func(e benchmark.Event) {
			if e.Done < last.Done {
				t.Errorf("progress went back from %+v to %+v", last, e)
			}
			last = e
		}
		last = benchmark.Event{}
		if _, err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	run()
	if last.Done != 14 || last.Total != 14 || last.Resumed != 0 {
		t.Errorf("last event %+v", last)
	}
	run()
	if last.Done != 14 || last.Resumed != 14 {
		t.Errorf("last event of the resumed run %+v", last)
	}
}

func TestLimit(t *testing.T) {
	var calls atomic.Int64
	r := newRunner("", &calls, nil)
	r.Options.Limit = 1
	report, err := r.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range report.Systems[0].Domains {
		if d.Types[graphrag.SingleFact].N != 1 || d.Types[benchmark.All].N != 3 {
			t.Errorf("%s: %+v", d.Domain, d.Types)
		}
	}
	if got := len(zoo().Questions(1)); got != 6 {
		t.Errorf("Questions(1) lists %d, want 6", got)
	}
}
