// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func TestSweepFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int // nil: refused
	}{
		{"2..5", []int{2, 3, 4, 5}}, {"8", []int{8}}, {"12, 2..3,3", []int{2, 3, 12}},
		{"", nil}, {"..", nil}, {"5..2", nil}, {"0..3", nil}, {"-1", nil}, {"2...4", nil}, {"1..1000000000", nil}, {"2..x", nil}, {"99999999999999999999", nil},
	} {
		got, err := parseSweep(tt.text)
		if (err != nil) != (tt.want == nil) || !slices.Equal(got, tt.want) {
			t.Errorf("%q: %v, %v; want %v", tt.text, got, err, tt.want)
		}
	}
}

// Figure 5: a finished run is swept from the folder it left.
func TestSweepOfSample(t *testing.T) {
	dir := t.TempDir()
	args := []string{"-out", dir, "-systems", "bm25,zeroshot", "-no-timings", "-v"}
	if _, _, err := bench(t, bare, args...); err != nil {
		t.Fatal(err)
	}
	plain := readReport(t, dir)
	stdout, _, err := bench(t, bare, append(args, "-sweep-topk", "2..12")...)
	if err != nil {
		t.Fatal(err)
	}
	r := readReport(t, dir)
	points := r.Systems[0].Sweep
	if len(points) != 11 || points[0].K != 2 || points[10].K != 12 || points[0].Lexical == nil || points[0].Judged != nil {
		t.Fatalf("%d points: %+v", len(points), points)
	}
	for i, p := range points[1:] {
		// More chunks never lose a page or shorten the context.
		if *p.PromptRecall < *points[i].PromptRecall || *p.ContextTokens < *points[i].ContextTokens {
			t.Errorf("k = %d has less than k = %d", p.K, points[i].K)
		}
	}
	summary := plain.Systems[0].Overall.Types["summary"]
	if diff := cmp.Diff(summary, points[8].Type); diff != "" {
		t.Errorf("k = 10 is not the run's own (-run +sweep):\n%s", diff)
	}
	for _, want := range []string{"Summaries over top-k (offline)", "bm25, k = 8", "lexical judge"} {
		if !strings.Contains(stdout, want) {
			t.Errorf("the output lacks %q", want)
		}
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || strings.Count(string(page), `<figure class="chart"`) != 2 || !strings.Contains(string(page), "Lexical F1 of summaries") {
		t.Errorf("%d charts, %v", strings.Count(string(page), `<figure class="chart"`), err)
	}
}

// The estimate counts every other top-k: 6 summaries at four of them.
func TestSweepDryRun(t *testing.T) {
	server := llmtest.NewServer(llmtest.ServerOptions{})
	defer server.Close()
	t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "sk")
	args := []string{"-dry-run", "-model", "m", "-systems", "bm25,zeroshot"}
	for stage, calls := range map[string][2]int{"bm25 answer": {24, 48}, "zeroshot answer": {24, 24}} {
		for i, more := range [][]string{nil, {"-sweep-topk", "8..12"}} {
			stdout, _, err := bench(t, bare, append(slices.Clone(args), more...)...)
			if err != nil {
				t.Fatal(err)
			}
			if got := dryRow(t, stdout, stage)[0]; got != calls[i] {
				t.Errorf("%s, %v: %d calls, want %d:\n%s", stage, more, got, calls[i], stdout)
			}
		}
	}
}

const tinyGraph = `[{"title": "Ada", "text": "Ada Lovelace worked with Charles Babbage in London. Charles Babbage was born in London."},
{"corpus_name": "Owls", "context": "Barn owls live in Europe."}]`

