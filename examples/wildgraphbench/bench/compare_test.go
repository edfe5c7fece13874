// SPDX-License-Identifier: Apache-2.0

package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/examples/internal/setup"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/judgetest"
	"github.com/wildgraph/wildgraph/judge/short"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// folder writes a finished run of n questions: for each system, right decides which answers are right, and all
// pages are found for them.
func finishedRun(t *testing.T, config string, n int, systems map[string]func(i int) bool) string {
	t.Helper()
	dir := t.TempDir()
	var b strings.Builder
	for _, name := range []string{"one", "two"} {
		right := systems[name]
		if right == nil {
			continue
		}
		for i := range n {
			value := 0.0
			if right(i) {
				value = 1
			}
			line, err := json.Marshal(report.Judgment{
				System: name, Domain: "d", ID: fmt.Sprint("q/", i), Type: "single-fact", Judge: "j", Question: fmt.Sprintf("What is %d?", i), Reference: "gold",
				Answer: fmt.Sprintf("%s says \x1b[31m%v", name, value), Fact: &judge.FactJudgment{Verdict: judge.Score(value, "")},
				Metrics: benchmark.Evidence{PromptRecall: &value}, Gold: []benchmark.Unit{{fmt.Sprint("page ", i/2)}},
			})
			check.OK(t, err)
			b.Write(append(line, '\n'))
		}
	}
	for name, data := range map[string]string{"report.json": `{"version":2,"config":` + config + `}`, report.JudgmentsName: b.String()} {
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
	}
	return dir
}

func most(i int) bool  { return i%4 != 0 }
func few(i int) bool   { return i%4 == 1 }
func other(i int) bool { return i%4 != 1 }

func compare(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out, progress strings.Builder
	err := runCompare(args, &out, &progress)
	return out.String(), err
}

func TestCompare(t *testing.T) {
	a := finishedRun(t, `{"dataset":"set","kit":"offline","topk_qa":5,"seed":1}`, 40, map[string]func(int) bool{"one": most, "two": few})
	b := finishedRun(t, `{"dataset":"set","kit":"offline","topk_qa":10,"seed":1}`, 40, map[string]func(int) bool{"one": few, "two": few})
	out, err := compare(t, "-show", "2", a, b)
	check.OK(t, err)
	for _, want := range []string{
		"B differs from A in: topk_qa 5 → 10 A and B",
		"one │ evidence recall 40 75.0 25.0 -50.0* -73.0 to -22.2 0.0009 0.0035 certain",
		"│ accuracy 40 75.0 25.0 -50.0* ",
		"two │ evidence recall 40 25.0 25.0 +0.0 -10.2 to +10.2 1.0000 1.0000 level",
		"corrected for the 4 tests that are shown here",
		"two: A and B have the same answers and the same evidence",
		"one, A to B: 20 became wrong q/2 What is 2? gold gold A one says ",
		"… and 18 more: -show 20",
	} {
		check.Contains(t, strings.Join(strings.Fields(out), " "), want, "no %q in\n%s", want, out)
	}
	if strings.Contains(out, "\x1b") || strings.Contains(out, "became right") || strings.Contains(out, "one: A and B have the same") {
		t.Errorf("steers the terminal, or tells of what was not:\n%s", out)
	}
	_, err = compare(t, "-max-loss", "10", a, b)
	check.True(t, errors.Is(err, errLost) && strings.Contains(err.Error(), "accuracy of one fell by 50.0 points"), "a loss of 50 points: %v", err)
	for _, args := range [][]string{{"-max-loss", "23", a, b}, {"-max-loss", "0", b, a}, {"-max-loss", "0", a + ":two", b}, {"-max-loss", "0", a, a}} {
		check.OK(t, check.Err(compare(t, args...)), "%q", args)
	}
}

// Comparisons of systems with different names, of runs of different sizes, and of three runs.
func TestNamedSystems(t *testing.T) {
	a := finishedRun(t, `{}`, 40, map[string]func(int) bool{"one": most})
	b := finishedRun(t, `{}`, 30, map[string]func(int) bool{"two": other})
	out, err := compare(t, a+":one", b+":two")
	check.OK(t, err)
	for _, want := range []string{"one → two │", "10 questions that A alone has, and 0 that B alone has", "8 became right", "8 became wrong", "nothing in the settings"} {
		check.Contains(t, out, want)
	}
	out, err = compare(t, a, a, a)
	check.True(t, err == nil && strings.Contains(out, "A and C"), "three runs: %v\n%s", err, out)
}

