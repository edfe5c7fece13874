// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/internal/benchtest"
	"github.com/wildgraph/wildgraph/benchmark/own"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A refusal in another program's predictions is counted as a refusal in the report.
func TestRefusedPredictions(t *testing.T) {
	refused := make(map[bool]any)
	for _, r := range []bool{false, true} {
		p, err := own.ReadPredictions("foreign", "f.jsonl", strings.NewReader(fmt.Sprintf(`{"question": "What?", "answer": "I do not know.", "refused": %v}`, r)), nil, func(string) bool { return true })
		check.OK(t, err)
		system, _ := p.Entry().New("d")
		a, err := system.Answer(t.Context(), graphrag.Question{Text: "What?"})
		check.True(t, err == nil && a.Refused == r, "refused %v: %+v, %v", r, a, err)
		refused[r] = p.Entry().Settings["score foreign"]
	}
	check.True(t, refused[true] != refused[false], "a refusal and an answer of the same words are recorded as one")
}

// A file of another assistant's answers may have steps and usage, which the row shows.
func TestPredictionsWithSteps(t *testing.T) {
	p, err := own.ReadPredictions("agent", "f.jsonl", strings.NewReader(`{"question": "What?", "answer": "that",
"steps": [{"kind": "turn"}, {"kind": "search", "query": "that", "found": ["a#1"], "tokens": 40}, {"kind": "turn"}], "usage": {"prompt_tokens": 90, "completion_tokens": 10, "provider_cached_tokens": 30}}`), nil, func(string) bool { return true })
	check.OK(t, err)
	system, _ := p.Entry().New("d")
	a, err := system.Answer(t.Context(), graphrag.Question{Text: "What?"})
	check.True(t, err == nil && a.Usage == (graphrag.Usage{Calls: 1, PromptTokens: 90, CompletionTokens: 10, ProviderCached: 30}), "%+v, %v", a, err)
	turns, searches, read := record.NewAnswer(record.Key{}, a, nil, false).Effort()
	check.True(t, turns == 2 && searches == 1 && read == 40, "%d turns, %d searches, %d tokens", turns, searches, read)
}

// The judge of groundedness gets passages only: a report that a model wrote does not support itself.
func TestShownAreSources(t *testing.T) {
	hit := func(text string) graphrag.Hit { return graphrag.Hit{Chunk: graphrag.Chunk{Text: text}} }
	a := graphrag.Answer{Found: graphrag.Found{Evidence: []graphrag.Hit{hit("p")}, Derived: []graphrag.Derived{{Text: "a made-up report"}}}, Sources: []graphrag.Hit{hit("q"), hit("p")}}
	texts, kept := record.NewAnswer(record.Key{}, a, nil, true).Shown()
	check.True(t, kept && strings.Join(texts, " ") == "p q", "a judge is shown %q, %v", texts, kept)
}

func TestReadPredictions(t *testing.T) {
	want := []string{"What?", "Who?"}
	known := func(q string) bool { return slices.Contains([]string{"What?", "Who?", "When?"}, q) }
	for _, row := range append(check.Rows(t, "testdata/predictions.txt"), []string{"without an end", strings.Repeat("[", 200_000), "", "", "f.jsonl"}) {
		data, what, who, fails := row[1], row[2], row[3], row[4]
		t.Run(row[0], func(t *testing.T) {
			p, err := own.ReadPredictions("foreign", "f.jsonl", strings.NewReader(data), want, known)
			if fails != "" {
				check.Fails(t, err, fails)
				return
			}
			check.OK(t, err)
			system, _ := p.Entry().New("d")
			for q, a := range map[string]string{"What?": what, "Who?": who} {
				got, err := system.Answer(t.Context(), graphrag.Question{Text: q})
				check.True(t, err == nil && got.Text == a, "%s: %q, %v, want %q", q, got.Text, err, a)
			}
		})
	}
}

func TestForeignPredictionsAreJudged(t *testing.T) {
	set := benchtest.Dataset()
	var data strings.Builder
	var questions []string
	for _, d := range set.Domains {
		for _, it := range d.Items {
			questions = append(questions, it.Question.Text)
			data.WriteString(`{"question": "` + it.Question.Text + `", "answer": "` + it.GoldStatements()[0] + "\"}\n")
		}
	}
	p := check.Of(own.ReadPredictions("theirs", "f", strings.NewReader(data.String()), questions, func(string) bool { return true })).OK(t)
	run := check.Of((&benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{p.Entry()}, Judge: benchtest.Exact{}}).Run(t.Context())).OK(t)
	for _, d := range run.Systems[0].Domains {
		for _, r := range d.Results {
			f := r.Judgment.Fact
			check.True(t, (f == nil || f.Value == 1) && r.Evidence.RecallAt5 == nil, "%+v", r)
		}
	}
}

