// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bare is an environment without any variable.
func bare(string) string { return "" }

// program runs the program and returns what it printed.
func program(t *testing.T, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	if i := slices.Index(args, "-out"); i >= 0 && !slices.Contains(args, "-cache") {
		args = append(slices.Clone(args), "-cache", filepath.Join(args[i+1], "llm.journal"))
	}
	var out, errs bytes.Buffer
	err = run(t.Context(), args, bare, &out, &errs)
	return out.String(), errs.String(), err
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got), run with -update if this is meant:\n%s", file, diff)
	}
}

// files are the contents of a folder but for the records and the replies.
func files(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := make(map[string]string)
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasSuffix(name, ".journal") || e.Name() == "ledger.json" || e.Name() == report.SumsName {
			return err
		}
		data, err := os.ReadFile(name)
		out[filepath.ToSlash(strings.TrimPrefix(name, dir))] = string(data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

const few = "bm25,naiverag,hipporag,zeroshot"

// What the program prints, and the tables of its report.
func TestSample(t *testing.T) {
	dir := t.TempDir()
	stdout, stderr, err := program(t, "-out", dir, "-systems", few, "-mode", "open,reject", "-no-timings")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "sample.txt", strings.ReplaceAll(stderr+stdout, dir, "OUT"))
	got := files(t, dir)
	golden(t, "report.md", got["/report.md"])
	for _, name := range []string{"/report.html", "/report.json", "/open/report.html", "/reject/report.json", "/open/predictions/bm25.jsonl"} {
		if got[name] == "" {
			t.Errorf("no %s", name)
		}
	}
	if !strings.Contains(got["/report.html"], "Lexical accuracy on MuSiQue at top-20") || strings.Contains(got["/report.html"], "Questions and answers") {
		t.Error("the page lacks the chart of both modes, or lists what its folders list")
	}
}

// With nothing else the program runs every system, and what it prints fits a screen.
func TestEverySystem(t *testing.T) {
	stdout, stderr, err := program(t, "-out", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(stderr+stdout), "\n")
	if len(lines) > 6+len(all.Systems()) {
		t.Errorf("%d lines", len(lines))
	}
	for _, l := range lines[:len(lines)-1] { // the last names a folder
		if utf8.RuneCountInString(l) > 100 {
			t.Errorf("%d columns: %s", utf8.RuneCountInString(l), l)
		}
	}
	for _, s := range all.Systems() {
		if !strings.Contains(stdout, s.Name) {
			t.Errorf("%s is missing", s.Name)
		}
	}
}

// stopper cancels a run when it has said so many lines.
type stopper struct {
	left int
	stop context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	if s.left -= bytes.Count(p, []byte("\n")); s.left <= 0 {
		s.stop()
	}
	return len(p), nil
}

// A run that was stopped, at whatever point, and started again ends with the bytes of a
// run in one go; started once more it does nothing.
func TestResumed(t *testing.T) {
	data, err := filepath.Abs("sample")
	if err != nil {
		t.Fatal(err)
	}
	whole := t.TempDir()
	args := func(dir string) []string {
		return []string{"-data", data, "-out", dir, "-systems", "bm25,hipporag2", "-mode", "open,reject", "-no-timings", "-concurrency", "2"}
	}
	if _, _, err := program(t, args(whole)...); err != nil {
		t.Fatal(err)
	}
	want := files(t, whole)
	for _, lines := range []int{2, 6, 11, 17} {
		dir := t.TempDir()
		ctx, stop := context.WithCancel(t.Context())
		var out bytes.Buffer
		if err := run(ctx, args(dir), bare, &out, &stopper{lines, stop}); !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d lines: %v", lines, err)
		}
		stop()
		if _, err := os.Stat(filepath.Join(dir, record.JournalName)); err != nil {
			t.Fatalf("nothing was recorded: %v", err)
		}
		if _, err := os.Stat(filepath.Join(dir, "open", "report.html")); err != nil {
			t.Errorf("stopped after %d lines: no report of what is there: %v", lines, err)
		}
		for range 2 {
			if _, _, err := program(t, args(dir)...); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, files(t, dir)); diff != "" {
				t.Errorf("stopped after %d lines (-whole +resumed):\n%.2000s", lines, diff)
			}
		}
	}
	stdout, _, err := program(t, args(whole)...)
	if err != nil || !strings.Contains(stdout, "Nothing to do, 40 answers are there.") {
		t.Errorf("%v\n%s", err, stdout)
	}
}

