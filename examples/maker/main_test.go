// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag/embed/embedtest"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func program(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, progress strings.Builder
	err := run(t.Context(), args, &out, &progress)
	return out.String(), err
}

// With the graph much more is found where it is needed; started again, nothing is built.
func TestScale(t *testing.T) {
	args := []string{"-index", filepath.Join(t.TempDir(), "store"), "-passages", "4000", "-triples", "24000", "-limit", "40"}
	for n := range 2 {
		var printed strings.Builder
		check.OK(t, scale(t.Context(), args, &printed, io.Discard))
		out := printed.String()
		figures := func(line string) (a, b float64) {
			_, rest, _ := strings.Cut(out, line)
			_, err := fmt.Sscan(rest, &a, &b)
			check.True(t, err == nil, "start %d, %q: %v\n%s", n+1, line, err, out)
			return a, b
		}
		without, with := figures("that need the graph")
		others, both := figures("that do not")
		var nearest float64
		_, rest, _ := strings.Cut(out, "nearest vectors")
		if _, err := fmt.Sscan(rest, &nearest); err != nil || with < without+25 || both < others || others < 50 || nearest < 90 {
			t.Errorf("too little is found with the graph, or too much is lost, %v:\n%s", err, out)
		}
		check.True(t, strings.Contains(out, "indexed in") == (n == 0), "start %d: %s", n+1, out)
	}
}

// The planted questions are what they claim to be: only the first passage of a bridged
// question has words of it, and each passage states its edge.
func TestQuestions(t *testing.T) {
	w := &world{seed: 1, passages: 4000, triples: 24000, questions: 40}
	for n := range w.questions {
		q := w.question(n)
		for i, gold := range q.gold {
			body, e := w.passage(gold).Text, q.edges[i]
			_, states := w.relation(e.relation)
			if !strings.Contains(body, w.name(e.head)+" "+states+" "+w.name(e.tail)) {
				t.Errorf("%s: passage %d does not state its edge", q.text, gold)
			}
			_, subject, _ := strings.Cut(strings.TrimSuffix(q.text, "?"), " of ")
			if named := strings.Contains(body, w.name(e.head)) && strings.Contains(subject, w.name(e.head)); named == (q.bridged && i == 1) {
				t.Errorf("%s: bridged %t, but passage %d names its subject: %t", q.text, q.bridged, i+1, named)
			}
		}
	}
	embedtest.Test(t, hashed{})
}

// A sample is written, is the same another time, is never written over, and its labels
// come back as rates.
func TestAudit(t *testing.T) {
	dir := t.TempDir()
	file, again := filepath.Join(dir, "a.jsonl"), filepath.Join(dir, "b.jsonl")
	for _, name := range []string{file, again} {
		check.OK(t, check.Err(program(t, "audit", "-data", "../wildgraphbench/bench/musique", "-out", name)))
	}
	a, err := os.ReadFile(file)
	check.OK(t, err)
	b, err := os.ReadFile(again)
	check.True(t, err == nil && string(a) == string(b), "another run writes another sample: %v", err)
	_, err = program(t, "audit", "-data", "../wildgraphbench/bench/musique", "-out", file)
	check.Fails(t, err, "may hold labels", "labels are written over")
	// One of four is wrong in the band of 90, none of one in the band of 10: 22.5 %, as if of five
	// labels; the rule says the opposite of most, and nobody is asked for a label that is empty.
	var lines []string
	for i, label := range []string{"misaligned", "Aligned ", "aligned", "aligned", "unsure", "", "aligned"} {
		similarity, of := .9, 90
		if i == 6 {
			similarity, of = .1, 10
		}
		lines = append(lines, fmt.Sprintf(`{"id": "%d", "similarity": %v, "of": %d, "label": %q, "rule": "misaligned"}`, i, similarity, of, label))
	}
	check.OK(t, os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600))
	out, err := program(t, "audited", file)
	for _, want := range []string{"from 0.8       25.0 [4.6, 69.9] of 4 ", "from 0.0       0.0 [0.0, 79.3] of 1 ", "all, weighted  22.5 [3.6, 62.4] of 5 ", "100.0 [", "n/a"} {
		check.True(t, err == nil && strings.Contains(out, want), "%v: no %q in\n%s", err, want, out)
	}
	check.OK(t, os.WriteFile(file, []byte(`{"id": "x", "label": "perhaps"}`+"\n{"), 0o600))
	_, err = program(t, "audited", file)
	check.True(t, err != nil && strings.Contains(err.Error(), `a.jsonl:1: label "perhaps"`) && strings.Contains(err.Error(), "a.jsonl:2:"), "got %v", err)
}

// The questions may be those of a file; a model reads and labels, and what a reply leaves open is
// unsure.
func TestAuditByModel(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		switch prompt := req.Messages[0].Text + req.Messages[len(req.Messages)-1].Text; {
		case strings.Contains(prompt, `{"triples": [[`):
			return llm.Reply{Text: `{"triples": [["Fram","builder","Archer"],["Archer","born in","Larvik"]]}`}
		case strings.Contains(prompt, `{"label": "`) && strings.Contains(prompt, "Larvik") && strings.Contains(prompt, "was built by"):
			return llm.Reply{Text: `{"label": "misaligned"}`}
		}
		return llm.Reply{Text: `nothing`}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	dir := t.TempDir()
	path := func(name, text string) string {
		if text != "" {
			check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		return filepath.Join(dir, name)
	}
	out, err := program(t, "audit", "-model", "m", "-questions", path("q.jsonl", `{"question": "Who built the Fram?", "answer": "Archer", "question_categories": [{"category_name": "single-hop"}]}`),
		"-docs", path("fram.md", "The Fram was built by Archer."), "-kg", path("kg.tsv", "Fram\tbuilder\tArcher\nArcher\tborn in\tLarvik\n"), "-out", path("a.jsonl", ""))
	check.True(t, err == nil && strings.Contains(out, "50.0 [9.5, 90.5] of 2"), "%v\n%s", err, out)
	for i, label := range []string{"misaligned", "unsure"} {
		a, err := os.ReadFile(path("a.jsonl", ""))
		check.True(t, err == nil && strings.Count(string(a), `"model":"`+label+`"`) == 1, "%d: %v\n%s", i, err, a)
	}
	out, err = program(t, "audited", path("a.jsonl", ""))
	check.True(t, err == nil && strings.Contains(out, "100.0 [20.7, 100.0] of 1"), "%v\n%s", err, out)
}

func TestCommandLines(t *testing.T) {
	for _, args := range [][]string{
		{"nothing"}, {"audit"}, {"audit", "-data", "x"}, {"audit", "-data", "x", "-questions", "y", "-docs", "z", "-out", "o"}, {"audited"}, {"journal", "mend", "x"},
	} {
		check.Is(t, check.Err(program(t, args...)), cli.ErrUsage, "%q", args)
	}
	for _, args := range [][]string{{}, {"-index", "x", "-limit", "1"}, {"-index", "x", "-passages", "9"}, {"-sed", "1"}} {
		check.Is(t, scale(t.Context(), args, io.Discard, io.Discard), cli.ErrUsage, "scale %q", args)
	}
	out, err := program(t, "-help")
	check.True(t, err == nil && strings.Contains(out, "audit"), "%v\n%s", err, out)
}