// With evidence, predictions have figures of evidence; lengths and texts of prompts are unknown, and shown as
// unknown, not 0.
func TestEvidenceOfPredictions(t *testing.T) {
	read := func(evidence string) (*own.Predictions, *benchmark.Dataset) {
		set := benchtest.Dataset()
		var lines []string
		for it := range set.Items() {
			animal := strings.TrimSuffix(it.Gold[0][0], ".txt")
			lines = append(lines, fmt.Sprintf(`{"question": %q, "answer": "It eats.", "evidence": %s}`, it.Question.Text, strings.ReplaceAll(evidence, "GOLD", animal)))
		}
		p := check.Of(own.ReadPredictions("theirs", "f", strings.NewReader(strings.Join(lines, "\n")), nil, func(string) bool { return true })).OK(t)
		return p, set
	}
	for evidence, want := range map[string]float64{`["GOLD.txt#3"]`: 6.0 / 7, `["GOLD.txt", "GOLD.txt#0"]`: 6.0 / 7, `[]`: 0} {
		p, set := read(evidence)
		check.OK(t, p.Locate(set))
		dir := t.TempDir()
		r := &benchmark.Runner{Dataset: set, Systems: []benchmark.Entry{p.Entry()}, Judge: benchtest.Exact{}, Options: benchmark.Options{
			Dir: dir, ShowEvidence: true, Found: true, CountTokens: func(string) int { return 1 }}}
		for range 2 { // the second start asks nothing
			rep := reported(t, r)
			s := rep.Systems[0]
			all := s.Overall.Types[benchmark.All]
			if all.N != 7 || math.Abs(*all.PromptRecall-want) > 1e-12 || math.Abs(*all.RecallAt5-want) > 1e-12 || all.ContextTokens != nil || all.Found != nil {
				t.Errorf("%s: %+v", evidence, all)
			}
			check.True(t, s.QueryMsP50 == nil, "%s: what it cost is not known: %+v", evidence, s)
		}
	}
	for evidence, want := range map[string]string{`["GOLD.txt", "dodo.txt#1"]`: `"dodo.txt#1"`, `[null]`: `""`, `["#"]`: `"#"`} {
		p, set := read(evidence)
		check.Fails(t, p.Locate(set), want+`, the evidence for "What does the owl eat?", is not a page of birds`,
			"a page that is not there")
	}
}

// A file with some of the answers is one more row, which says how many, and is not compared.
func TestPartialPredictions(t *testing.T) {
	p, err := own.ReadPredictions("theirs", "f", strings.NewReader(
		`{"question": "What does the owl eat?", "answer": "The owl eats owl food."} {"question": "What does the cod eat?", "answer": "x"}`), nil, func(string) bool { return true })
	check.OK(t, err)
	var calls atomic.Int64
	dir := t.TempDir()
	r := benchtest.Runner(dir, &calls, nil)
	r.Options.SweepTopK = []int{3}
	r.Systems = append([]benchmark.Entry{p.Entry()}, r.Systems...)
	rep := reported(t, r)
	theirs := rep.Systems[0]
	all := theirs.Overall.Types[benchmark.All]
	check.True(t, all.N == 2 && all.Unscored == 0.5 && *all.Accuracy == 1 && len(theirs.NotCompared) == 1, "%+v, %q", all, theirs.NotCompared)
	n := rep.Systems[1].Overall.Types[benchmark.All].N
	check.Equal(t, n, 7, "the others have %d questions", n)
	for _, p := range rep.Pairs {
		check.True(t, p.A != "theirs" && p.B != "theirs", "compared: %+v", p)
	}
	got := benchtest.Files(t, dir)
	if !strings.Contains(got["/report.md"], "theirs (n = 2)") || !strings.Contains(got["/report.md"], "7 questions") ||
		strings.Count(got["/predictions/theirs.jsonl"], "\n") != 2 || strings.Count(got["/judgments.jsonl"], `"system":"theirs"`) != 2 {
		t.Errorf("report.md:\n%s\n%s", got["/report.md"], got["/predictions/theirs.jsonl"])
	}
}

func FuzzReadPredictions(f *testing.F) {
	f.Add(`{"question": "What?", "answer": "a"}`)
	f.Add(`[{"question": "What?", "result": {"response": "a"}}]`)
	f.Add("\ufeff[{]")
	f.Fuzz(func(t *testing.T, data string) {
		p, err := own.ReadPredictions("p", "f", strings.NewReader(data), []string{"What?"}, func(q string) bool { return q == "What?" })
		if err == nil {
			system, _ := p.Entry().New("d")
			_, err := system.Answer(t.Context(), graphrag.Question{Text: "What?"})
			check.True(t, err == nil, "accepted without an answer: %v", err)
		}
	})
}