func TestRefused(t *testing.T) {
	a := finishedRun(t, `{}`, 12, map[string]func(int) bool{"one": most})
	two := finishedRun(t, `{}`, 12, map[string]func(int) bool{"two": most})
	write := func(name, data string) string {
		dir := finishedRun(t, `{}`, 12, map[string]func(int) bool{"one": most})
		check.OK(t, os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600))
		return dir
	}
	for _, c := range []struct {
		args  []string
		usage bool
		says  string
	}{
		{[]string{a}, true, "2 to 26 folders"},
		{[]string{a, t.TempDir()}, false, "no report.json"},
		{[]string{a, two}, true, "DIR:SYSTEM"},
		{[]string{a + ":one", two}, true, "DIR:SYSTEM"},
		{[]string{a + ":ona", a}, true, "no system ona"},
		{[]string{"-show", "-1", a, a}, true, "-show"},
		{[]string{a, write("report.json", `{"version":7}`)}, false, "version 7"},
		{[]string{a, write("report.json", "[")}, false, "is not a report"},
		{[]string{a, write(report.JudgmentsName, `{"system":"one"`)}, false, "judgment 1"},
		{[]string{a, write(report.JudgmentsName, `{"system":"one"}`)}, false, "names no system"},
		{[]string{a, write(report.JudgmentsName, strings.Repeat(`{"system":"one","domain":"d","id":"1"}`+"\n", 2))}, false, "twice"},
		{[]string{a, write(report.JudgmentsName, `{"system":"one","domain":"elsewhere","id":"q/1"}`)}, false, "different data"},
	} {
		if out, err := compare(t, c.args...); err == nil || out != "" || errors.Is(err, cli.ErrUsage) != c.usage || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%q: %v, want %q; printed %q", c.args, err, c.says, out)
		}
	}
}

// strict is BM25 over title and text as runs of a-z and 0-9, k1 1.5, b 0.75, as in the reference.
type strict struct {
	index *bm25.Index
	docs  []graphrag.Document
}

func (s *strict) Close() error { return nil }

func (s *strict) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	var texts []string
	for d, err := range docs {
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		s.docs = append(s.docs, d)
		texts = append(texts, runs(d.Title+"\n"+d.Text))
	}
	o := bm25.Plain()
	o.K1, o.B = 1.5, .75
	var err error
	s.index, err = bm25.BuildTexts(ctx, texts, o)
	return graphrag.IndexStats{Documents: len(s.docs), Chunks: len(s.docs)}, err
}

func (s *strict) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	var a graphrag.Answer
	for _, f := range s.index.Search(runs(q.Text), q.Want(), nil) {
		d := s.docs[f.ID]
		a.Ranked = append(a.Ranked, graphrag.Hit{Chunk: graphrag.Chunk{ID: d.ID + "#0", Doc: d.ID}, Score: float64(f.Score)})
	}
	return a, nil
}

func runs(s string) string {
	s = strings.ReplaceAll(s, "İ", "i\u0307") // Unicode's full mapping, which the reference uses
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.ToLower(s))
}

// Loaded and run by the program, MuSiQue's sample gives the rows that the tests of graphrag/bm25 and
// examples/baselines/hipporag have with the same settings: those of an independent implementation of BM25 over
// plain words, and of HippoRAG over recorded triples and names, without synonyms and fall-back.
func TestGoldenRows(t *testing.T) {
	m := baselinestest.LoadMuSiQue(t)
	dir := os.Getenv("MUSIQUE_DIR")
	set := check.Of(multihop.Load(os.DirFS(dir), benchmark.LoadOptions{})).OK(t)
	var golden struct {
		Questions []struct {
			Nodes []string `json:"query_nodes"`
		}
	}
	data, err := os.ReadFile(filepath.Join(dir, "../../golden/musique_train_runs.json"))
	if err != nil {
		t.Skip("the golden file does not stand beside the data")
	}
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(golden.Questions) == len(set.Domains[0].Items), "%d questions, %v", len(golden.Questions), err)
	nodes := make(map[string][]string)
	for i, it := range set.Domains[0].Items {
		nodes[it.Question.Text] = golden.Questions[i].Nodes
	}
	k := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1})).OK(t)
	j := check.Of(short.New(short.Options{Schemes: multihop.Schemes()})).OK(t)
	records, err := (&benchmark.Runner{
		Dataset: set, Judge: j, Options: benchmark.Options{Kit: "offline", Depth: set.Depth},
		Systems: []benchmark.Entry{
			{Name: "bm25", New: func(string) (benchmark.System, error) { return &strict{}, nil }},
			{Name: "hipporag", New: func(string) (benchmark.System, error) {
				return hipporag.New(k, hipporag.Options{
					Common: kit.Common{Cut: kit.Cut{KeepLinks: true}}, Extract: m.Triples, NoSynonyms: true, ASCIIPhrases: true,
					Entities: func(_ context.Context, q string) ([]string, error) { return nodes[q], nil }, Fallback: hipporag.None,
				})
			}},
		},
	}).Run(t.Context())
	check.OK(t, err)
	r := check.Of(report.New(records)).OK(t)
	for i, want := range []map[string]float64{
		{"evidence_recall_at_2": 41.9, "evidence_recall_at_5": 49.9, "evidence_recall_at_10": 58.5, "all_at_5": 15},
		{"evidence_recall_at_2": 44.6, "evidence_recall_at_5": 55.1, "evidence_recall_at_10": 62.0, "all_at_5": 29},
	} {
		for key, v := range want {
			if got, ok := r.Systems[i].Overall.Types[benchmark.All].Figure(key); !ok || math.Abs(100*got-v) > .1 {
				t.Errorf("%s: %s is %.2f, want %.1f", r.Systems[i].System, key, 100*got, v)
			}
		}
		at20 := 0.0
		for _, res := range records.Systems[i].Domains[0].Results {
			var docs []string
			for _, h := range res.Answer.Ranked {
				docs = append(docs, h.Doc)
			}
			at20 += res.Item.Recall(docs[:min(20, len(docs))])
		}
		if want := []float64{69.7, 65.2}[i]; math.Abs(at20-want) > .1 {
			t.Errorf("%s: recall at 20 is %.2f, want %.1f", r.Systems[i].System, at20, want)
		}
	}
}

