// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// figure is one measured figure of a question, under its key in the report.
type figure struct {
	key    string
	judged bool
	value  func(AnswerRecord, JudgmentRecord) *float64
}

// figures are those that get intervals, in report order.
var figures = []figure{
	{"evidence_recall_at_5", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.RecallAt5 }},
	{"evidence_recall_at_10", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.RecallAt10 }},
	{"hit_at_5", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.HitAt5 }},
	{"all_at_5", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.AllAt5 }},
	{"mrr", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.MRR }},
	{"evidence_recall", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.PromptRecall }},
	{"provenance_recall", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.ProvenanceRecall }},
	{"statement_coverage", false, func(a AnswerRecord, _ JudgmentRecord) *float64 { return a.Metrics.Coverage }},
	{"accuracy", true, func(_ AnswerRecord, j JudgmentRecord) *float64 { return j.accuracy() }},
	{"recall", true, func(_ AnswerRecord, j JudgmentRecord) *float64 {
		return j.summary(func(s judge.SummaryJudgment) judge.Verdict { return s.Recall })
	}},
	{"precision", true, func(_ AnswerRecord, j JudgmentRecord) *float64 {
		return j.summary(func(s judge.SummaryJudgment) judge.Verdict { return s.Precision })
	}},
	{"f1_mean_of_questions", true, func(_ AnswerRecord, j JudgmentRecord) *float64 {
		return j.summary(judge.SummaryJudgment.F1)
	}},
}

// compared are the figures by which systems are compared in pairs.
var compared = map[string]bool{"evidence_recall_at_5": true, "accuracy": true, "f1_mean_of_questions": true}

func (j JudgmentRecord) accuracy() *float64 {
	if j.Fact == nil || j.Fact.State != judge.Scored {
		return nil
	}
	return ref(j.Fact.Value)
}

func (j JudgmentRecord) summary(of func(judge.SummaryJudgment) judge.Verdict) *float64 {
	if j.Summary == nil {
		return nil
	}
	if v := of(*j.Summary); v.State == judge.Scored {
		return ref(v.Value)
	}
	return nil
}

// sample gathers one figure over questions, with the source page each is
// about: questions about one page are not independent.
type sample struct {
	values  []float64
	sources []string
}

func (s *sample) add(v *float64, source string) {
	if v != nil {
		s.values = append(s.values, *v)
		s.sources = append(s.sources, source)
	}
}

// mean is nil where nothing was added.
func (s *sample) mean() *float64 {
	if len(s.values) == 0 {
		return nil
	}
	var sum float64
	for _, v := range s.values {
		sum += v
	}
	return ref(sum / float64(len(s.values)))
}

// interval is the 95 % interval of the mean, cut to 0..1: Student's t over
// source pages. Where every value is 0 or 1 it is not narrower than Wilson's,
// which has a width even when all values are equal. It is nil where there are
// too few questions.
func (s *sample) interval() *Interval {
	i, err := stats.StudentT(s.values, stats.Number(s.sources), stats.Options{})
	if err != nil {
		return nil
	}
	out := Interval{max(i.Low, 0), min(i.High, 1)}
	ones := 0
	for _, v := range s.values {
		if v != 0 && v != 1 {
			return &out
		}
		ones += int(v)
	}
	if w, err := stats.Wilson(ones, len(s.values), stats.Options{}); err == nil {
		out = Interval{min(out[0], w.Low), max(out[1], w.High)}
	}
	return &out
}

// Interval is a 95 % confidence interval, low then high.
type Interval [2]float64

// source names the page a question is about: the first of its gold pages.
func source(domain string, it Item) string {
	if len(it.Gold) == 0 || len(it.Gold[0]) == 0 {
		return domain + "\x00" + it.Question.ID
	}
	return domain + "\x00" + it.Gold[0][0]
}

// PairReport compares two systems on the questions for which both have the
// figure.
type PairReport struct {
	A      string `json:"a"`
	B      string `json:"b"`
	Figure string `json:"figure"`
	// Lexical tells that the figure is a lexical judge's.
	Lexical bool `json:"lexical,omitempty"`
	N       int  `json:"n"`
	// Difference is the mean of B minus the mean of A, Low to High its 95 %
	// interval by the paired bootstrap over source pages.
	Difference float64 `json:"difference"`
	Low        float64 `json:"low"`
	High       float64 `json:"high"`
	// Detectable is the least difference that so many questions show.
	Detectable float64 `json:"detectable"`
	// P is the p-value of the permutation test, PHolm the same corrected for
	// all pairs and figures of the report.
	P     float64 `json:"p"`
	PHolm float64 `json:"p_holm"`
}