func write(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// Table 4 for a corpus without questions, given in three shapes.
func TestGraphOfAnyCorpus(t *testing.T) {
	folder := t.TempDir()
	for name, text := range map[string]string{"a.txt": "Ada Lovelace worked with Charles Babbage in London.", "sub/b.md": "Barn owls live in Europe.", "c.html": "<p>"} {
		if err := errors.Join(os.MkdirAll(filepath.Join(folder, filepath.Dir(name)), 0o755), os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	lines := write(t, "c.jsonl", "{\"text\": \"Ada Lovelace worked with Charles Babbage in London.\"}\n{\"text\": \"Barn owls live in Europe.\"}\n{\"text\": \"\"}\n")
	dir := t.TempDir()
	stdout, _, err := bench(t, bare, "-out", dir, "-systems", "hipporag2", "-limit", "1", "-no-timings", "-v",
		"-graph", "array="+write(t, "c.json", tinyGraph), "-graph", "lines="+lines, "-graph", "folder="+folder)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string]int{"array": 2, "lines": 3, "folder": 2}
	for _, d := range readReport(t, dir).Systems[0].Domains {
		n, ok := documents[d.Domain]
		if !ok {
			continue
		}
		delete(documents, d.Domain)
		if d.Index.Documents != n || d.Index.Entities == 0 || d.Index.Edges == 0 || len(d.Index.Degrees) == 0 || d.Types[benchmark.All].N != 0 {
			t.Errorf("%s: %+v", d.Domain, d.Index)
		}
		if !strings.Contains(stdout, d.Domain+": hipporag2") || strings.Contains(stdout, "Domain: "+d.Domain) {
			t.Errorf("the tables of %s:\n%s", d.Domain, stdout)
		}
	}
	if len(documents) > 0 {
		t.Errorf("not indexed: %v", documents)
	}
	for _, name := range []string{"array", "lines", "folder"} {
		file := filepath.Join(dir, "graphs", name+"-hipporag2.html")
		html, err := os.ReadFile(file)
		if err != nil || !strings.Contains(string(html), "<h1>"+name+" · hipporag2</h1>") || !strings.Contains(stdout, "Graph: "+file) {
			t.Errorf("the page of %s: %v\n%s", name, err, stdout)
		}
	}
	if drawn, _ := filepath.Glob(filepath.Join(dir, "graphs", "*")); len(drawn) != 6 {
		t.Errorf("drawn are %q, want a page and a picture of each corpus", drawn)
	}
}

func TestBadGraph(t *testing.T) {
	empty := t.TempDir()
	for _, tt := range []struct{ value, want string }{
		{"x", "NAME=PATH"},
		{"../x=f", "may hold letters"},
		{"x=" + filepath.Join(empty, "none"), "no such file"},
		{"x=" + empty, "holds no document"},
		{"astronomy=" + write(t, "c.json", tinyGraph), "a domain has this name"},
		{"x=" + write(t, "c.json", `[{"title": "no text"}]`), `c.json:1: neither "text" nor "context"`},
		{"x=" + write(t, "c.json", "[{\"text\": \"a\"},\n7]"), "c.json:2: "},
		{"x=" + write(t, "c.json", `[{"text": "a"}`), "the array has no end"},
		{"x=" + write(t, "c.json", `[{"text": "a"}] {"text": "b"}`), "something follows"},
		{"x=" + write(t, "c.json", `{"text": "a"} ]`), "something follows"},
		{"x=" + write(t, "c.json", ``), "holds no document"},
		{"x=" + write(t, "c.json", "not JSON"), "c.json:1: invalid character"},
	} {
		_, _, err := bench(t, bare, "-out", filepath.Join(empty, "out"), "-systems", "bm25", "-graph", tt.value)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.value, err, tt.want)
		}
	}
	bad := filepath.Join(t.TempDir(), "bad.txt")
	if err := os.WriteFile(bad, []byte("a\xff"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, _, err := (corpus{"x", filepath.Dir(bad)}).domain(); err == nil || !strings.Contains(err.Error(), "holds no document") {
		t.Errorf("nothing but a file that is not UTF-8: %v", err)
	}
	good := filepath.Join(filepath.Dir(bad), "good.txt")
	if err := os.WriteFile(good, []byte("Barn owls live in Europe."), 0o644); err != nil {
		t.Fatal(err)
	}
	_, stderr, err := bench(t, bare, "-out", filepath.Join(empty, "out"), "-systems", "BM25", "-limit", "1", "-graph", "x="+filepath.Dir(bad))
	if err != nil || !strings.Contains(stderr, "Note: x: left out, not being UTF-8 (1): bad.txt\n") || !strings.Contains(stderr, "Note: no system has a graph of x to describe") {
		t.Errorf("%v\n%s", err, stderr)
	}
}

func TestObjects(t *testing.T) {
	want := []graphrag.Document{{ID: "0000001", Title: "A", Text: "a"}, {ID: "0000002", Title: "B", Text: "b"}}
	for _, file := range []string{
		`[{"title": "A", "text": "a"}, {"corpus_name": "B", "context": "b"}]`,
		"\ufeff \n[{\"title\": \"A\", \"text\": \"a\"}, {\"title\": \"B\", \"text\": \"b\"}]\n",
		"{\"title\": \"A\", \"text\": \"a\"}\r\n{\"title\": \"B\", \"text\": \"b\", \"context\": \"c\"}",
	} {
		var got []graphrag.Document
		for d, err := range objects(strings.NewReader(file), "f") {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, d)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}
}

func FuzzObjects(f *testing.F) {
	for _, seed := range []string{tinyGraph, "{\"text\": \"a\"}\n{\"context\": \"b\"}", "[", "[]]", "\ufeff [{\"text\": \"a\"}]", `[{"text": "` + "\xff" + `"}]`, "", "  \n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, data string) {
		seen := make(map[string]bool)
		failed := false
		for d, err := range objects(strings.NewReader(data), "f") {
			switch {
			case failed:
				t.Fatal("an object after an error")
			case err != nil:
				failed = true
			case seen[d.ID] || !utf8.ValidString(d.Title+d.Text):
				t.Fatalf("document %+v", d)
			}
			seen[d.ID] = true
		}
		for range objects(strings.NewReader(data), "f") {
			break // stops at once
		}
	})
}
