// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// report computes the report from the records.
func (s *state) report() (*Report, error) {
	r := &Report{Version: ReportVersion, Kit: s.opts.Kit, Config: s.config}
	for _, e := range s.Systems {
		r.Systems = append(r.Systems, s.systemReport(e))
	}
	r.Published = s.Dataset.Published
	var err error
	if r.Pairs, err = s.pairs(); err == nil {
		r.EqualContext, err = s.equalContext()
	}
	return r, err
}

func (s *state) systemReport(e Entry) SystemReport {
	out := SystemReport{System: e.Name, NotApplicable: e.NotApplicable}
	overall := s.newTally(e)
	var millis []float64
	var peak float64
	for _, d := range s.Dataset.Domains {
		t := s.newTally(e)
		for _, it := range s.items[d.Name] {
			p := s.place(e, d, it)
			a, answered := get(s.log, s.log.answers, p)
			j := s.log.judgments[p]
			if answered {
				millis = append(millis, a.Millis)
			}
			t.add(d.Name, it, a, j)
			overall.add(d.Name, it, a, j)
			out.AnswerUsage = out.AnswerUsage.Add(a.Usage)
			out.JudgeUsage = out.JudgeUsage.Add(judgeUsage(j))
		}
		index := s.log.indexes[cell{e.Name, d.Name}]
		dr := DomainReport{Domain: d.Name, Types: t.types(), Index: IndexReport{
			IndexStats: index.Stats, Bytes: index.Bytes, Degrees: index.Degrees, Edges: index.Edges,
		}}
		if !s.opts.NoTimings && e.NotApplicable == "" {
			dr.Index.Seconds = ref(round(index.Seconds, 3))
		}
		out.Domains = append(out.Domains, dr)
		peak = max(peak, s.log.cells[cell{e.Name, d.Name}].PeakRSSMB)
	}
	out.Overall = overall.overall()
	out.Cost, out.Sweep = out.cost(), s.sweep(e)
	if !s.opts.NoTimings && len(millis) > 0 {
		slices.Sort(millis)
		out.QueryMsP50 = ref(quantile(millis, 0.50))
		out.QueryMsP99 = ref(quantile(millis, 0.99))
		if peak > 0 {
			out.PeakRSSMB = ref(round(peak, 1))
		}
	}
	return out
}

func judgeUsage(j JudgmentRecord) graphrag.Usage {
	switch {
	case j.Fact != nil:
		return j.Fact.Usage
	case j.Summary != nil:
		return j.Summary.Usage
	}
	return graphrag.Usage{}
}

// quantile is the smallest value that at least a share q of the sorted values
// do not exceed.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(i, 0)]
}

func round(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(f*scale) / scale
}

// tally gathers the questions of one report cell by type.
type tally struct {
	offline bool
	run     bool // the system was run: there are figures
	topK    func(graphrag.QuestionType) int
	byType  map[graphrag.QuestionType]*typeTally
}

// typeTally gathers the questions of one type: one sample per figure, in the
// order of figures, and the judge's own aggregates.
type typeTally struct {
	n, unscored int
	samples     []sample
	tokens      sample
	verdicts    judge.Tally
}

func (s *state) newTally(e Entry) *tally {
	t := &tally{
		offline: s.opts.Kit == OfflineKit,
		run:     e.NotApplicable == "",
		topK:    s.topK,
		byType:  make(map[graphrag.QuestionType]*typeTally),
	}
	for _, key := range []graphrag.QuestionType{graphrag.SingleFact, graphrag.MultiFact, graphrag.Summary, All} {
		t.of(key) // also where a domain has none, as nature has no multi-fact
	}
	return t
}

func (t *tally) of(key graphrag.QuestionType) *typeTally {
	if t.byType[key] == nil {
		t.byType[key] = &typeTally{samples: make([]sample, len(figures))}
	}
	return t.byType[key]
}

func (t *tally) add(domain string, it Item, a AnswerRecord, j JudgmentRecord) {
	for _, key := range []graphrag.QuestionType{it.Question.Type, All} {
		tt := t.of(key)
		tt.n++
		if t.run {
			tt.add(source(domain, it), a, j)
		}
	}
}

