// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"iter"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/dry"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Every experiment runs on the shipped sample with one command and tells of all its
// variants, equal runs in equal bytes.
func TestExperiments(t *testing.T) {
	for _, name := range experimentNames() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			stdout, _, err := program(t, "-experiment", name, "-out", dir, "-no-timings")
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range experiments[name].variants {
				if !strings.Contains(stdout, v.name) {
					t.Errorf("%s is missing in\n%s", v.name, stdout)
				}
			}
			kept, err := os.ReadFile(filepath.Join(dir, experimentFile))
			if err != nil || !strings.HasPrefix(stdout, string(kept)) || !strings.Contains(stdout, "offline") {
				t.Errorf("%v, what is kept is not what was printed, or it is not labelled:\n%s", err, stdout)
			}
			if name != "breakeven" && !strings.Contains(stdout, "2-hop, n = 7") {
				t.Errorf("the questions are not told apart by their hops:\n%s", stdout)
			}
			again, _, err := program(t, "-experiment", name, "-out", t.TempDir(), "-no-timings", "-concurrency", "1")
			if err != nil || again[:len(kept)] != string(kept) {
				t.Errorf("another run: %v\n%s", err, again)
			}
		})
	}
}

// Steps and shares may be others, and name their experiment.
func TestExperimentsOfNumbers(t *testing.T) {
	for _, x := range []struct{ flag, list, want string }{
		{"-steps", "1,3", "gear-original-steps-3"}, {"-share", "30", "graph-30"},
	} {
		stdout, _, err := program(t, x.flag, x.list, "-out", t.TempDir(), "-no-timings")
		if err != nil || !strings.Contains(stdout, x.want) || strings.Contains(stdout, "graph-20") || strings.Contains(stdout, "steps-2") {
			t.Errorf("%s %s: %v\n%s", x.flag, x.list, err, stdout)
		}
	}
}

