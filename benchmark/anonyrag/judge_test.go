// SPDX-License-Identifier: Apache-2.0

package anonyrag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func newJudge(t *testing.T, o anonyrag.Options) *anonyrag.Judge {
	t.Helper()
	return check.Of(anonyrag.New(o)).OK(t)
}

func TestJudge(t *testing.T) {
	j := newJudge(t, anonyrag.Options{})
	check.Equal(t, j.Name(), "exact/anonyrag/v2", "name")
	for _, tt := range []struct {
		name      string
		c         judge.Case
		want      float64
		precision float64 // precision of reversions
	}{
		{"right letter", judge.Case{Type: "choice-simple", Reference: "B. (Jim)", Answer: "The answer is B."}, 1, 0},
		{"wrong letter", judge.Case{Type: "choice", Reference: "B", Answer: "C"}, 0, 0},
		{"two letters", judge.Case{Type: "choice", Reference: "B", Answer: "B or C"}, 0, 0},
		{"no letter", judge.Case{Type: "choice", Reference: "B", Answer: "Jim"}, 0, 0},
		{"refused", judge.Case{Type: "choice", Reference: "B", Answer: "B", Refused: true}, 0, 0},
		{"all names", judge.Case{Type: "reversion-complex", Reference: "PERSON#1——Silver\nPERSON#2——Jim", Aliases: []string{"PERSON#1——Barbecue"}, Answer: "PERSON#2: Jim\nPERSON#1: barbecue"}, 1, 1},
		{"one name", judge.Case{Type: "reversion-simple", Reference: "PERSON#1——Silver\nPERSON#2——Jim", Answer: "PERSON#1: Flint\nPERSON#2: Jim"}, 0, .5},
		{"appositions", judge.Case{Type: "reversion", Reference: "PERSON#1——Israel Hands\nPERSON#2——Jim", Answer: "PERSON#1——Israel Hands, the coxswain\nPERSON#2——Jim (a boy of the inn)"}, 1, 1},
		{"two names for one", judge.Case{Type: "reversion", Reference: "PERSON#1——Israel Hands\nPERSON#2——Jim", Answer: "PERSON#1——Israel Hands, Silver\nPERSON#2——Jim or Ben"}, 0, 0},
		{"another name", judge.Case{Type: "reversion", Reference: "PERSON#1——铁扇公主\nPERSON#2——Jim", Answer: "PERSON#1：铁扇公主（罗刹女） [1]\nPERSON#2 is Hawkins (Jim)."}, 1, 1},
		{"another name in brackets", judge.Case{Type: "reversion", Reference: "PERSON#1——罗刹女", Answer: "PERSON#1：铁扇公主（罗刹女）(memory)"}, 1, 1},
		{"one more", judge.Case{Type: "reversion", Reference: "PERSON#2——Jim", Answer: "PERSON#2: Jim\nPERSON#3: Ben"}, 0, .5},
		{"refused names", judge.Case{Type: "reversion", Reference: "PERSON#2——Jim", Answer: "PERSON#2: Jim", Refused: true}, 0, 0},
	} {
		got, err := j.Fact(t.Context(), tt.c)
		check.True(t, err == nil && got.State == judge.Scored && got.Value == tt.want, "%s: %+v, %v", tt.name, got, err)
		p, ok := got.Scores[anonyrag.ScorePrecision]
		check.True(t, ok == strings.HasPrefix(tt.c.Type, anonyrag.Reversion) && p.Value == tt.precision, "%s: %+v", tt.name, got.Scores)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(j.Fact(ctx, judge.Case{})), context.Canceled, "cancelled")
	if s, err := j.Summary(t.Context(), judge.Case{}); err != nil || s.Recall.State != judge.NotApplicable {
		t.Errorf("%+v, %v", s, err)
	}
	// With a model the model's verdict counts, and names are still compared by rules. The model is not asked
	// about letters.
	script := llmtest.NewScript("m").Reply(llmtest.Any, "1")
	model := newJudge(t, anonyrag.Options{Model: script})
	for answer, want := range map[string]float64{"(B)": 1, "C. Ben": 0} {
		got, err := model.Fact(t.Context(), judge.Case{Type: "choice", Reference: "B", Answer: answer})
		check.True(t, err == nil && got.Value == want && script.Calls() <= 0, "%q: %+v, %v after %d calls", answer, got, err, script.Calls())
	}
	got, err := model.Fact(t.Context(), judge.Case{Type: "reversion", Reference: "PERSON#1——Silver", Answer: "PERSON#1: the one-legged cook"})
	check.True(t, err == nil && got.Value == 1 && got.Scores[anonyrag.ScoreF1].Value == 0 &&
		strings.Contains(model.Name(), "/m+exact/anonyrag"), "%q: %+v, %v", model.Name(), got, err)
}

