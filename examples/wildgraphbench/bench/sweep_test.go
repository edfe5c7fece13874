// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/llm"
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
		check.True(t, (err != nil) == (tt.want == nil) && slices.Equal(got, tt.want), "%q: %v, %v; want %v", tt.text, got, err, tt.want)
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
	stdout, _, err := bench(t, bare, append(args, "-sweep", "2..12")...)
	check.OK(t, err)
	r := readReport(t, dir)
	points := r.Systems[0].Sweep
	check.Must(t, len(points) == 11 && points[0].K == 2 && points[10].K == 12 && points[0].Lexical != nil &&
		points[0].Judged == nil, "%d points: %+v", len(points), points)
	for i, p := range points[1:] {
		// More chunks never lose a page or shorten the context.
		check.True(t, *p.PromptRecall >= *points[i].PromptRecall &&
			*p.ContextTokens >= *points[i].ContextTokens, "k = %d has less than k = %d", p.K, points[i].K)
	}
	check.Equal(t, points[8].Type, plain.Systems[0].Overall.Types["summary"], "k = 10 is not the run's own (-run +sweep)")
	for _, want := range []string{"Summaries over top-k (extracted answers, lexical judge)", "bm25, k = 8", "lexical judge"} {
		check.Contains(t, stdout, want, "the output")
	}
	page, err := os.ReadFile(filepath.Join(dir, "report.html"))
	if err != nil || strings.Count(string(page), `<figure class="chart"`) != 2 || !strings.Contains(string(page), "Lexical mean F1 of statements, summaries (%)") {
		t.Errorf("%d charts, %v", strings.Count(string(page), `<figure class="chart"`), err)
	}
}

// The estimate counts every other top-k: 6 summaries at four of them.
func TestSweepDryRun(t *testing.T) {
	serve(t, nil)
	args := []string{"-dry-run", "-model", "m", "-systems", "bm25,zeroshot"}
	for stage, calls := range map[string][2]int{"bm25 answer": {24, 48}, "zeroshot answer": {24, 24}} {
		for i, more := range [][]string{nil, {"-sweep", "8..12"}} {
			stdout, _, err := bench(t, bare, append(slices.Clone(args), more...)...)
			check.OK(t, err)
			got := dryRow(t, stdout, stage)[0]
			check.True(t, got == calls[i], "%s, %v: %d calls, want %d:\n%s", stage, more, got, calls[i], stdout)
		}
	}
}

// askedAs tells a request that lacks a temperature, the seed, or the schema of a reply that
// has a form.
func askedAs(t *testing.T, req llm.Request) {
	form := strings.Contains(req.Messages[0].Text+req.Messages[len(req.Messages)-1].Text, "JSON object")
	check.True(t, req.Temperature != nil && *req.Temperature == 0 && req.Seed != nil &&
		(!form || len(req.Schema) != 0), "asked without a temperature, seed or schema: %+v", req)
}