// pairs compares every pair of systems by the headline figures.
func (s *state) pairs() ([]PairReport, error) {
	var run []Entry
	for _, e := range s.Systems {
		if e.NotApplicable == "" {
			run = append(run, e)
		}
	}
	var out []PairReport
	for _, f := range figures {
		if !compared[f.key] {
			continue
		}
		for i, a := range run {
			for _, b := range run[i+1:] {
				p, err := s.pair(f, a.Name, b.Name)
				if errors.Is(err, stats.ErrTooFew) {
					continue
				}
				if err != nil {
					return nil, fmt.Errorf("benchmark: comparing %s and %s by %s: %w", a.Name, b.Name, f.key, err)
				}
				out = append(out, p)
			}
		}
	}
	return out, holm(out)
}

func (s *state) pair(f figure, a, b string) (PairReport, error) {
	var left, right sample
	for _, d := range s.Dataset.Domains {
		for _, it := range s.items[d.Name] {
			of := func(system string) *float64 {
				p := s.place(Entry{Name: system}, d, it)
				return f.value(s.log.answers[p], s.log.judgments[p])
			}
			if x, y := of(a), of(b); x != nil && y != nil {
				left.add(x, source(d.Name, it))
				right.add(y, source(d.Name, it))
			}
		}
	}
	c, err := stats.Compare(left.values, right.values, stats.Number(left.sources), stats.Options{})
	p := newPairReport(a, b, f.key, c)
	p.Lexical = f.judged && s.opts.Kit == OfflineKit
	return p, err
}

func newPairReport(a, b, figure string, c stats.Comparison) PairReport {
	return PairReport{
		A: a, B: b, Figure: figure, N: c.Effect.N,
		Difference: c.Effect.Estimate, Low: c.Effect.Low, High: c.Effect.High,
		Detectable: c.Detectable, P: c.Test.P,
	}
}

// holm corrects the p-values of all comparisons as one family.
func holm(pairs []PairReport) error {
	p := make([]float64, len(pairs))
	for i := range pairs {
		p[i] = pairs[i].P
	}
	corrected, err := stats.Holm(p)
	if err != nil {
		return fmt.Errorf("benchmark: correcting p-values: %w", err)
	}
	for i := range pairs {
		pairs[i].PHolm = corrected[i]
	}
	return nil
}

// pairTable compares, by each figure, the best system with every other.
func (r *Report) pairTable() Table {
	t := Table{
		Title:      "The best system and the others",
		RowHeading: "Second minus first",
		Groups:     []ColumnGroup{{"", []string{"Figure", "Questions", "Points", "95 % interval", "Detectable", "p", "p (Holm)"}, false}},
		Notes: []string{"Paired over the same questions, by source page: bootstrap interval and permutation test; p (Holm) is corrected for all pairs of systems, which are in report.json. " +
			"Detectable is the least difference that so many questions show (power 0.8)."},
	}
	best := r.best()
	for _, p := range r.Pairs {
		if b := best[p.Figure]; p.A != b && p.B != b {
			continue
		}
		name := strings.ReplaceAll(p.Figure, "_", " ")
		if p.Lexical {
			name = "lexical " + name
		}
		t.addTexts(p.B+" − "+p.A,
			name, count(p.N), points(p.Difference), points(p.Low)+" to "+points(p.High), points(p.Detectable),
			pValue(p.P), pValue(p.PHolm))
	}
	return t
}

// best names, for each figure of the pairs, the system that comes out of its
// comparisons with the most points in all; the first of equal ones.
func (r *Report) best() map[string]string {
	sums := make(map[string]map[string]float64)
	for _, p := range r.Pairs {
		if sums[p.Figure] == nil {
			sums[p.Figure] = make(map[string]float64)
		}
		sums[p.Figure][p.A] -= p.Difference
		sums[p.Figure][p.B] += p.Difference
	}
	best := make(map[string]string)
	for figure, of := range sums {
		for _, s := range r.Systems {
			if sum, ok := of[s.System]; ok && (best[figure] == "" || sum > of[best[figure]]) {
				best[figure] = s.System
			}
		}
	}
	return best
}

func pValue(p float64) string { return strconv.FormatFloat(p, 'f', 4, 64) }
