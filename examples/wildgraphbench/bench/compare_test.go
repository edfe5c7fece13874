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
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/multihop"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/examples/internal/cli"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
)

// folder writes a finished run: of n questions, system has those right for which right
// says so, and found all pages of them.
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
		_, err := compare(t, args...)
		check.True(t, err == nil, "%q: %v", args, err)
	}
}

// Systems of different names, of runs of different sizes, and three runs.
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
		{[]string{a}, true, "two folders"},
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

// strict is BM25 over title and text as runs of a-z and 0-9, k1 1.5, b 0.75: the
// reference's.
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
	s = strings.ReplaceAll(s, "İ", "i\u0307") // as Unicode's full mapping has it, and the reference
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.ToLower(s))
}

// Loaded and run as the program does it, MuSiQue's sample gives the rows that the
// tests of graphrag/bm25 and examples/baselines/hipporag state with the same settings:
// an independent implementation's, of BM25 over plain words, and of HippoRAG over
// recorded triples and names, without synonyms and fall-back.
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
		Dataset: set, Judge: j, Options: benchmark.Options{Kit: report.Offline, Depth: set.Depth},
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
			at20 += benchmark.UnitRecall(res.Item.Gold, docs[:min(20, len(docs))])
		}
		if want := []float64{69.7, 65.2}[i]; math.Abs(at20-want) > .1 {
			t.Errorf("%s: recall at 20 is %.2f, want %.1f", r.Systems[i].System, at20, want)
		}
	}
}
