// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func check(t *testing.T, lines string, args ...string) (string, error) {
	t.Helper()
	if lines != "" {
		file := filepath.Join(t.TempDir(), "pairs.jsonl")
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		args = append(args, "-in", file)
	}
	var out bytes.Buffer
	err := run(t.Context(), args, &out, &out)
	return out.String(), err
}

// The figures that docs/judge.md shows.
func TestSample(t *testing.T) {
	out, err := check(t, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"120 pairs of the shipped sample, judged by lexical/gold/v3",
		"labelled wrong         51        8         0",
		"labelled right          9       52         0",
		"agreement        0.858", "kappa            0.717",
	} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	again, _ := check(t, "")
	doc, err := os.ReadFile("../../docs/judge.md")
	if err != nil || again != out {
		t.Fatalf("the second run differs, or %v", err)
	}
	if table, _, _ := strings.Cut(out, "\nkind"); !strings.Contains(string(doc), strings.TrimSpace(table)) {
		t.Errorf("docs/judge.md does not show\n%s", table)
	}
}

const two = `{"question": "Who?", "reference": "Sanba hit Korea.", "answer": "Sanba hit Korea.", "label": 1, "label2": 1}
{"question": "Who?", "reference": "Sanba hit Korea.", "answer": "Bolaven hit Korea.", "label": 0, "label2": 0}

{"question": "When did Sanba hit Korea?", "reference": "Sanba hit Korea in 2012.", "answer": "2012", "label": 0, "label2": 1}
{"question": "When did Sanba hit Korea?", "reference": "Sanba hit Korea in 2012.", "answer": "In 2013.", "label": 0}
{"question": "What?", "reference": "Sanba hit Korea in 2012.", "answer": "Rain fell.", "label": 0, "label2": 0}
`

func TestSecondLabels(t *testing.T) {
	out, err := check(t, two, "-show")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"5 pairs", "agreement        0.800", "the ceiling", "line 4, label 0, judge 1"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestExitCodes(t *testing.T) {
	for name, tt := range map[string]struct {
		lines string
		args  []string
		code  int
		says  string
	}{
		"fine":            {two, nil, 0, ""},
		"kappa reached":   {two, []string{"-min-kappa", "0.5"}, 0, ""},
		"kappa missed":    {two, []string{"-min-kappa", "0.9"}, 1, "-min-kappa"},
		"kappa undefined": {strings.SplitAfter(two, "\n")[0], []string{"-min-kappa", "0.1"}, 1, "-min-kappa"},
		"unscored":        {strings.ReplaceAll(two, "Sanba hit Korea.\", \"answer", "?\", \"answer"), nil, 3, "2 pairs are unscored"},
		"flag":            {two, []string{"-nonsense"}, 2, "nonsense"},
		"profile":         {two, []string{"-profile", "x", "y"}, 2, `-profile "x"`},
		"no model":        {two, []string{"-profile", "upstream"}, 2, "needs -model"},
		"no file":         {"", []string{"-in", "does-not-exist.jsonl"}, 2, "does-not-exist"},
		"empty":           {"\n", nil, 2, "no pair"},
		"bad lines":       {two + "{\n" + `{"answer": "x"}` + "\n" + `{"reference": "r", "label": 2}` + "\n\xff\n", nil, 2, "pairs.jsonl:7:"},
		"help":            {two, []string{"-h"}, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := check(t, tt.lines, tt.args...)
			if code := exitCode(err, io.Discard); code != tt.code {
				t.Errorf("exit code %d, want %d: %v", code, tt.code, err)
			}
			if tt.says != "" && (err == nil || !strings.Contains(err.Error(), tt.says)) {
				t.Errorf("%v, want %q", err, tt.says)
			}
		})
	}
	_, err := check(t, two+"{\n"+`{"answer": "x"}`+"\n"+`{"reference": "r", "label": 2}`+"\n\xff\n")
	for _, want := range []string{":7: ", ":8: keys missing: reference, label", ":9: label 2", ":10: not valid UTF-8"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v lacks %q", err, want)
		}
	}
}

func TestModel(t *testing.T) {
	grader := judgetest.Grader{Fact: func(reference, candidate string) bool { return strings.Contains(reference, candidate) }}
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		text, _ := grader.Reply(req)
		return llm.Reply{Text: text}
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk-planted-secret")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	out, err := check(t, two, "-model", "grader")
	if err != nil || !strings.Contains(out, "wildgraph/joint/gold/v1/") || !strings.Contains(out, "calls 5") || strings.Contains(out, "planted") {
		t.Errorf("%v\n%s", err, out)
	}
	paid := server.Bill().Total.Calls
	if again, err := check(t, two, "-model", "grader"); err != nil || !strings.Contains(again, "calls 5") || server.Bill().Total.Calls != paid {
		t.Errorf("a second start: %v, %d calls after %d\n%s", err, server.Bill().Total.Calls, paid, again)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var buf bytes.Buffer
	if err := run(ctx, []string{"-model", "grader"}, &buf, &buf); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func FuzzPairs(f *testing.F) {
	f.Add(two)
	f.Add("{}\n[]\n\xff\n\ufeff{\"reference\": \"a\", \"label\": 1}")
	f.Fuzz(func(t *testing.T, lines string) {
		pairs, err := readPairs("x", strings.NewReader(lines))
		if err == nil && len(pairs) == 0 {
			t.Fatal("nothing read and no error")
		}
		for _, p := range pairs {
			if p.Label == nil || p.line < 1 {
				t.Fatalf("%+v", p)
			}
		}
	})
}