// With models, each is a column in every mode, the judge's replies are scores or are
// counted apart, and the construction's tokens stand beside the accuracy.
func TestByModel(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
		switch text := req.Messages[0].Text; {
		case strings.Contains(text, "You decide whether an answer to a question is correct."):
			switch {
			case strings.Contains(text, "In which village"):
				return llm.Reply{Text: "correct"} // and not 1
			case strings.Contains(text, "Which almanac"):
				return llm.Reply{Text: " 1 "}
			}
			return llm.Reply{Text: "0"}
		}
		return baselinestest.Obedient(req)
	}})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	dir := t.TempDir()
	_, stderr, err := program(t, "-out", dir, "-systems", "naiverag,msgraphrag-local,zeroshot", "-model", "m/1,m2", "-mode", "open,reject", "-limit", "3", "-no-timings", "-max-failed", "1")
	if err == nil || !strings.Contains(err.Error(), "scores are missing") {
		t.Fatalf("%v\n%s", err, stderr)
	}
	got := files(t, dir)
	var grid report.GridJSON
	if err := json.Unmarshal([]byte(got["/report.json"]), &grid); err != nil {
		t.Fatal(err)
	}
	if len(grid.Cells) != 3*2*2*2 {
		t.Fatalf("%d cells", len(grid.Cells))
	}
	for _, c := range grid.Cells {
		if c.System == "zeroshot" && c.Mode == report.ModeReject {
			if c.Judged != nil {
				t.Errorf("it rejects without evidence: %+v", c)
			}
			continue
		}
		// Three questions of two hops, one of three and one of four: of one there is no
		// score.
		if c.N != 5+1 || c.Judged == nil || c.Accuracy == nil || c.Reasons[string(llm.ErrInvalidOutput)] != 1 {
			t.Fatalf("%+v, judged %+v", c, c.Judged)
		}
		if *c.Accuracy != 0.2 {
			t.Errorf("%s, %s, %s: accuracy %v of five that have a score", c.System, c.Model, c.Mode, *c.Accuracy)
		}
	}
	for _, c := range grid.Built {
		community := c.Community.Tokens() > 0
		if graph := c.System == "msgraphrag-local"; community != graph || c.Usage.Tokens() < c.Community.Tokens() {
			t.Errorf("%s: %d tokens, %d of them for communities", c.System, c.Usage.Tokens(), c.Community.Tokens())
		}
	}
	page := got["/report.html"]
	for _, want := range []string{"MuSiQue, m/1", "MuSiQue, m2", "Pareto front", "Open", "Reject", "Up to 16.67"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if got["/m_1-open/report.html"] == "" || got["/m2-reject/report.html"] == "" {
		t.Error("a model and mode has no folder")
	}
	stdout, _, err := program(t, "-out", dir, "-systems", "naiverag", "-model", "m2", "-dry-run")
	if err != nil || !strings.Contains(stdout, "naiverag answer") || !strings.Contains(stdout, "naiverag judge") {
		t.Errorf("a dry run: %v\n%s", err, stdout)
	}
}