// oracle gives the gold answer, except for every third question.
type oracle struct{ gold map[string]string }

func (o oracle) Index(context.Context, iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	return graphrag.IndexStats{}, nil
}

func (o oracle) Answer(_ context.Context, q graphrag.Question) (graphrag.Answer, error) {
	return graphrag.Answer{Text: o.gold[q.ID]}, nil
}

func (o oracle) Close() error { return nil }

// A run has an accuracy for each format and class of questions, and figures of the mappings.
func TestRun(t *testing.T) {
	l := check.Of(sample(t, "eng").Anonymized()).OK(t)
	set := anonyrag.Dataset(anonyrag.Name, l)
	gold := make(map[string]string)
	right := make(map[string][2]float64)
	n := 0
	for it := range set.Items() {
		counts := right[it.Type]
		counts[1]++
		if n++; n%3 != 0 {
			gold[it.Question.ID] = it.Reference
			counts[0]++
		}
		right[it.Type] = counts
	}
	runner := &benchmark.Runner{
		Dataset: set, Judge: newJudge(t, anonyrag.Options{}), Options: benchmark.Options{Kit: "model", NoTimings: true},
		Systems: []benchmark.Entry{{Name: "oracle", New: func(string) (benchmark.System, error) { return oracle{gold}, nil }}},
	}
	run := check.Of(runner.Run(t.Context())).OK(t)
	rep := check.Of(report.New(run)).OK(t)
	check.Must(t, len(right) == 4, "types %v", right)
	for kind, counts := range right {
		want := counts[0] / counts[1]
		types := rep.Systems[0].Overall.Types[kind]
		if got, ok := types.Figure("accuracy"); !ok || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: accuracy %v, want %v", kind, got, want)
		}
		f1, ok := types.Figure(anonyrag.ScoreF1)
		check.True(t, ok == strings.HasPrefix(kind, anonyrag.Reversion) && (!ok || math.Abs(f1-want) <= 1e-12),
			"%s: F1 %v, want %v", kind, f1, want)
	}
}

// A book becomes a benchmark whose names are hidden, and answers are scored by them.
func Example() {
	book := anonyrag.Book{
		Title: "A voyage", Language: "eng",
		Entities: []anonyrag.Entity{{Name: "Fridtjof Nansen", Aliases: []string{"Nansen"}, Type: "PERSON"}, {Name: "Larvik", Type: "LOCATION"}},
		Passages: []anonyrag.Passage{{ID: "1", Text: "Nansen had his ship built in Larvik."}},
		Questions: []anonyrag.Draft{
			{Question: "Where did Nansen have his ship built?", Answer: "In Larvik.", Hops: 1, Evidence: []string{"1"}},
		},
	}
	hidden, err := book.Anonymized()
	if err != nil {
		panic(err)
	}
	fmt.Println(hidden.Corpus[0].Text)
	gold := anonyrag.GoldOf(hidden.QA[0].Answer, hidden.QA[0].Aliases...)
	counts := anonyrag.Compare(gold, anonyrag.ParseReversion("PERSON#1 = nansen\nLOCATION#1 = Bergen"))
	fmt.Printf("P %.2f, R %.2f, F1 %.2f\n", counts.Precision(), counts.Recall(), counts.F1())
	// Output:
	// [PERSON#1] had his ship built in [LOCATION#1].
	// P 0.50, R 0.50, F1 0.50
}

