// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

func summary(goldMet, gold, predictedMet, predicted int) judge.SummaryJudgment {
	return judge.SummaryJudgment{
		Recall:    judge.Score(float64(goldMet)/float64(gold), ""),
		Precision: judge.Score(float64(predictedMet)/float64(predicted), ""),
		Counts:    judge.Counts{Gold: gold, GoldMet: goldMet, Predicted: predicted, PredictedMet: predictedMet},
	}
}

// The worked example: one question with 2 of 3 gold and 2 of 4 predicted
// statements matched, one with 1 of 2 and 1 of 5.
func ExampleTally() {
	var t stats.Tally
	for _, s := range []judge.SummaryJudgment{summary(2, 3, 2, 4), summary(1, 2, 1, 5)} {
		t.AddSummary(s)
	}
	for _, f := range t.Figures() {
		if f.Defined {
			fmt.Printf("%-12s %.4f\n", f.Name, f.Value)
		}
	}
	// Output:
	// recall       0.5833
	// precision    0.3500
	// mean_of_f1   0.4286
	// f1_of_means  0.4375
}

func TestBounds(t *testing.T) {
	var tally stats.Tally
	for i := range 10 {
		v := judge.Score(float64(i%2), "")
		switch i {
		case 3:
			v = judge.NoScore("canary failed: x")
		case 5:
			v = judge.NoScore("truncated: y: z")
		case 6:
			v = judge.NoScore("truncated: other words")
		case 8:
			v = judge.Verdict{State: judge.NotApplicable}
		}
		tally.AddFact(judge.FactJudgment{Verdict: v, Protocol: judge.Protocol{Extra: 1}})
	}
	// Scored are 0, 1, 0, 1, 1 (questions 0, 1, 2, 4→0, 7, 9): three of six right.
	got, _ := tally.Figure(stats.FigureAccuracy)
	want := stats.Figure{Name: "accuracy", Value: 0.5, Defined: true, Scored: 6, Unscored: 3,
		Reasons: map[string]int{"canary failed": 1, "truncated": 2}, Low: 3.0 / 9, High: 6.0 / 9}
	check.Equal(t, got, want, "(-want +got)")
	check.Equal(t, tally.Protocol.Extra, 10, "protocol %+v", tally.Protocol)
	var only stats.Tally
	only.AddFact(judge.FactJudgment{Verdict: judge.NoScore("x")})
	f, _ := only.Figure("accuracy")
	check.True(t, !f.Defined && f.Low == 0 && f.High == 1, "nothing scored: %+v", f)
	f, ok := only.Figure("f1")
	check.True(t, !ok, "a figure without a name: %+v", f)
	f, _ = (stats.Tally{}).Figure("f1_of_means")
	check.True(t, !f.Defined && f.Value == 0 && f.High == 0, "nothing at all: %+v", f)
}

// A summary of which only the recall is scored is in the mean of recall only.
func TestPartlyUnscored(t *testing.T) {
	var tally stats.Tally
	half := summary(1, 2, 0, 1)
	half.Precision, half.Counts.Predicted = judge.NoScore("invalid output: x"), 0
	tally.AddSummary(half)
	tally.AddSummary(summary(2, 2, 1, 2))
	for name, want := range map[string][3]float64{ // value, low and high by name of the figure
		stats.FigureRecall: {0.75, 0.75, 0.75}, stats.FigurePrecision: {0.5, 0.25, 0.75},
		stats.FigureMeanOfF1: {2.0 / 3, 1.0 / 3, 5.0 / 6}, stats.FigureF1OfMeans: {0.6, 0.375, 0.75},
	} {
		f, _ := tally.Figure(name)
		for i, got := range []float64{f.Value, f.Low, f.High} {
			check.True(t, math.Abs(got-want[i]) <= 1e-15, "%s: %+v, want %v", name, f, want)
		}
	}
}

func TestRefusals(t *testing.T) {
	var got stats.Refusals
	for i := range 12 {
		v := judge.Score(float64(i%2), "")
		if i == 7 {
			v = judge.NoScore("x: y")
		}
		got.Add(i%4 == 0, i%8 == 0, v)
	}
	check.Equal(t, got, (stats.Refusals{AnsweredRight: 5, AnsweredWrong: 3, RefusedRightly: 1, RefusedWrongly: 2, Unscored: 1}), "refusals")
}

