// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/judge"
)

// Mean accumulates verdicts of one figure. The zero value is ready. Equal verdicts in equal order give equal
// bits.
type Mean struct {
	// Sum is the sum of the scored verdicts' values, Scored their number.
	Sum    float64 `json:"sum"`
	Scored int     `json:"n_scored"`
	// Unscored has the number of verdicts that could not be obtained, by [judge.Verdict.Cause].
	Unscored map[string]int `json:"n_unscored,omitempty"`
}

// Add counts a verdict. Verdicts that are not applicable are ignored.
func (m *Mean) Add(v judge.Verdict) {
	switch v.State {
	case judge.Scored:
		m.Sum += v.Value
		m.Scored++
	case judge.Unscored:
		if m.Unscored == nil {
			m.Unscored = make(map[string]int)
		}
		m.Unscored[v.Cause()]++
	}
}

// NUnscored returns the number of verdicts that could not be obtained.
func (m Mean) NUnscored() int {
	n := 0
	for _, k := range m.Unscored {
		n += k
	}
	return n
}

// Value returns the mean of the scored verdicts, and false if there are none.
func (m Mean) Value() (float64, bool) {
	if m.Scored == 0 {
		return 0, false
	}
	return m.Sum / float64(m.Scored), true
}

// Bounds returns the means with every unscored verdict counted as 0 and as 1: the true mean lies between. ok is
// false if there are no verdicts.
func (m Mean) Bounds() (low, high float64, ok bool) {
	u := m.NUnscored()
	n := float64(m.Scored + u)
	if n == 0 {
		return 0, 0, false
	}
	return m.Sum / n, (m.Sum + float64(u)) / n, true
}

// Tally accumulates judgments and computes all [Figure] values. The zero value is ready. It is not safe for
// concurrent use.
type Tally struct {
	// Accuracy is the mean over fact questions, the others over summary questions.
	Accuracy  Mean `json:"accuracy"`
	Recall    Mean `json:"recall"`
	Precision Mean `json:"precision"`
	F1        Mean `json:"f1"`
	// Ceiling is the mean over summary questions, Grounded over all questions.
	Ceiling  Mean           `json:"ceiling"`
	Grounded Mean           `json:"grounded"`
	Protocol judge.Protocol `json:"protocol"`
}

// AddFact counts the judgment on a fact question.
func (t *Tally) AddFact(j judge.FactJudgment) {
	t.Accuracy.Add(j.Verdict)
	t.Grounded.Add(j.Grounded)
	t.Protocol = t.Protocol.Plus(j.Protocol)
}

// AddSummary counts the judgment on a summary question.
func (t *Tally) AddSummary(j judge.SummaryJudgment) {
	t.Recall.Add(j.Recall)
	t.Precision.Add(j.Precision)
	t.F1.Add(j.F1())
	t.Ceiling.Add(j.Ceiling)
	t.Grounded.Add(j.Grounded)
	t.Protocol = t.Protocol.Plus(j.Protocol)
}

// Figure is an aggregate of judgments with its name.
type Figure struct {
	Name string `json:"name"`
	// Value is in 0..1. Without a scored verdict Defined is false and Value 0.
	Value   float64 `json:"value"`
	Defined bool    `json:"defined"`
	// Scored and Unscored are numbers of questions; Reasons has the unscored ones by cause.
	Scored   int            `json:"n_scored"`
	Unscored int            `json:"n_unscored"`
	Reasons  map[string]int `json:"reasons,omitempty"`
	// Low and High are the value with every unscored question counted as 0 and as 1.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// The names of the figures of a [Tally]. docs/judge.md defines them.
const (
	FigureAccuracy  = "accuracy"
	FigureRecall    = "recall"
	FigurePrecision = "precision"
	FigureMeanOfF1  = "mean_of_f1"
	FigureF1OfMeans = "f1_of_means"
	FigureCeiling   = "precision_ceiling"
	FigureGrounded  = "grounded"
)

// Figures returns all aggregates in a fixed order.
func (t Tally) Figures() []Figure {
	recall, precision := t.Recall.figure(FigureRecall), t.Precision.figure(FigurePrecision)
	of := t.F1.figure(FigureF1OfMeans) // numbers of questions and reasons as for the mean of F1
	of.Value, of.Defined = judge.HarmonicMean(recall.Value, precision.Value), recall.Defined && precision.Defined
	of.Low, of.High = judge.HarmonicMean(recall.Low, precision.Low), judge.HarmonicMean(recall.High, precision.High)
	return []Figure{
		t.Accuracy.figure(FigureAccuracy), recall, precision,
		t.F1.figure(FigureMeanOfF1), of,
		t.Ceiling.figure(FigureCeiling), t.Grounded.figure(FigureGrounded),
	}
}

// Figure returns an aggregate by name.
func (t Tally) Figure(name string) (Figure, bool) {
	all := t.Figures()
	if i := slices.IndexFunc(all, func(f Figure) bool { return f.Name == name }); i >= 0 {
		return all[i], true
	}
	return Figure{}, false
}

func (m Mean) figure(name string) Figure {
	f := Figure{Name: name, Scored: m.Scored, Unscored: m.NUnscored(), Reasons: maps.Clone(m.Unscored)}
	f.Value, f.Defined = m.Value()
	f.Low, f.High, _ = m.Bounds()
	return f
}

// Refusals counts answers and refusals: by accuracy alone, a system that declines every question makes no
// mistake.
type Refusals struct {
	AnsweredRight  int `json:"answered_right"`
	AnsweredWrong  int `json:"answered_wrong"`
	RefusedRightly int `json:"refused_rightly"` // the evidence did not contain the answer
	RefusedWrongly int `json:"refused_wrongly"` // the evidence contained the answer
	// Unscored counts answers without a verdict, and refusals with unknown evidence.
	Unscored int `json:"unscored"`
}

// Add counts one question. answerable reports whether the evidence contained the answer; it matters for
// refusals only, since an answer is right or wrong whatever its source is. A verdict is right if its value is
// 1.
func (r *Refusals) Add(refused, answerable bool, v judge.Verdict) {
	switch {
	case refused && answerable:
		r.RefusedWrongly++
	case refused:
		r.RefusedRightly++
	case v.State != judge.Scored:
		r.Unscored++
	case v.Value == 1:
		r.AnsweredRight++
	default:
		r.AnsweredWrong++
	}
}
