// SPDX-License-Identifier: Apache-2.0

package report

import (
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge"
)

// figure is one figure of a report.
type figure struct {
	// key names it in files and flags, title heads its columns.
	key, title string
	// of is the figure of one question; the mean over the questions stands in
	// the report. Without it the figure is the one that the tally of verdicts
	// has under the name tally.
	of    func(benchmark.Result) *float64
	tally string
	// at is its place in a report, nil where that part of it is missing.
	at func(*Type) **float64
	// judged tells that a judge gives it, compared that systems are compared by
	// it in pairs, size that it is no percentage. What is plain is never marked
	// as the best of its column.
	judged, compared, size, plain bool
	// ranked tells that it is of the ranked chunks.
	ranked bool
}

// figures are all that a [Type] holds but for the share without a score, in the
// order of the CSV file; the micro figures are not in it.
var figures = []figure{
	evidence("evidence_recall_at_2", "R@2", func(e *benchmark.Evidence) **float64 { return &e.RecallAt2 }).ofRanking(),
	evidence("evidence_recall_at_5", "R@5", func(e *benchmark.Evidence) **float64 { return &e.RecallAt5 }).ofRanking().headline(),
	evidence("evidence_recall_at_10", "R@10", func(e *benchmark.Evidence) **float64 { return &e.RecallAt10 }).ofRanking(),
	evidence("hit_at_5", "Hit@5", func(e *benchmark.Evidence) **float64 { return &e.HitAt5 }).ofRanking(),
	evidence("all_at_5", "All@5", func(e *benchmark.Evidence) **float64 { return &e.AllAt5 }).ofRanking(),
	evidence("ndcg_at_10", "nDCG@10", func(e *benchmark.Evidence) **float64 { return &e.NDCGAt10 }).ofRanking().headline(),
	evidence("mrr", "MRR", func(e *benchmark.Evidence) **float64 { return &e.MRR }).ofRanking(),
	evidence("evidence_recall", "Evidence recall", func(e *benchmark.Evidence) **float64 { return &e.PromptRecall }),
	// What a prompt was made from says nothing of what was found.
	evidence("provenance_recall", "Provenance recall", func(e *benchmark.Evidence) **float64 { return &e.ProvenanceRecall }).unmarked(),
	evidence("statement_found", "Found", func(e *benchmark.Evidence) **float64 { return &e.Found }),
	{
		key: "context_tokens", title: "Context tokens", size: true, plain: true,
		of: func(r benchmark.Result) *float64 {
			if r.Answer.Uncounted || r.Answer.Foreign || r.Skipped || r.Answer.Error != "" {
				return nil
			}
			return ref(float64(r.Answer.ContextTokens()))
		},
		at: func(t *Type) **float64 { return &t.ContextTokens },
	},
	verdict("accuracy", "Accuracy", fact, func(j *Judged) **float64 { return &j.Accuracy }).headline(),
	verdict("recall", "Recall", statements(func(j judge.SummaryJudgment) judge.Verdict { return j.Recall }), func(j *Judged) **float64 { return &j.Recall }),
	verdict("precision", "Precision", statements(func(j judge.SummaryJudgment) judge.Verdict { return j.Precision }), func(j *Judged) **float64 { return &j.Precision }),
	verdict("f1_mean_of_questions", "Mean F1", statements(judge.SummaryJudgment.F1), func(j *Judged) **float64 { return &j.F1MeanOfQuestions }).headline(),
	tallied("f1_of_means", "F1 of means", judge.FigureF1OfMeans, func(j *Judged) **float64 { return &j.F1OfMeans }),
	tallied("micro_recall", "Micro recall", judge.FigureMicroRecall, func(j *Judged) **float64 { return &j.MicroRecall }),
	tallied("micro_precision", "Micro precision", judge.FigureMicroPrecision, func(j *Judged) **float64 { return &j.MicroPrecision }),
	tallied("micro_f1", "Micro F1", judge.FigureMicroF1, func(j *Judged) **float64 { return &j.MicroF1 }),
	verdict("precision_ceiling", "Ceiling", statements(func(j judge.SummaryJudgment) judge.Verdict { return j.Ceiling }), func(j *Judged) **float64 { return &j.PrecisionCeiling }).unmarked(),
	verdict("grounded", "Grounded", grounded, func(j *Judged) **float64 { return &j.Grounded }),
}