func TestExperimentFlags(t *testing.T) {
	for _, x := range []struct{ args, want string }{
		{"-experiment nothing", "none of breakeven"},
		{"-experiment share -steps 1,2", "-steps is for -experiment steps"},
		{"-steps 0", "want numbers from 1"},
		{"-steps 1,2 -systems bm25", "leave -systems out"},
		{"-experiment recall -systems bm25", "leave -systems out"},
		{"-experiment recall -ablation -dry-run", "leave -dry-run out"},
		{"-judge paper", "none of shortanswer, liverag"},
		{"-triples x.json", "-triples is for -experiment and -audit"},
		{"-audit x -experiment recall", "leave -experiment out"},
		{"-audited x -systems bm25", "leave -systems out"},
	} {
		if _, _, err := program(t, strings.Fields(x.args)...); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("%s: %v, want %q", x.args, err, x.want)
		}
	}
	dir := t.TempDir()
	for name, text := range map[string]string{"a.json": "[]", "b.json": `{"docs": []}`, "c.txt": "x\ty\tz"} {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := program(t, "-experiment", "share", "-triples", file, "-out", filepath.Join(dir, "out-"+name)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
	graph := filepath.Join(dir, "graph.tsv")
	if err := os.WriteFile(graph, []byte("Tarn Harbour\tfounded by\tOdile Brask\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := program(t, "-experiment", "share", "-triples", graph, "-out", filepath.Join(dir, "out")); err != nil {
		t.Errorf("a graph of one triple: %v", err)
	}
}

// What a small share keeps, a larger one keeps too, and each keeps about its part.
func TestThinned(t *testing.T) {
	const n = 20000
	all := func(yield func(triples.Triple, error) bool) {
		for i := range n {
			e := func(s string) triples.Entity { return triples.Entity{ID: s, Label: s} }
			if !yield(triples.Triple{Head: e(fmt.Sprint("h", i)), Relation: e("r"), Tail: e(fmt.Sprint("t", i%7))}, nil) {
				return
			}
		}
	}
	kept := func(share float64, seed uint64) map[string]bool {
		out := make(map[string]bool)
		for x := range first(thinned(all, share, seed)) {
			out[x.Head.ID] = true
		}
		return out
	}
	smaller := kept(0, 1)
	for _, share := range []float64{.05, .2, .5, 1} {
		these := kept(share, 1)
		if got := float64(len(these)) / n; math.Abs(got-share) > .015 { // 4 standard errors
			t.Errorf("%g of the triples are kept of a share of %g", got, share)
		}
		for id := range smaller {
			if !these[id] {
				t.Fatalf("a share of %g lacks %s", share, id)
			}
		}
		smaller = these
	}
	if len(kept(0, 1)) != 0 || fmt.Sprint(kept(.05, 1)) == fmt.Sprint(kept(.05, 2)) {
		t.Error("the seed does not decide what is kept")
	}
}

func first(seq iter.Seq2[triples.Triple, error]) iter.Seq[triples.Triple] {
	return func(yield func(triples.Triple) bool) {
		for x := range seq {
			if !yield(x) {
				return
			}
		}
	}
}

func TestWording(t *testing.T) {
	for _, x := range []struct {
		question string
		want     wording // words, names, relative clauses, of the, of, commas
		complex  bool
	}{
		{"When was Oslo founded?", wording{4, 1, 0, 0, 0, 0}, false},
		{"Who founded the town where Ivo Lantry, the navigator, was born?", wording{11, 1, 1, 0, 0, 2}, true},
		{"What is the capital of the country of the founder of Tarn Harbour?", wording{13, 1, 0, 2, 3, 0}, true},
		{"Did Greta Lund know Odile Brask?", wording{6, 2, 0, 0, 0, 0}, true},
		{"", wording{}, false},
	} {
		if got := wordingOf(x.question); got != x.want || got.complex() != x.complex {
			t.Errorf("%q: %v, complex %t; want %v, %t", x.question, got, got.complex(), x.want, x.complex)
		}
	}
}

// The classifier finds the rule that labels were made by, and what it says of a
// question never depends on that question's own outcome.
func TestHeldOut(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	words, gain := make([]wording, 200), make([]float64, 200)
	for i := range words {
		for f := range words[i] {
			words[i][f] = float64(rng.IntN(5))
		}
		gain[i] = -.2
		if words[i][atRelative] >= 3 {
			gain[i] = .5
		}
	}
	decided := heldOut(words, gain, 1)
	right := 0
	for i := range decided {
		if decided[i] == (gain[i] > 0) {
			right++
		}
	}
	if right < 190 {
		t.Errorf("%d of %d are decided as the rule does", right, len(decided))
	}
	for i := range 20 {
		other := slices.Clone(gain)
		other[i] = -5 * gain[i]
		if got := heldOut(words, other, 1); got[i] != decided[i] {
			t.Errorf("question %d decides about itself", i)
		}
	}
	for _, all := range []float64{1, -1} { // one class alone
		for _, yes := range heldOut(words, slices.Repeat([]float64{all}, len(words)), 1) {
			if yes != (all > 0) {
				t.Fatalf("with gains of %g throughout, %t", all, yes)
			}
		}
	}
	if got := heldOut(nil, nil, 1); len(got) != 0 {
		t.Error(got)
	}
}

// The worked example: 1,000 calls once and 2 a question, beside 4 a question.
func TestCrossing(t *testing.T) {
	calls := measures[0].of
	per := line{"a", spent{}, spent{calls: 4}}
	once := line{"b", spent{calls: 1000}, spent{calls: 2}}
	if n, ok := crossing(per, once, calls); !ok || n != 500 || per.at(n, calls) != once.at(n, calls) {
		t.Errorf("they cross at %g, %t", n, ok)
	}
	for _, never := range []line{{"c", spent{calls: 10}, spent{calls: 5}}, {"d", spent{calls: 10}, spent{calls: 4}}, per} {
		if n, ok := crossing(per, never, calls); ok {
			t.Errorf("%s crosses at %g", never.name, n)
		}
	}
	plot := strings.Join(draw([]line{per, once}, "calls", calls), "\n")
	if strings.Count(plot, "\n") != plotRows+1 || !strings.Contains(plot, "Calls (1e0 to 1e6)") || !strings.Contains(plot, "a a, b b") {
		t.Error(plot)
	}
}

func TestDifference(t *testing.T) {
	a, b := make([]float64, 20), slices.Repeat([]float64{.5}, 20)
	for n, want := range map[int]string{0: "n/a", 9: "+50.0", 20: "+50.0 [50.0, 50.0]"} {
		if got, err := difference(a[:n], b[:n], hundred, 1); err != nil || got != want {
			t.Errorf("of %d questions: %q, %v, want %q", n, got, err, want)
		}
	}
}

// The judge of LiveRAG gives every system correctness and faithfulness on the
// challenge's scales, and experiments their differences.
func TestLiveRAG(t *testing.T) {
	dir := t.TempDir()
	stdout, _, err := program(t, "-judge", "liverag", "-systems", "bm25,zeroshot", "-out", dir, "-no-timings")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := os.ReadFile(filepath.Join(dir, liveRAGFile))
	if err != nil || !strings.HasPrefix(stdout, string(kept)) {
		t.Errorf("%v: what is kept is not what was printed:\n%s", err, stdout)
	}
	// Most extracted sentences are supported by the passages they are from.
	row := regexp.MustCompile(`bm25 +│ +-?[012]\.\d{3} \[-[01]\.\d{3}, [012]\.\d{3}\] +10 +0\.[5-9]\d{2} \[-?0\.\d{3}, [01]\.\d{3}\] +10 +10`)
	if !row.MatchString(stdout) || !strings.Contains(stdout, "lexical/liverag/v1, offline") || !regexp.MustCompile(`zeroshot +│ +n/a`).MatchString(stdout) {
		t.Error(stdout)
	}
	stdout, _, err = program(t, "-judge", "liverag", "-experiment", "steps", "-out", t.TempDir(), "-no-timings")
	if pair := regexp.MustCompile(`R@15 +correctness +faithfulness`); err != nil || !pair.MatchString(stdout) {
		t.Errorf("%v\n%s", err, stdout)
	}
}

// With a model the experiments are paid for, and say which model it was. The judge here
// says that nothing is supported.
func TestExperimentsByModel(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		if text, ok := dry.Grader.Reply(req); ok {
			return llm.Reply{Text: text}
		}
		return baselinestest.Obedient(req)
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	for args, want := range map[string]string{
		"-experiment steps -judge liverag": "gear-steps-2          │               -1.000        5                   -1.000        5    5",
		"-experiment breakeven":            "cost of N questions, m1, open",
	} {
		stdout, stderr, err := program(t, append(strings.Fields(args), "-out", t.TempDir(), "-model", "m1", "-limit", "2", "-max-failed", "1")...)
		if err != nil || !strings.Contains(stdout, want) || !strings.Contains(stdout, "m1, open") || strings.Contains(stdout, "assumed") {
			t.Errorf("%s: %v, want %q\n%s%s", args, err, want, stdout, stderr)
		}
	}
	dir := t.TempDir()
	if _, stderr, err := program(t, "-audit", filepath.Join(dir, "a.jsonl"), "-out", dir, "-model", "m1", "-limit", "2"); err != nil && !strings.Contains(err.Error(), "no triple was linked") {
		t.Errorf("%v\n%s", err, stderr)
	}
}