func (t *typeTally) add(source string, a AnswerRecord, j JudgmentRecord) {
	for i, f := range figures {
		t.samples[i].add(f.value(a, j), source)
	}
	t.tokens.add(ref(float64(a.ContextTokens)), source)
	answerable := a.Metrics.PromptRecall != nil && *a.Metrics.PromptRecall == 1
	switch {
	case j.Fact != nil:
		t.verdicts.AddFact(*j.Fact)
		t.verdicts.Refusals.Add(a.Refused, answerable, j.Fact.Verdict)
		if j.Fact.State == judge.Unscored {
			t.unscored++
		}
	case j.Summary != nil:
		t.verdicts.AddSummary(*j.Summary)
		t.verdicts.Refusals.Add(a.Refused, answerable, j.Summary.Recall)
		if j.Summary.Recall.State == judge.Unscored || j.Summary.Precision.State == judge.Unscored {
			t.unscored++
		}
	}
}

// mean is the mean of a figure, by its key; nil where it is not defined.
func (t *typeTally) mean(key string) *float64 {
	for i, f := range figures {
		if f.key == key {
			return t.samples[i].mean()
		}
	}
	return nil
}

// intervals are those of the figures that a judge gives, or of the others.
func (t *typeTally) intervals(judged bool) map[string]Interval {
	out := make(map[string]Interval)
	for i, f := range figures {
		if f.judged != judged {
			continue
		}
		if v := t.samples[i].interval(); v != nil {
			out[f.key] = *v
		}
	}
	return out
}

func (t *tally) types() Types {
	out := make(Types)
	for key, tt := range t.byType {
		r := TypeReport{N: tt.n}
		if key != All {
			r.K = t.topK(key)
		}
		if t.run && tt.n > 0 {
			r.Evidence = Evidence{
				RecallAt5: tt.mean("evidence_recall_at_5"), RecallAt10: tt.mean("evidence_recall_at_10"),
				HitAt5: tt.mean("hit_at_5"), AllAt5: tt.mean("all_at_5"), MRR: tt.mean("mrr"),
				PromptRecall: tt.mean("evidence_recall"), ProvenanceRecall: tt.mean("provenance_recall"),
				Coverage: tt.mean("statement_coverage"),
			}
			r.ContextTokens = tt.tokens.mean()
			r.Intervals = tt.intervals(false)
			if j := tt.judged(); t.offline {
				r.Lexical = j
			} else {
				r.Judged = j
				maps.Copy(r.Intervals, j.Intervals) // one key in the JSON for both
			}
		}
		out[key] = r
	}
	return out
}

func (t *typeTally) judged() *Judged {
	v := t.verdicts
	j := &Judged{
		Accuracy: t.mean("accuracy"),
		Recall:   t.mean("recall"), Precision: t.mean("precision"),
		F1MeanOfQuestions: t.mean("f1_mean_of_questions"),
		F1OfMeans:         defined(v, judge.FigureF1OfMeans),
		MicroRecall:       defined(v, judge.FigureMicroRecall),
		MicroPrecision:    defined(v, judge.FigureMicroPrecision),
		MicroF1:           defined(v, judge.FigureMicroF1),
		Intervals:         t.intervals(true),
		Unscored:          float64(t.unscored) / float64(t.n),
		Refusals:          v.Refusals,
		Protocol:          v.Protocol,
	}
	for _, f := range v.Figures() {
		if f.Unscored == 0 || f.Low == f.High {
			continue
		}
		if j.Bounds == nil {
			j.Bounds, j.Reasons = make(map[string]Interval), make(map[string]int)
		}
		key := f.Name
		if key == judge.FigureMeanOfF1 {
			key = "f1_mean_of_questions"
		}
		j.Bounds[key] = Interval{f.Low, f.High}
	}
	for _, m := range []judge.Mean{v.Accuracy, v.Recall} {
		for reason, n := range m.Unscored {
			if j.Reasons == nil {
				j.Reasons = make(map[string]int)
			}
			j.Reasons[reason] += n
		}
	}
	return j
}

func defined(t judge.Tally, name string) *float64 {
	if f, ok := t.Figure(name); ok && f.Defined {
		return ref(f.Value)
	}
	return nil
}

func (t *tally) overall() Overall {
	o := Overall{Types: t.types()}
	if all := t.byType[All]; t.run && all.n > 0 {
		j := &OverallJudged{AvgAccuracy: all.mean("accuracy")}
		if t.offline {
			o.Lexical = j
		} else {
			o.OverallJudged = j
		}
	}
	return o
}
