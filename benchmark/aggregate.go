// SPDX-License-Identifier: Apache-2.0

package benchmark

import (
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// report computes the report from the records.
func (s *state) report() *Report {
	r := &Report{Version: ReportVersion, Kit: s.opts.Kit, Config: s.config}
	for _, e := range s.Systems {
		r.Systems = append(r.Systems, s.systemReport(e))
	}
	return r
}

func (s *state) systemReport(e Entry) SystemReport {
	out := SystemReport{System: e.Name, NotApplicable: e.NotApplicable}
	overall := s.newTally(e)
	var millis []float64
	var peak float64
	for _, d := range s.Dataset.Domains {
		t := s.newTally(e)
		for _, it := range s.items[d.Name] {
			p := place{e.Name, d.Name, it.Question.ID}
			a, answered := get(s.log, s.log.answers, p)
			j := s.log.judgments[p]
			if answered {
				millis = append(millis, a.Millis)
			}
			t.add(it, a, j)
			overall.add(it, a, j)
			out.AnswerUsage = out.AnswerUsage.Add(a.Usage)
			out.JudgeUsage = out.JudgeUsage.Add(judgeUsage(j))
		}
		index := s.log.indexes[cell{e.Name, d.Name}]
		dr := DomainReport{Domain: d.Name, Index: IndexReport{IndexStats: index.Stats}, Types: t.types()}
		if !s.opts.NoTimings && e.NotApplicable == "" {
			dr.Index.Seconds = ref(round(index.Seconds, 3))
		}
		out.Domains = append(out.Domains, dr)
		peak = max(peak, s.log.cells[cell{e.Name, d.Name}].PeakRSSMB)
	}
	out.Overall = overall.overall()
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

// mean is a running mean of the figures that are defined.
type mean struct {
	sum float64
	n   int
}

func (m *mean) add(f *float64) {
	if f != nil {
		m.sum += *f
		m.n++
	}
}

func (m *mean) addVerdict(v judge.Verdict) {
	if v.State == judge.Scored {
		m.add(&v.Value)
	}
}

// value is nil when nothing was added.
func (m *mean) value() *float64 {
	if m.n == 0 {
		return nil
	}
	return ref(m.sum / float64(m.n))
}

// tally gathers the questions of one report cell by type.
type tally struct {
	offline bool
	run     bool // the system was run: there are figures
	topK    func(graphrag.QuestionType) int
	byType  map[graphrag.QuestionType]*typeTally
}

type typeTally struct {
	n, unscored                                           int
	recall5, recall10, hit5, all5, mrr, used, from, cover mean
	tokens, accuracy, recall, precision, f1               mean
}

func (s *state) newTally(e Entry) *tally {
	t := &tally{
		offline: s.opts.Kit == OfflineKit,
		run:     e.NotApplicable == "",
		topK:    s.topK,
		byType:  make(map[graphrag.QuestionType]*typeTally),
	}
	for _, key := range []graphrag.QuestionType{graphrag.SingleFact, graphrag.MultiFact, graphrag.Summary, All} {
		t.byType[key] = new(typeTally) // also where a domain has none, as nature has no multi-fact
	}
	return t
}

func (t *tally) add(it Item, a AnswerRecord, j JudgmentRecord) {
	for _, key := range []graphrag.QuestionType{it.Question.Type, All} {
		if t.byType[key] == nil {
			t.byType[key] = new(typeTally)
		}
		tt := t.byType[key]
		tt.n++
		if t.run {
			tt.addAnswer(a)
			tt.addJudgment(j)
		}
	}
}

func (t *typeTally) addAnswer(a AnswerRecord) {
	m := a.Metrics
	t.recall5.add(m.RecallAt5)
	t.recall10.add(m.RecallAt10)
	t.hit5.add(m.HitAt5)
	t.all5.add(m.AllAt5)
	t.mrr.add(m.MRR)
	t.used.add(m.PromptRecall)
	t.from.add(m.ProvenanceRecall)
	t.cover.add(m.Coverage)
	t.tokens.add(ref(float64(a.ContextTokens)))
}

func (t *typeTally) addJudgment(j JudgmentRecord) {
	var states []judge.State
	if f := j.Fact; f != nil {
		t.accuracy.addVerdict(f.Verdict)
		states = append(states, f.State)
	}
	if sm := j.Summary; sm != nil {
		t.recall.addVerdict(sm.Recall)
		t.precision.addVerdict(sm.Precision)
		t.f1.addVerdict(sm.F1())
		states = append(states, sm.Recall.State, sm.Precision.State)
	}
	if slices.Contains(states, judge.Unscored) {
		t.unscored++
	}
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
				RecallAt5: tt.recall5.value(), RecallAt10: tt.recall10.value(),
				HitAt5: tt.hit5.value(), AllAt5: tt.all5.value(), MRR: tt.mrr.value(),
				PromptRecall: tt.used.value(), ProvenanceRecall: tt.from.value(), Coverage: tt.cover.value(),
			}
			r.ContextTokens = tt.tokens.value()
			if j := tt.judged(); t.offline {
				r.Lexical = j
			} else {
				r.Judged = j
			}
		}
		out[key] = r
	}
	return out
}

func (t *typeTally) judged() *Judged {
	j := &Judged{
		Accuracy: t.accuracy.value(),
		Recall:   t.recall.value(), Precision: t.precision.value(),
		F1MeanOfQuestions: t.f1.value(),
		Unscored:          float64(t.unscored) / float64(t.n),
	}
	if j.Recall != nil && j.Precision != nil {
		j.F1OfMeans = ref(judge.HarmonicMean(*j.Recall, *j.Precision))
	}
	return j
}

func (t *tally) overall() Overall {
	o := Overall{Types: t.types()}
	if all := t.byType[All]; t.run && all != nil {
		j := &OverallJudged{AvgAccuracy: all.accuracy.value()}
		if t.offline {
			o.Lexical = j
		} else {
			o.OverallJudged = j
		}
	}
	return o
}