// A gold of seven pairs, an answer of six of which five are right: precision 5/6,
// recall 5/7, F1 10/13.
func TestWorkedExample(t *testing.T) {
	gold := anonyrag.GoldOf("PERSON#532——鲁智深\nPERSON#277——史进\nPERSON#4——周通\nPERSON#503——李忠\nLOCATION#526——五台山\nLOCATION#110——桃花村\nLOCATION#535——桃花山")
	c := anonyrag.Compare(gold, anonyrag.ParseReversion("[PERSON#532]: 鲁智深\n[PERSON#277]：史进\nPERSON#4 = 李忠\nPERSON#503 -> 李忠\nLOCATION#526 - 五台山\nLOCATION#110 — 桃花村"))
	want := (anonyrag.Counts{Gold: 7, Predicted: 6, Right: 5})
	check.Must(t, c == want, "%+v, want %+v", c, want)
	for name, v := range map[string][2]float64{"P": {c.Precision(), .833333}, "R": {c.Recall(), .714286}, "F1": {c.F1(), .769231}} {
		check.True(t, math.Abs(v[0]-v[1]) <= 5e-7, "%s %.6f, want %.6f", name, v[0], v[1])
	}
	check.True(t, !c.Exact(), "exact")
}

// Answers as models write them, each with the pairs of a reversion, or the letter, that is read from it.
func TestParsers(t *testing.T) {
	file := check.Of(os.Open("testdata/answers.jsonl")).OK(t)
	defer file.Close()
	for d := json.NewDecoder(file); d.More(); {
		var line struct {
			Answer, Letter string
			Pairs          []string
		}
		check.OK(t, d.Decode(&line))
		var pairs []string
		for _, p := range anonyrag.ParseReversion(line.Answer) {
			pairs = append(pairs, p.Placeholder+"="+p.Name)
		}
		if letter, ok := anonyrag.ParseChoice(line.Answer); line.Pairs == nil && (letter != line.Letter || ok != (letter != "")) || !slices.Equal(pairs, line.Pairs) {
			t.Errorf("%q: %q, %q, want %q, %q", line.Answer, letter, pairs, line.Letter, line.Pairs)
		}
	}
}

// For any reply the counts are consistent and no name is blank.
func FuzzParsers(f *testing.F) {
	for _, s := range []string{"PERSON#1——鲁智深\n[LOCATION#2]: x; A#1=b", "{\"PERSON#1\": \"Jim\"}", "答案：A", "(A) (B)", "B. A rose", "\xff#1:\x00", "ﬀ#1：½"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pairs := anonyrag.ParseReversion(s)
		for _, p := range pairs {
			check.Must(t, strings.TrimSpace(p.Name) != "" && strings.Contains(p.Placeholder, "#") && p.Placeholder == strings.ToUpper(p.Placeholder), "%+v", p)
		}
		gold := anonyrag.GoldOf("PERSON#1——鲁智深\nPERSON#2——史进")
		c := anonyrag.Compare(gold, pairs)
		check.Must(t, c.Right <= min(c.Gold, c.Predicted) && c.Predicted <= len(pairs) && c.F1() <= 1, "%+v", c)
		own := anonyrag.GoldOf(s)
		c = anonyrag.Compare(own, pairs)
		check.Must(t, c.Gold <= 0 || c.Right == c.Gold, "an answer is not its own gold: %+v of %q", c, s)
		letter, ok := anonyrag.ParseChoice(s)
		check.Must(t, ok == (letter != "") && (!ok || strings.Contains("ABCD", letter)), "%q, %v", letter, ok)
	})
}
