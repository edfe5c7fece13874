// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/lab"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := run(t.Context(), append(args, "-no-timings"), func(string) string { return "" }, &out, &out)
	return out.String(), err
}

// figures are the cells of a system's row.
func figures(t *testing.T, out, system string) []string {
	t.Helper()
	for line := range strings.Lines(out) {
		cells := strings.Fields(strings.ReplaceAll(line, "│", " "))
		if strings.Contains(line, "│") && cells[0] == system {
			return cells[1:]
		}
	}
	t.Fatalf("no row of %s in\n%s", system, out)
	return nil
}

func number(t *testing.T, s string) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(s, 64)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// Offline there is a figure for what needs no model, n/a for the rest, and the command
// that fills it in; the output fits a screen, and is the same at every start.
func TestOffline(t *testing.T) {
	dir := t.TempDir()
	out, err := program(t, "-out", filepath.Join(dir, "a"))
	if err != nil {
		t.Fatal(err, out)
	}
	for _, want := range []string{"15 passages, 20 questions; 27 names hidden, none can be read.", "(offline)", "go run ./examples/anonyrag -model NAME"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if n := strings.Count(out, "\n"); n < 10 || n > 25 {
		t.Errorf("%d lines:\n%s", n, out)
	}
	for i, cell := range figures(t, out, "zeroshot") {
		if cell != "n/a" {
			t.Errorf("zero-shot figure %d is %s offline", i, cell)
		}
	}
	bm25 := figures(t, out, "bm25")
	if bm25[0] == "n/a" || bm25[2] != "n/a" || bm25[3] == "0.0" || bm25[3] == "n/a" {
		t.Errorf("bm25 %v", bm25)
	}
	again, err := program(t, "-out", filepath.Join(dir, "b"))
	if err != nil || strings.ReplaceAll(again, filepath.Join(dir, "b"), filepath.Join(dir, "a")) != out {
		t.Errorf("another run says, %v:\n%s", err, again)
	}
	doc, err := os.ReadFile("../../docs/anonyrag.md")
	if err != nil {
		t.Fatal(err)
	}
	trailing := regexp.MustCompile(`(?m) +$`)
	table, _, _ := strings.Cut(out[strings.Index(out, "What is right"):], "\n  Choice:")
	if table = trailing.ReplaceAllString(table, ""); !strings.Contains(string(doc), table) {
		t.Errorf("docs/anonyrag.md does not show\n%s", table)
	}
}

// remembering is a model that has read the books: asked with the names, it knows every
// answer. With hidden names it guesses, unless the prompt holds the passages that the
// answer stands in; then it also sees through the placeholders.
func remembering(t *testing.T) llmtest.Handler {
	t.Helper()
	type known struct {
		answer   string
		raw      bool
		passages []string
	}
	asked := make(map[string]known) // by the question's text
	s := settings{}
	books, err := s.books(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range books {
		raw, err1 := b.Raw()
		hidden, err2 := b.Anonymized()
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		for _, l := range []anonyrag.Language{raw, hidden} {
			texts := make(map[string]string)
			for _, p := range l.Corpus {
				texts[p.ID] = p.Text
			}
			for _, q := range l.QA {
				k := known{answer: q.Answer, raw: !strings.Contains(q.Question, "#")}
				for _, id := range q.Evidence {
					k.passages = append(k.passages, texts[id])
				}
				asked[strings.TrimSpace(q.Question)] = k
			}
		}
	}
	return func(r llm.Request) llm.Reply {
		prompt := r.Messages[len(r.Messages)-1].Text
		_, question, _ := strings.Cut(prompt, "Question: ")
		stem, _, _ := strings.Cut(question, "\nA. ")
		k, ok := asked[strings.TrimSpace(stem)]
		switch {
		case !ok:
			return llm.Reply{Text: "D"} // a probe
		case k.raw:
			return llm.Reply{Text: k.answer}
		}
		for _, p := range k.passages {
			if !strings.Contains(prompt, p) {
				return llm.Reply{Text: "A"}
			}
		}
		return llm.Reply{Text: k.answer}
	}
}

// A model that remembers the books needs no retrieval for them; with hidden names it
// needs it, and zero-shot falls to guessing.
func TestMemoryLeaksThroughNames(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: remembering(t)})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk-planted-secret")
	dir := t.TempDir()
	out, err := program(t, "-model", "m", "-systems", "zeroshot,bm25", "-out", dir, "-cache", filepath.Join(dir, "cache"))
	if err != nil {
		t.Fatal(err, out)
	}
	// choice raw, hidden, names, R@5 raw, hidden; English, then Chinese. Of the right
	// letters 3 and 3 of 10 are A.
	zero, bm25 := figures(t, out, "zeroshot"), figures(t, out, "bm25")
	for at, want := range map[int]string{0: "100.0", 1: "30.0", 2: "0.0", 5: "100.0", 6: "30.0", 7: "0.0"} {
		if zero[at] != want {
			t.Errorf("zero-shot figure %d is %s, want %s\n%s", at, zero[at], want, out)
		}
	}
	for _, at := range []int{1, 6} {
		if number(t, bm25[at]) <= number(t, zero[at])+30 || number(t, bm25[at+1]) < 50 || bm25[at-1] != "100.0" {
			t.Errorf("retrieval brings %v over %v\n%s", bm25, zero, out)
		}
	}
	if strings.Contains(out, "offline") || strings.Contains(out, "planted") {
		t.Errorf("%s", out)
	}
	// A judge by model takes the same answers; what this one replies is no verdict, so
	// they are unscored, and not wrong.
	out, err = program(t, "-model", "m", "-judged", "-judge-model", "strict", "-systems", "zeroshot", "-out", dir, "-cache", filepath.Join(dir, "cache"))
	if !errors.Is(err, lab.ErrIncomplete) || !strings.Contains(out, "zeroshot") {
		t.Errorf("%v\n%s", err, out)
	}
}