func TestSweepFlag(t *testing.T) {
	for _, tt := range []struct {
		text string
		want []int // nil if the setting is refused
	}{
		{"2..5", []int{2, 3, 4, 5}}, {"8", []int{8}}, {"12, 2..3,3", []int{2, 3, 12}},
		{"", nil}, {"..", nil}, {"5..2", nil}, {"0..3", nil}, {"-1", nil}, {"2...4", nil}, {"1..1000000000", nil}, {"2..x", nil}, {"99999999999999999999", nil},
	} {
		got, err := parseSweep(tt.text)
		check.True(t, (err != nil) == (tt.want == nil) && slices.Equal(got, tt.want), "%q: %v, %v; want %v", tt.text, got, err, tt.want)
	}
}

// Figure 5: a sweep over K is added to a finished run, from its folder.
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
		// With more chunks no page is lost, and the context never gets shorter.
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

// The estimate includes every other K: 6 summaries for four values of K.
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

// askedAs reports whether a request lacks a temperature, the seed, or the schema of a reply with a form.
func askedAs(t *testing.T, req llm.Request) {
	form := strings.Contains(req.Messages[0].Text+req.Messages[len(req.Messages)-1].Text, "JSON object")
	check.True(t, req.Temperature != nil && *req.Temperature == 0 && req.Seed != nil &&
		(!form || len(req.Schema) != 0), "asked without a temperature, seed or schema: %+v", req)
}

// Each system makes the calls that its registry entry states, at an HTTP server, over a corpus in which no two
// chunks share a name: each chunk has its own community, and nothing is merged or summarized.
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
		if sys.Name == "hipporag2" { // by vectors every question finds a fact
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
		search := s.AnswerUsage.Calls - questions // each question has one call to read
		check.True(t, search == sys.Calls.Question*questions,
			"%s makes %d calls to search for %d questions, want %d each", sys.Name, search, questions, sys.Calls.Question)
		fmt.Fprintf(&table, "%-18s %7d %9d %8.1f %14d %16d\n", sys.Name, index.Chunks, index.Calls, float64(index.Calls)/float64(max(1, index.Chunks)), search, index.PromptTokens+index.CompletionTokens)
	}
	t.Logf("\n%s", &table)
}

// numbered returns n lines of a format that takes the number of the line.
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

// roads writes n questions with the name of a domain of the paper, whose number of questions is known.
func roads(n int) map[string]string {
	return map[string]string{places: numbered(n, atlas), mapped: "Roads\nAda Moss founded Elm Abbey in Kent. Bo Reed was born in Kent.\n", refs: `{"title": "Roads", "url": "https://a.example/roads"}`}
}

// Published rows are shown only beside the questions that they are about: not beside a sample, a file of
// another length or of training questions, readable names, or an edited question.
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
		want  string // a row, or the reason why there is none
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
				system = "lightrag" // this system's graph has no published rows
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

// The released files have published rows.
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

// firstPage is a system that finds the first page of a domain for every question.
type firstPage struct{ page graphrag.Document }

func (f *firstPage) Index(_ context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	for d, err := range docs {
		f.page = d
		return graphrag.IndexStats{Documents: 1}, err
	}
	return graphrag.IndexStats{}, nil
}