// Each system makes as many calls as its entry in the registry says, at a server that
// speaks HTTP, over a corpus in which no two chunks have a name in common: there is one
// community for each chunk, and nothing to merge or to summarize.
func TestCallsOfSystems(t *testing.T) {
	grader := judgetest.Grader{
		Fact:       func(_, _ string) bool { return true },
		Statements: func(string) []string { return []string{"One thing."} },
		Same:       func(_, predicted string) bool { return predicted == "One thing." },
	}
	var table strings.Builder
	fmt.Fprintf(&table, "%-18s %7s %9s %8s %14s %16s\n", "system", "chunks", "to index", "a chunk", "to search", "tokens indexed")
	for _, sys := range all.Systems() {
		server := llmtest.NewServer(llmtest.ServerOptions{Handler: func(req llm.Request) llm.Reply {
			askedAs(t, req)
			if text, ok := grader.Reply(req); ok {
				return llm.Reply{Text: text}
			}
			return baselinestest.Obedient(req)
		}})
		t.Setenv("OPENAI_BASE_URL", server.OpenAIURL())
		t.Setenv("OPENAI_API_KEY", "sk")
		dir := t.TempDir()
		args := []string{"-out", dir, "-domains", "seafaring", "-limit", "1", "-systems", sys.Name, "-model", "m", "-no-timings"}
		if sys.Name == "hipporag2" { // vectors find a fact for every question
			args = append(args, "-embed-model", "e")
		}
		_, stderr, err := bench(t, bare, args...)
		server.Close()
		if err != nil {
			t.Errorf("%s: %v\n%s", sys.Name, err, stderr)
			continue
		}
		s := readReport(t, dir).Systems[0]
		index, questions := s.Domains[0].Index, s.Overall.Types["all"].N
		if got := index.Calls; got != sys.Calls.Chunk*index.Chunks+sys.Calls.Once {
			t.Errorf("%s makes %d calls to index %d chunks, want %d each and %d", sys.Name, got, index.Chunks, sys.Calls.Chunk, sys.Calls.Once)
		}
		search := s.AnswerUsage.Calls - questions // each has one call to read
		check.True(t, search == sys.Calls.Question*questions,
			"%s makes %d calls to search for %d questions, want %d each", sys.Name, search, questions, sys.Calls.Question)
		fmt.Fprintf(&table, "%-18s %7d %9d %8.1f %14d %16d\n", sys.Name, index.Chunks, index.Calls, float64(index.Calls)/float64(max(1, index.Chunks)), search, index.PromptTokens+index.CompletionTokens)
	}
	t.Logf("\n%s", &table)
}

// numbered are n lines of a format that takes the number of the line.
func numbered(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, format+"\n", i)
	}
	return b.String()
}

const (
	hop    = `{"id": "2hop__%d_2", "question": "Who founded abbey %[1]d?", "answer": "Ada Moss", "paragraphs": [{"title": "Elm Abbey", "paragraph_text": "Ada Moss founded it.", "is_supporting": true}]}`
	whale  = `{"question": "Who is [PERSON#%d]?", "answer": "PERSON#%[1]d——Ahab", "type": "reversion"}`
	raw    = `{"question": "Who is the captain of boat %d?", "answer": "A", "options": ["Ahab", "Bulkington"], "type": "choice"}`
	atlas  = `{"question": "Which road leads to town %d?", "question_type": ["single-fact"], "answer": "Road %[1]d.", "ref_urls": ["https://a.example/roads"]}`
	eng    = `{"text": "[PERSON#1] sails."}`
	mapped = "corpus/geography/Road/reference_pages/Roads.txt"
	refs   = "corpus/geography/Road/references.jsonl"
	places = "QA/geography/questions.jsonl"
)

// roads are n questions below the name of a domain of the paper, of which the number is known.
func roads(n int) map[string]string {
	return map[string]string{places: numbered(n, atlas), mapped: "Roads\nAda Moss founded Elm Abbey in Kent. Bo Reed was born in Kent.\n", refs: `{"title": "Roads", "url": "https://a.example/roads"}`}
}