// A function decides; if it fails the case is unscored, and it is not asked about refused and empty answers.
func TestByFunc(t *testing.T) {
	broken := errors.New("the server refuses us")
	j := judge.ByFunc("letters", func(_ context.Context, c judge.Case, gold string) (judge.Verdict, error) {
		switch {
		case gold == "!":
			return judge.Verdict{}, broken
		case gold == "?":
			return judge.NoScore("unknown: ?"), nil
		case strings.Contains(c.Answer, gold):
			return judge.Score(1, gold), nil
		}
		return judge.Score(0, ""), nil
	})
	for _, tt := range []struct {
		c    judge.Case
		fact string
		err  error
	}{
		{judge.Case{Answer: "a", Reference: "a"}, "scored 1", nil},
		{judge.Case{Answer: "b", Reference: "a"}, "scored 0", nil},
		{judge.Case{Answer: "b", Reference: "a", Aliases: []string{"b"}}, "scored 1", nil},
		{judge.Case{Answer: "b", Reference: "?", Aliases: []string{"b"}}, "scored 1", nil},
		{judge.Case{Answer: "b", Reference: "?", Aliases: []string{"a"}}, "unscored 0", nil},
		{judge.Case{Answer: " \u200b", Reference: "!"}, "scored 0", nil},
		{judge.Case{Answer: "a", Reference: "!", Refused: true}, "scored 0", nil},
		{judge.Case{Answer: "a", Reference: "!"}, " 0", broken},
	} {
		f, err := j.Fact(t.Context(), tt.c)
		got := fmt.Sprint(f.State, " ", f.Value)
		check.True(t, got == tt.fact && errors.Is(err, tt.err), "%+v: %s, %v, want %s, %v", tt.c, got, err, tt.fact, tt.err)
	}
	for gold, want := range map[string]string{"a b": "scored 0.5", "a ?": "unscored 0", "": "not_applicable 0", "b c": "scored 0"} {
		s, err := j.Summary(t.Context(), judge.Case{Answer: "a", Statements: strings.Fields(gold)})
		got := fmt.Sprint(s.Recall.State, " ", s.Recall.Value)
		check.True(t, err == nil && got == want && s.Precision.State == judge.NotApplicable, "%q: %s, %v, want %s", gold, got, err, want)
	}
	s, err := j.Summary(t.Context(), judge.Case{Refused: true, Statements: []string{"!"}})
	check.True(t, err == nil && s.Recall.State == judge.Scored && j.Name() == "letters", "a refusal: %+v, %v", s, err)
}

// entails knows one pair of texts, and fails for another.
type entails struct{}

func (entails) Name() string { return "pairs" }

func (entails) Entail(_ context.Context, premise string, hypotheses []string) ([]local.Entailed, error) {
	if premise == "Q?\nbroken" {
		return nil, errors.New("the weights are damaged")
	}
	p := local.Entailed{Entails: .4, Contradicts: .3}
	if premise == "Q?\nIt was built in 1892." && hypotheses[0] == "Built in 1892." {
		p = local.Entailed{Entails: .9}
	}
	return []local.Entailed{p}, nil
}

func TestByEntailment(t *testing.T) {
	j := judge.ByEntailment(entails{})
	check.Equal(t, j.Name(), "entailment/pairs", "name")
	for answer, want := range map[string]float64{"It was built in 1892.": 1, "It was built.": 0, "": 0} {
		got, err := j.Fact(t.Context(), judge.Case{Question: "Q?", Answer: answer, Reference: "Built in 1892."})
		check.True(t, err == nil && got.State == judge.Scored && got.Value == want, "%q: %+v, error %v", answer, got, err)
	}
	_, err := j.Fact(t.Context(), judge.Case{Question: "Q?", Answer: "broken"})
	check.True(t, err != nil && err.Error() == "judge: ask the entailment model: the weights are damaged", "error %v", err)
}