func (f *firstPage) Answer(context.Context, graphrag.Question) (graphrag.Answer, error) {
	hits := []graphrag.Hit{{Chunk: graphrag.Chunk{ID: f.page.ID, Doc: f.page.ID, Text: f.page.Text}, Score: 1}}
	return graphrag.Answer{Text: f.page.Title, Found: graphrag.Found{Ranked: hits, Evidence: hits}}, nil
}

func (f *firstPage) Close() error { return nil }

func newFirstPage(kit.Kit, kit.Common) (benchmark.System, error) { return &firstPage{}, nil }

// A program of the caller: every flag of the benchmark, and one more system.
func ExampleMain() {
	Main(System{Name: "first-page", New: newFirstPage})
}

// A system of the caller has a row, can be named in -systems, alone and with others, and is part of a dry run.
func TestOwnSystem(t *testing.T) {
	mine := System{Name: "first-page", New: newFirstPage}
	for _, tt := range []struct {
		own  []System
		args []string
		want string
	}{
		{[]System{mine}, []string{"-systems", "bm25,first-page"}, " first-page "},
		{[]System{mine}, []string{"-systems", "first-page"}, " first-page "},
		{[]System{mine}, []string{"-systems", "first-page", "-dry-run"}, "no call of a model"},
		{[]System{mine}, []string{"-list-systems"}, "first-page   of this program"},
		{[]System{mine}, []string{"-systems", "firstpage"}, "did you mean first-page?"},
		{[]System{mine, mine}, nil, "two systems have the name"},
		{[]System{{Name: "bm25", New: newFirstPage}}, nil, "two systems have the name"},
		{[]System{{Name: "../x", New: newFirstPage}}, nil, `the name "../x"`},
		{[]System{{Name: "x"}}, nil, "has no New"},
	} {
		var out, errs strings.Builder
		err := run(t.Context(), append(tt.args, "-out", filepath.Join(t.TempDir(), "out")), bare, &out, &errs, tt.own...)
		said := out.String()
		if err != nil {
			said += err.Error()
		}
		check.True(t, strings.Contains(said, tt.want), "%v: %s\nwant %q", tt.args, said, tt.want)
	}
}

// With a budget all systems read about the same amount, and none reads more.
func TestBudgetContext(t *testing.T) {
	dir := t.TempDir()
	if _, _, err := bench(t, bare, "-out", dir, "-systems", "bm25,wild,raptor,hipporag2,lightrag", "-budget-context", "800", "-chunk-size", "200", "-chunk-overlap", "20"); err != nil {
		t.Fatal(err)
	}
	for _, s := range readReport(t, dir).Systems {
		all := s.Overall.Types[benchmark.All]
		n := *all.ContextTokens
		check.True(t, n <= 1600 && n >= 400, "%s reads %.0f tokens", s.System, n)
		check.True(t, s.System != "wild" || *all.PromptRecall >= .8, "wild reads %.2f of the pages", *all.PromptRecall)
	}
	_, _, err := bench(t, bare, "-budget-context", "-1", "-sweep", "2..4")
	check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), "-budget-context -1: want 0 or more"), "a negative budget: %v", err)
	_, _, err = bench(t, bare, "-budget-context", "9", "-sweep", "2..4")
	check.True(t, errors.Is(err, cli.ErrUsage) && strings.Contains(err.Error(), "-sweep has no meaning"), "a budget and a sweep: %v", err)
}

// On the six released domains wild reads what docs/systems.md states, and BM25 has its former figures: compared
// with a weaker baseline the figures would mean nothing.
func TestReleasedData(t *testing.T) {
	data := os.Getenv("WILDGRAPHBENCH_DIR")
	if data == "" || testing.Short() {
		t.Skip("set WILDGRAPHBENCH_DIR, without -short")
	}
	dir := t.TempDir()
	_, _, err := bench(t, bare, "-data", data, "-out", dir, "-systems", "wild,bm25", "-budget-context", "6000")
	check.OK(t, err)
	want := map[string]struct{ summary, recall, coverage float64 }{"wild": {.755, .87, .39}, "bm25": {.22, .57, .425}}
	for _, s := range readReport(t, dir).Systems {
		all, least := s.Overall.Types[benchmark.All], want[s.System]
		summary, recall, coverage := *s.Overall.Types[wildgraph.Summary].PromptRecall, *all.PromptRecall, *all.Found
		check.True(t, summary >= least.summary && recall >= least.recall && coverage >= least.coverage,
			"%s: recall of summaries %.3f, of all %.3f, coverage %.3f, want %v", s.System, summary, recall, coverage, least)
	}
}