func hits(docs ...string) []graphrag.Hit {
	var out []graphrag.Hit
	for _, d := range docs {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{Doc: d, Text: "Text of " + d}})
	}
	return out
}

// The figures are worked out by hand from the definitions.
func TestMeasure(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	gold := []benchmark.Unit{{"a"}, {"b", "b2"}}
	for _, tt := range []struct {
		name string
		gold []benchmark.Unit
		a    graphrag.Answer
		want benchmark.Evidence
	}{
		{"nothing ranked", gold, graphrag.Answer{}, benchmark.Evidence{}},
		{"nothing found", gold, graphrag.Answer{Found: graphrag.Found{Ranked: []graphrag.Hit{}}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"no gold", nil, graphrag.Answer{Found: graphrag.Found{Ranked: hits("a")}}, benchmark.Evidence{}},
		{"one page fills the first five places", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "a", "a", "a", "a", "b2")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(0.5), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(0), MRR: f(0.5), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"any page of a unit counts, once", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("b", "b2", "a")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(1), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(1), MRR: f(1), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"all misses", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "y")}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"what stood in the prompt", gold, graphrag.Answer{Found: graphrag.Found{Evidence: hits("a"), Derived: []graphrag.Derived{{Provenance: graphrag.Provenance{Docs: []string{"b2", "z"}}}}}},
			benchmark.Evidence{PromptRecall: f(0.5), ProvenanceRecall: f(1)}},
		{"only facts", gold, graphrag.Answer{Found: graphrag.Found{Derived: []graphrag.Derived{{Provenance: graphrag.Provenance{Docs: []string{"a"}}}}}},
			benchmark.Evidence{PromptRecall: f(0), ProvenanceRecall: f(0.5)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			check.Equal(t, benchmark.Item{Gold: tt.gold}.Measure(record.NewAnswer(record.Key{}, tt.a, nil, false)), tt.want, "(-want +got)")
		})
	}
}

// Where every unit is one document the figures are trec_eval's: testdata/golden.py ran
// pytrec_eval-terrier 0.5.11 (its C code) over the same files, 40 queries.
func TestMeasureAsTrecEval(t *testing.T) {
	items, rankings, scores := make(map[string]*benchmark.Item), make(map[string][]string), make(map[string]float64)
	for _, f := range trecLines(t, "qrels.txt") {
		level := check.Of(strconv.ParseInt(f[3], 10, 32)).OK(t)
		if items[f[0]] == nil {
			items[f[0]] = &benchmark.Item{Grades: make(map[string]int32)}
		}
		if items[f[0]].Grades[f[2]] = int32(level); level > 0 {
			items[f[0]].Gold = append(items[f[0]].Gold, benchmark.Unit{f[2]})
		}
	}
	for _, f := range trecLines(t, "run.txt") {
		score := check.Of(strconv.ParseFloat(f[4], 64)).OK(t)
		scores[f[0]+" "+f[2]] = score
		rankings[f[0]] = append(rankings[f[0]], f[2])
	}
	data, err := os.ReadFile("testdata/golden.json")
	check.OK(t, err)
	var golden map[string]map[string]float64
	err = json.Unmarshal(data, &golden)
	check.Must(t, err == nil && len(items) == 40, "%v %v", err, len(items))
	for q, it := range items { // trec_eval orders by score, then by document id, both falling
		slices.SortFunc(rankings[q], func(a, b string) int {
			return cmp.Or(cmp.Compare(scores[q+" "+b], scores[q+" "+a]), cmp.Compare(b, a))
		})
		got := it.Measure(record.NewAnswer(record.Key{}, graphrag.Answer{Found: graphrag.Found{Ranked: hits(rankings[q]...)}}, nil, false))
		for name, v := range map[string]*float64{"recall@10": got.RecallAt10, "RR": got.MRR, "nDCG@10": got.NDCGAt10} {
			want := golden[name][q]
			if v == nil && len(it.Gold) == 0 && want == 0 { // trec_eval does not define this figure
				continue
			}
			check.True(t, v != nil && math.Abs(*v-want) <= 2e-9,
				"%s of %s is %v, trec_eval says %.9f", name, q, v, want)
		}
	}
}

// trecLines are the columns of each line of a TREC file.
func trecLines(t *testing.T, name string) [][]string {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/" + name)).OK(t)
	var out [][]string
	for line := range strings.Lines(string(data)) {
		out = append(out, strings.Fields(line))
	}
	return out
}

// Systems answer the same item concurrently: an append to its statements must not write into another's memory.
func TestGoldStatementsAppend(t *testing.T) {
	it := benchmark.Item{Statements: append(make([]string, 0, 4), "one", "two")}
	first, second := append(it.GoldStatements(), "a"), append(it.GoldStatements(), "b")
	check.True(t, first[2] == "a" && second[2] == "b", "%q and %q share their end", first, second)
}