// What is built can be read; templates are labelled; a plain text takes a model, which
// writes the questions as well, and those it solves without the book are left out.
func TestBuild(t *testing.T) {
	dir := t.TempDir()
	built := filepath.Join(dir, "built")
	out, err := program(t, "-build", built, "-generate", "6")
	if err != nil || !strings.Contains(out, "26 questions, 6 of them made by template") {
		t.Fatal(err, out)
	}
	data, err := os.ReadFile(filepath.Join(built, "eng_qa.json"))
	if err != nil || strings.Count(string(data), `"made": "template"`) != 6 {
		t.Fatalf("%v\n%s", err, data)
	}
	out, err = program(t, "-data", built, "-out", filepath.Join(dir, "run"))
	if err != nil || !strings.Contains(out, "the paper's Table 4: 108, 73; 167, 361") || figures(t, out, "bm25")[0] == "n/a" {
		t.Fatal(err, out)
	}

	reply := `{"questions": [{"question": "Who steered the Petrel for Ida Lund?", "options": ["Olaf Berg", "Ida Lund", "nobody", "a boy"], "answer": "A", "hops": 2, "passages": [1]},
		{"question": "Who owned the Petrel?", "answer": "Ida Lund.", "hops": 1, "passages": [1]},
		{"question": "Who knows?", "options": ["Olaf Berg", "the sea", "nobody", "a boy"], "answer": "C", "hops": 1, "passages": [1]}]}`
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(r llm.Request) llm.Reply {
		switch first := r.Messages[0].Text; {
		case strings.Contains(first, "examination questions"):
			return llm.Reply{Text: reply}
		case strings.Contains(first, `("entity"<|>`):
			return llm.Reply{Text: `("entity"<|>OLAF BERG<|>person<|>a sailor)##("entity"<|>Olaf Berg<|>person<|>a sailor)##("entity"<|>Ida Lund<|>person<|>an owner)##("entity"<|>Petrel<|>location<|>a ship)<|COMPLETE|>`}
		}
		return llm.Reply{Text: "C"}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk-planted-secret")
	text := filepath.Join(dir, "petrel.txt")
	if err := os.WriteFile(text, []byte("Ida Lund owned the Petrel. Olaf Berg steered her across the bay in the great storm."), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err = program(t, "-book", text, "-model", "m", "-generate", "5", "-build", built, "-cache", filepath.Join(dir, "cache"))
	if err != nil || !strings.Contains(out, "2 questions, 3 of them written by the model (0 more were not usable), 1 that the model answers without the book left out") {
		t.Fatal(err, out)
	}
	var qa []anonyrag.QA
	if data, err = os.ReadFile(filepath.Join(built, "eng_qa.json")); err != nil || json.Unmarshal(data, &qa) != nil || len(qa) != 2 {
		t.Fatalf("%v\n%s", err, data)
	}
	if !regexp.MustCompile(`^Who steered the \[LOCATION#1\] for \[PERSON#\d\]\?$`).MatchString(qa[0].Question) || qa[1].Format != anonyrag.Reversion || qa[0].Made != anonyrag.MadeByModel {
		t.Errorf("%+v", qa)
	}
}

// A long book is shown in parts, from its beginning to its end.
func TestBatches(t *testing.T) {
	list := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}
	for n, want := range map[int]string{0: "[]", 1: "[[0 1 2]]", 2: "[[0 1 2] [6 7 8]]", 4: "[[0 1 2] [3 4 5] [6 7 8] [9]]", 9: "[[0 1 2] [3 4 5] [6 7 8] [9]]"} {
		if got := fmt.Sprint(batches(list, 3, n)); got != want {
			t.Errorf("%d batches: %s, want %s", n, got, want)
		}
	}
}

func TestUsage(t *testing.T) {
	dir := t.TempDir()
	bad := filepath.Join(dir, "bad.json")
	if err := os.WriteFile(bad, []byte(`{"title": "x", "passages": []}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"-data is a finished data set": {"-data", dir, "-generate", "3"},
		"takes -model":                 {"-book", "story.txt"},
		"-judged needs -model":         {"-judged"},
		"-generate -1 is less than 0":  {"-generate", "-1"},
		`-language "deu" is none of`:   {"-language", "deu"},
		"unknown system":               {"-systems", "bm52"},
		"no data set here":             {"-data", dir},
		`want "language"`:              {"-book", bad},
		"no such file":                 {"-book", filepath.Join(dir, "none.json")},
		"unexpected argument":          {"x"},
	} {
		_, err := program(t, args...)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
		if usage := errors.Is(err, cli.ErrUsage); usage != (want != "no data set here" && want != `want "language"`) {
			t.Errorf("%v: is about usage: %v", args, usage)
		}
	}
}

// stopper cancels a run at the first thing that it says.
type stopper struct{ stop context.CancelFunc }

func (s stopper) Write(p []byte) (int, error) {
	s.stop()
	return len(p), nil
}

// A run that is stopped writes the report of what is there, and goes on from it.
func TestStopped(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a")
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var errs bytes.Buffer
	err := run(ctx, []string{"-no-timings", "-out", dir}, func(string) string { return "" }, stopper{stop}, &errs)
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("error %v, %s", err, errs.String())
	}
	if _, err := os.Stat(filepath.Join(dir, "report.html")); err != nil {
		t.Errorf("no report of what is there: %v", err)
	}
	if out, err := program(t, "-out", dir); err != nil {
		t.Errorf("it does not go on: %v\n%s", err, out)
	}
}
