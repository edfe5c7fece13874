// SPDX-License-Identifier: Apache-2.0

package report

import (
	"maps"
	"math"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// tally collects the questions of one part of a report, such as a domain, by type.
type tally struct {
	types   []benchmark.Type
	words   bool // the judge only compares words
	run     bool // the system was run, so there are figures
	reports bool // the system reads no source text, see provenance
	byType  map[string]*typeTally
}

// typeTally collects the questions of one type: a sample for each of allFigures, in their order, and the sums
// of the judge's verdicts.
type typeTally struct {
	n, unscored int
	refusals    stats.Refusals
	samples     []sample
	scores      map[string]*sample
	verdicts    stats.Tally
}

func newTally(run *benchmark.Run, of benchmark.SystemRun) *tally {
	t := &tally{
		types: run.Dataset.Types, words: labelOf(run).words, run: of.NotApplicable == "", reports: provenance(of),
		byType: map[string]*typeTally{benchmark.All: newTypeTally()},
	}
	for _, kind := range t.types { // types without questions get an entry too
		t.byType[kind.Key] = newTypeTally()
	}
	return t
}

func newTypeTally() *typeTally {
	return &typeTally{samples: make([]sample, len(allFigures)), scores: make(map[string]*sample)}
}

func (t *tally) add(r benchmark.Result) {
	if r.Skipped {
		return
	}
	for _, key := range []string{r.Item.Type, benchmark.All} {
		tt := t.byType[key]
		tt.n++
		if t.run {
			tt.add(r, t.reports)
		}
	}
}

// add adds a question. With reports, figures that describe source texts stay undefined.
func (t *typeTally) add(r benchmark.Result, reports bool) {
	for i, f := range allFigures {
		if f.of != nil && !(reports && f.sources) {
			t.samples[i].add(f.of(r), r)
		}
	}
	r.CountRefusal(&t.refusals)
	switch j := r.Judgment; {
	case j.Fact != nil:
		for name, v := range j.Fact.Scores {
			if t.scores[name] == nil {
				t.scores[name] = &sample{}
			}
			if v.State == judge.Scored {
				t.scores[name].add(&v.Value, r)
			}
		}
		t.verdicts.AddFact(*j.Fact)
		if j.Fact.State == judge.Unscored {
			t.unscored++
		}
	case j.Summary != nil:
		t.verdicts.AddSummary(*j.Summary)
		if j.Summary.Recall.State == judge.Unscored || j.Summary.Precision.State == judge.Unscored {
			t.unscored++
		}
	}
}

// figures sets the means and the named scores of in. It returns the intervals of the judge's figures and those
// of the other figures.
func (t *typeTally) figures(in *Type) (judged, others map[string]Interval) {
	judged, others = make(map[string]Interval), make(map[string]Interval)
	for i, f := range allFigures {
		if f.of == nil {
			if v, ok := t.verdicts.Figure(stats.FigureF1OfMeans); ok && v.Defined {
				*f.at(in) = ref(v.Value)
			}
			continue
		}
		*f.at(in) = t.samples[i].mean()
		switch v := t.samples[i].interval(); {
		case v == nil || f.size:
		case f.judged:
			judged[f.key] = *v
		default:
			others[f.key] = *v
		}
	}
	if v := in.Verdicts(); v != nil {
		v.Scores = make(map[string]float64)
		for name, s := range t.scores {
			if m := s.mean(); m != nil {
				v.Scores[name] = *m
			}
			if i := s.interval(); i != nil {
				judged[name] = *i
			}
		}
	}
	return judged, others
}

func (t *tally) report() Types {
	out := make(Types)
	k := make(map[string]int)
	for _, kind := range t.types {
		k[kind.Key] = kind.K
	}
	for key, tt := range t.byType {
		r := Type{N: tt.n, K: k[key]}
		if t.run && tt.n > 0 {
			j := tt.judged()
			if t.words {
				r.Lexical = j
			} else {
				r.Judged = j
			}
			j.Intervals, r.Intervals = tt.figures(&r)
			if !t.words {
				maps.Copy(r.Intervals, j.Intervals) // the JSON has one key "intervals" for both
			}
		}
		out[key] = r
	}
	return out
}

// judged returns the counts of the verdicts, and the bounds of their figures.
func (t *typeTally) judged() *Judged {
	v := t.verdicts
	j := &Judged{
		Unscored: float64(t.unscored) / float64(t.n), Refusals: t.refusals, Protocol: v.Protocol,
		Bounds: make(map[string]Interval), Reasons: make(map[string]int),
	}
	for _, f := range v.Figures() {
		if f.Unscored == 0 || f.Low == f.High {
			continue
		}
		key := f.Name
		if key == stats.FigureMeanOfF1 {
			key = "f1_mean_of_questions"
		}
		j.Bounds[key] = Interval{f.Low, f.High}
	}
	for _, m := range []stats.Mean{v.Accuracy, v.Recall} {
		for reason, n := range m.Unscored {
			j.Reasons[reason] += n
		}
	}
	return j
}

func (t *tally) overall() Overall {
	o := Overall{Types: t.report()}
	if all := o.Types[benchmark.All]; all.Judged != nil {
		o.OverallJudged = &OverallJudged{all.Accuracy}
	} else if all.Lexical != nil {
		o.Lexical = &OverallJudged{all.Lexical.Accuracy}
	}
	return o
}

// MinQuestions is the least number of questions for an interval or a test. With fewer it would mislead.
const MinQuestions = 10

// sample holds the values of a figure over questions, with the source page of each: questions about the same
// page are not independent.
type sample struct {
	values    []float64
	sources   []string
	questions int // number of questions, not counting repetitions
}

func (s *sample) add(v *float64, r benchmark.Result) {
	if v != nil {
		s.values = append(s.values, *v)
		s.sources = append(s.sources, r.Domain+"\x00"+r.Item.Source())
		if r.Item.Repeat == 0 {
			s.questions++
		}
	}
}

// mean returns the mean of the values, nil if there are none.
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

// interval returns the 95 % interval of the mean, cut to 0..1: Student's t over source pages. If every value is
// 0 or 1, it is at least as wide as Wilson's interval, which has a width even if all values are equal. It is
// nil if there are too few questions.
func (s *sample) interval() *Interval {
	if s.questions < MinQuestions {
		return nil
	}
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
	if w, err := stats.Wilson(ones*s.questions/len(s.values), s.questions, stats.Options{}); err == nil {
		out = Interval{min(out[0], w.Low), max(out[1], w.High)}
	}
	return &out
}

// quantile returns the smallest value such that at least a share q of the sorted values are not larger.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(i, 0)]
}

func round(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(f*scale) / scale
}

func ref(f float64) *float64 { return &f }