func evidence(key, title string, in func(*benchmark.Evidence) **float64) figure {
	return figure{
		key: key, title: title,
		of: func(r benchmark.Result) *float64 { return *in(&r.Evidence) },
		at: func(t *Type) **float64 { return in(&t.Evidence) },
	}
}

func verdict(key, title string, of func(benchmark.Result) *float64, in func(*Judged) **float64) figure {
	return figure{key: key, title: title, judged: true, of: of, at: func(t *Type) **float64 {
		if j := t.Verdicts(); j != nil {
			return in(j)
		}
		return nil
	}}
}

func tallied(key, title, name string, in func(*Judged) **float64) figure {
	f := verdict(key, title, nil, in)
	f.tally = name
	return f
}

func (f figure) headline() figure  { f.compared = true; return f }
func (f figure) unmarked() figure  { f.plain = true; return f }
func (f figure) ofRanking() figure { f.ranked = true; return f }

// fact is the verdict on an answer that is right or wrong.
func fact(r benchmark.Result) *float64 {
	if j := r.Judgment.Fact; j != nil && j.State == judge.Scored {
		return ref(j.Value)
	}
	return nil
}

// grounded is the verdict on what the evidence supports of an answer of any type.
func grounded(r benchmark.Result) *float64 {
	if j := r.Judgment.Fact; j != nil && j.Grounded.State == judge.Scored {
		return ref(j.Grounded.Value)
	}
	return statements(func(j judge.SummaryJudgment) judge.Verdict { return j.Grounded })(r)
}

// statements is a verdict on an answer judged by statements.
func statements(of func(judge.SummaryJudgment) judge.Verdict) func(benchmark.Result) *float64 {
	return func(r benchmark.Result) *float64 {
		if r.Judgment.Summary == nil {
			return nil
		}
		if v := of(*r.Judgment.Summary); v.State == judge.Scored {
			return ref(v.Value)
		}
		return nil
	}
}

// value is the figure in a report; nil where it is not defined.
func (f figure) value(t Type) *float64 {
	if at := f.at(&t); at != nil {
		return *at
	}
	return nil
}

// find returns a figure of the table, and false for the name of a score.
func find(key string) (figure, bool) {
	for _, f := range figures {
		if f.key == key {
			return f, true
		}
	}
	return figure{}, false
}

// score is a named score with its interval.
func (t Type) score(name string) measured {
	v := t.Verdicts()
	if v == nil {
		return measured{}
	}
	var m measured
	if value, ok := v.Scores[name]; ok {
		m.value = &value
	}
	if i, ok := v.Intervals[name]; ok {
		m.interval = &i
	} else if i, ok := t.Intervals[name]; ok {
		m.interval = &i
	}
	return m
}

// measured is a figure of a type of questions with its interval.
func (t Types) measured(of, key string) measured {
	in := t[of]
	f, ok := find(key)
	if !ok {
		return in.score(key)
	}
	m := measured{value: f.value(in), size: f.size, unmarked: f.plain, ranked: f.ranked}
	intervals := in.Intervals
	if v := in.Verdicts(); f.judged && v != nil {
		intervals = v.Intervals
	}
	if i, ok := intervals[key]; ok {
		m.interval = &i
	}
	return m
}

// unscoredKey is the key of the share of questions without a score.
const unscoredKey = "unscored"

// Keys are the keys of the figures of a [Type], in the order of the CSV file.
func Keys() []string {
	var keys []string
	for _, f := range figures {
		if f.tally == "" || f.key == "f1_of_means" {
			keys = append(keys, f.key)
		}
	}
	return append(keys, unscoredKey)
}

// Figure returns a figure by its key, and false if it is not defined.
func (t Type) Figure(key string) (float64, bool) {
	var value *float64
	if v := t.Verdicts(); key == unscoredKey && v != nil {
		value = &v.Unscored
	}
	if f, ok := find(key); ok {
		value = f.value(t)
	} else if m := t.score(key); m.value != nil {
		value = m.value
	}
	if value == nil {
		return 0, false
	}
	return *value, true
}

// spelled is the key of a figure in words.
func spelled(key string) string {
	return strings.ReplaceAll(strings.ReplaceAll(key, "_", " "), "ndcg", "nDCG")
}