// Published rows stand beside the questions that they are about, and nothing else: no sample, no
// file of another length or of training questions, no names that can be read, no edited question.
func TestPublishedBesideOwnData(t *testing.T) {
	serveGrader(t)
	hops := func(name string, n int) map[string]string { return map[string]string{name: numbered(n, hop)} }
	hidden := func(question string, n int) map[string]string {
		return map[string]string{"eng_corpus.jsonl": eng, "eng_qa.jsonl": numbered(n, question)}
	}
	named := strings.NewReplacer("geography", "people")
	people := make(map[string]string)
	for name, content := range roads(154) {
		people[named.Replace(name)] = content
	}
	for name, tt := range map[string]struct {
		files map[string]string
		args  string
		want  string // a row, or why there is none
	}{
		"released":    {hops("musique.json", 1000), "-prompt minimal", "zeroshot | ↳ published: accuracy, DeepSeek-V3-0324, open, 1,000 questions | 25.70 |"},
		"our rules":   {hops("musique.json", 2), "", "here: their prompt is -prompt minimal."},
		"limited":     {hops("musique.json", 1000), "-prompt minimal -limit 9", "here: they are about 1000 questions, this run asks 9."},
		"seven":       {hops("musique.json", 2), "-prompt minimal -k 7", "here: they are for 10 and 20 chunks and the modes open and reject."},
		"sample":      {hops("musique.json", 1), "-prompt minimal", "here: they are about 1000 questions, this run asks 1."},
		"training":    {hops("musique_train.json", 2), "-prompt minimal", "and these are training questions, of musique_train.json."},
		"hidden":      {hidden(whale, 709), "-prompt minimal", "zeroshot | ↳ published: accuracy, DeepSeek-V3-0324, open, 709 questions | 8.18 |"},
		"not hidden":  {hidden(raw, 2), "-prompt minimal", "and the names of these are not hidden."},
		"made":        {hidden(whale[:len(whale)-1]+`, "made": "by a model"}`, 2), "-prompt minimal", "and these were made by other means."},
		"roads":       {roads(98), "", "bm25 | ↳ published: accuracy and mean F1, gpt-4o-mini, 98 questions | "},
		"fewer roads": {roads(97), "-judge-profile paper", "here: they are about 98 questions, this run asks 97."},
		"no people":   {people, "-judge-profile paper -index-kit offline -limit 5", "and its questions, answers or pages are not the released ones."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			put(t, dir, tt.files)
			system := "zeroshot"
			if tt.files[refs] != "" {
				system = "bm25"
			} else if name == "no people" {
				system = "lightrag" // whose graph has no published rows either
			}
			out := filepath.Join(dir, "out")
			_, _, err := bench(t, bare, append(strings.Fields(tt.args), "-data", dir, "-systems", system, "-model", "m", "-out", out, "-no-timings")...)
			check.Must(t, err == nil || errors.Is(err, setup.ErrIncomplete), "%v", err)
			md := check.Of(os.ReadFile(filepath.Join(out, "report.md"))).OK(t)
			_, row, isRow := strings.Cut(tt.want, " | ")
			if !isRow {
				row = tt.want
			}
			if !strings.Contains(string(md), row) || strings.Contains(string(md), "published: ") != isRow {
				t.Errorf("no %q, or other published rows, in\n%s", row, md)
			}
		})
	}
}

// So it is with the released files.
func TestPublishedBesideReleasedData(t *testing.T) {
	data := os.Getenv("WILDGRAPHBENCH_DIR")
	if data == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	serveGrader(t)
	edited := t.TempDir()
	for _, folder := range []string{"QA", "corpus", "extracted_data"} {
		check.OK(t, os.CopyFS(filepath.Join(edited, folder, "mathematics"), os.DirFS(filepath.Join(data, folder, "mathematics"))))
	}
	file := filepath.Join(edited, "QA", "mathematics", "questions.jsonl")
	text, err := os.ReadFile(file)
	check.OK(t, errors.Join(err, os.WriteFile(file, []byte(strings.Replace(string(text), "?", " ?", 1)), 0o600)))
	for _, tt := range []struct {
		args []string
		rows bool
	}{{[]string{"-data", data}, true}, {[]string{"-data", data, "-limit", "10"}, false}, {[]string{"-data", edited}, false}} {
		out := t.TempDir()
		_, _, err := bench(t, bare, append(tt.args, "-domains", "mathematics", "-systems", "bm25", "-model", "m", "-judge-profile", "paper", "-out", out, "-no-timings")...)
		md, err2 := os.ReadFile(filepath.Join(out, "report.md"))
		if check.OK(t, errors.Join(err, err2)); strings.Contains(string(md), "| ↳ published: accuracy and mean F1, gpt-4o-mini, 33 questions |") != tt.rows || strings.Count(string(md), "stand here") != map[bool]int{true: 1, false: 2}[tt.rows] {
			t.Errorf("%v: published rows %t\n%s", tt.args, !tt.rows, md)
		}
	}
}
