// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"fmt"
	"math"
	"slices"
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

// A refusal of another program is one in the report.
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

// An assistant that was made elsewhere brings its steps and its usage, and its row has them.
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

// A judge of grounds is shown passages alone: a report that a model wrote does not prove itself.
func TestShownAreSources(t *testing.T) {
	hit := func(text string) graphrag.Hit { return graphrag.Hit{Chunk: graphrag.Chunk{Text: text}} }
	a := graphrag.Answer{Found: graphrag.Found{Evidence: []graphrag.Hit{hit("p")}, Derived: []graphrag.Derived{{Text: "a made-up report"}}}, Sources: []graphrag.Hit{hit("q"), hit("p")}}
	texts, kept := record.NewAnswer(record.Key{}, a, nil, true).Shown()
	check.True(t, kept && strings.Join(texts, " ") == "p q", "a judge is shown %q, %v", texts, kept)
}

func TestReadPredictions(t *testing.T) {
	want := []string{"What?", "Who?"}
	known := func(q string) bool { return slices.Contains([]string{"What?", "Who?", "When?"}, q) }
	for _, tt := range []struct {
		name, data string
		what, who  string
		err        string
	}{
		{"lines", "{\"question\": \" What? \", \"answer\": \"that \"}\n\n{\"question\": \"Who?\", \"pred_answer\": \"she\"}", "that", "she", ""},
		{"array", `[{"question": "What?", "result": {"response": "that"}}, {"question": "Who?", "response": "she"}]`, "that", "she", ""},
		{"first key present counts, even if empty", `{"question": "What?", "pred_answer": null, "answer": "x"} {"question": "Who?", "result": "she"}`, "", "she", ""},
		{"more than asked for", `[{"question": "What?", "answer": "a"}, {"question": "Who?", "answer": "b"}, {"question": "When?", "answer": "c"}]`, "a", "b", ""},
		{"gap", `{"question": "What?", "answer": "a"}`, "", "", `no line for 1 of 2 questions, the first is "Who?"`},
		{"empty", ``, "", "", "no line for 2 of 2 questions"},
		{"duplicate", "{\"question\": \"What?\", \"answer\": \"a\"}\n{\"question\": \"What?\", \"answer\": \"b\"}", "", "", "f.jsonl:2: the question of line 1 again"},
		{"stranger", "{\"question\": \"What?\", \"answer\": \"a\"}\n\n{\"question\": \"Where?\", \"answer\": \"b\"}", "", "", "f.jsonl:3: the data set does not have this question"},
		{"a hostile stranger", `{"question": "\u001b[2J", "answer": "y"}`, "", "", `\x1b[2J`},
		{"without an end", strings.Repeat("[", 200_000), "", "", "f.jsonl"},
		{"no answer", `{"question": "What?", "text": "a"}`, "", "", "f.jsonl:1: no answer"},
		{"answer is no text", `{"question": "What?", "answer": 7}`, "", "", `f.jsonl:1: "answer" is not a text`},
		{"evidence is no list", `{"question": "What?", "answer": "a", "evidence": "page"}`, "", "", `f.jsonl:1: "evidence" is not a list of texts`},
		{"refused is no truth", `{"question": "What?", "answer": "a", "refused": "yes"}`, "", "", `f.jsonl:1: "refused" is neither true nor false`},
		{"steps are no steps", `{"question": "What?", "answer": "a", "steps": [1]}`, "", "", `f.jsonl:1: "steps" is not a list`},
		{"usage below nothing", `{"question": "What?", "answer": "a", "usage": {"prompt_tokens": -1}}`, "", "", `f.jsonl:1: "steps" is not a list of {"kind", "query", "found", "tokens"}, or "usage" no object`},
		{"more cached than asked", `{"question": "What?", "answer": "a", "usage": {"prompt_tokens": 1, "provider_cached_tokens": 2}}`, "", "", `or "usage" no object`},
		{"no question", `{"answer": "a"}`, "", "", `f.jsonl:1: no "question"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p, err := own.ReadPredictions("foreign", "f.jsonl", strings.NewReader(tt.data), want, known)
			if tt.err != "" {
				check.Must(t, err != nil && strings.Contains(err.Error(), tt.err), "error %v, want one with %q", err, tt.err)
				return
			}
			check.OK(t, err)
			system, _ := p.Entry().New("d")
			for q, a := range map[string]string{"What?": tt.what, "Who?": tt.who} {
				got, err := system.Answer(t.Context(), graphrag.Question{Text: q})
				if err != nil || got.Text != a {
					t.Errorf("%s: %q, %v, want %q", q, got.Text, err, a)
				}
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
			if f := r.Judgment.Fact; f != nil && f.Value != 1 || r.Evidence.RecallAt5 != nil {
				t.Errorf("%+v", r)
			}
		}
	}
}

// With evidence, predictions have the figures of evidence; lengths and texts of their
// prompts are not known, and nothing of that is 0.
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
		for range 2 { // the second start asks nothing again
			rep := reported(t, r)
			s := rep.Systems[0]
			all := s.Overall.Types[benchmark.All]
			if all.N != 7 || math.Abs(*all.PromptRecall-want) > 1e-12 || math.Abs(*all.RecallAt5-want) > 1e-12 || all.ContextTokens != nil || all.Found != nil {
				t.Errorf("%s: %+v", evidence, all)
			}
			if s.QueryMsP50 != nil {
				t.Errorf("%s: what it cost is not known: %+v", evidence, s)
			}
		}
	}
	for evidence, want := range map[string]string{`["GOLD.txt", "dodo.txt#1"]`: `"dodo.txt#1"`, `[null]`: `""`, `["#"]`: `"#"`} {
		p, set := read(evidence)
		if err := p.Locate(set); err == nil || !strings.Contains(err.Error(), want+`, the evidence for "What does the owl eat?", is no page of birds`) {
			t.Errorf("a page that is not there: %v", err)
		}
	}
}

// A file with some of the answers is one row more, which says how many and is in no
// comparison.
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