// The statistics of all graphs, UltraDomain's too, whose texts stand in many lines.
func TestGraph(t *testing.T) {
	data := t.TempDir()
	for name, text := range map[string]string{
		"ultradomain/cs.jsonl": `{"input": "Why?", "context": "Ada Moss founded Elm Abbey. Elm Abbey stands in Kent.", "meta": {"title": "Elm"}}` + "\n" +
			`{"input": "How?", "context": "Ada Moss founded Elm Abbey. Elm Abbey stands in Kent.", "meta": {"title": "Elm"}}`,
		"musique/musique.json": `[{"id": "2hop__1_2", "question": "Who founded Elm Abbey?", "answer": "Ada Moss", "paragraphs": [
			{"title": "Elm Abbey", "paragraph_text": "Ada Moss founded Elm Abbey in Kent.", "is_supporting": true}]}]`,
	} {
		file := filepath.Join(data, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	stdout, _, err := program(t, "-data", data, "-out", t.TempDir(), "-graph", "-no-timings")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Graphs", "musique: lightrag", "ultradomain/cs: lightrag", "Isolated %"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
	if _, _, err := program(t, "-data", data, "-out", t.TempDir(), "-dataset", "ultradomain"); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "no questions") {
		t.Errorf("asking without questions: %v", err)
	}
}

// Beside our rows stand the published ones, of the data sets that the paper has; an
// ablation has a table.
func TestPublishedRows(t *testing.T) {
	data, err := filepath.Abs("sample")
	if err != nil {
		t.Fatal(err)
	}
	stdout, _, err := program(t, "-data", data, "-out", t.TempDir(), "-systems", "hipporag2,youtu,youtu-noagent", "-mode", "reject", "-ablation", "-limit", "1", "-no-timings")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Accuracy on MuSiQue (offline) at top-20", "Accuracy on MuSiQue (offline) at top-10", "Ablation on MuSiQue (offline) at top-20", "youtu-nocommunity", "youtu-noschema",
		"↳ published: DeepSeek-V3-0324", "↳ published: Qwen3-32B", "G-Retriever, published: DeepSeek-V3-0324",
		"arXiv 2508.19855, Table 1", "arXiv 2508.19855, Table 3", "do not compare with a lexical judge's figures",
		"37.80", "47.50", "46.90", "44.00",
	} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %q in\n%s", want, stdout)
		}
	}
}

// AnonyRAG stands in a folder of that name, and fills the last columns.
func TestAnonyRAG(t *testing.T) {
	data := t.TempDir()
	if err := os.Mkdir(filepath.Join(data, anonyName), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"eng_corpus.json": `[{"id": "p1", "text": "[PERSON#1] founded [LOCATION#2] in 1704."}, {"id": "p2", "text": "[PERSON#3] eats bread."}]`,
		"eng_qa.json":     `[{"question": "Who founded [LOCATION#2]?", "answer": "B", "type": "choice", "options": ["[PERSON#3]", "[PERSON#1]", "[PERSON#4]", "[PERSON#5]"], "hops": 1, "evidence": ["p1"]}]`,
	} {
		if err := os.WriteFile(filepath.Join(data, anonyName, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{nil, {"-dataset", anonyName}} {
		stdout, _, err := program(t, append(args, "-data", data, "-out", t.TempDir(), "-systems", "bm25,naiverag", "-no-timings")...)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"Anony-ENG", "↳ published: DeepSeek-V3-0324", "43.02", "38.93"} {
			if !strings.Contains(stdout, want) {
				t.Errorf("%v: no %q in\n%s", args, want, stdout)
			}
		}
	}
	if _, _, err := program(t, "-dataset", anonyName, "-out", t.TempDir()); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), "no folder anonyrag") {
		t.Errorf("without the folder: %v", err)
	}
}

func TestUsage(t *testing.T) {
	for _, tt := range []struct {
		args []string
		want string
	}{
		{[]string{"-dataset", "squad"}, `-dataset "squad" is none of hotpotqa`},
		{[]string{"-dataset", "hotpotqa"}, "no hotpotqa here"},
		{[]string{"-data", "no/such"}, "-data: "},
		{[]string{"-topk", "20,0"}, "want numbers from 1 to 1000"},
		{[]string{"-mode", "open,perhaps"}, `-mode "perhaps" is none of open, reject`},
		{[]string{"-mode", "perhaps"}, `-mode "perhaps" is none of open, reject`},
		{[]string{"-systems", "bm26"}, "did you mean bm25?"},
		{[]string{"-kit", "model"}, "-kit model needs -model"},
		{[]string{"-model", "a,b", "-kit", "offline"}, "-model needs -kit model"},
		{[]string{"-graph", "-ablation"}, "give one of them"},
		{[]string{"more"}, `unexpected argument "more"`},
	} {
		if _, _, err := program(t, append(tt.args, "-out", t.TempDir())...); !errors.Is(err, cli.ErrUsage) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v: %v, want %q", tt.args, err, tt.want)
		}
	}
	stdout, _, err := program(t, "-list-systems")
	if err != nil || strings.Count(stdout, "\n") != len(all.Systems()) || !strings.Contains(stdout, "\nhipporag2 ") {
		t.Errorf("%v %s", err, stdout)
	}
}
