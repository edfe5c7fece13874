// SPDX-License-Identifier: Apache-2.0

package compare

import (
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge"
)

// figure is what answers are compared by: of of an answer is nil where there is none.
type figure struct {
	name string
	of   func(report.Judgment) *float64
	// verdict tells that it is 1 or 0 of each question, and so can flip.
	verdict bool
	// judged tells that a judge decides it.
	judged bool
}

// figures are in the order of the report.
var figures = []figure{
	{name: "evidence recall", of: func(j report.Judgment) *float64 { return j.Metrics.PromptRecall }},
	{name: "evidence recall at 5", of: func(j report.Judgment) *float64 { return j.Metrics.RecallAt5 }},
	{name: "evidence recall at 10", of: func(j report.Judgment) *float64 { return j.Metrics.RecallAt10 }},
	{name: "accuracy", of: accuracy, verdict: true, judged: true},
	{name: "recall", of: ofSummary(func(s judge.SummaryJudgment) judge.Verdict { return s.Recall }), judged: true},
	{name: "precision", of: ofSummary(func(s judge.SummaryJudgment) judge.Verdict { return s.Precision }), judged: true},
	{name: "f1", of: ofSummary(judge.SummaryJudgment.F1), judged: true},
}

func accuracy(j report.Judgment) *float64 {
	if j.Fact == nil {
		return nil
	}
	return scored(j.Fact.Verdict)
}

func ofSummary(of func(judge.SummaryJudgment) judge.Verdict) func(report.Judgment) *float64 {
	return func(j report.Judgment) *float64 {
		if j.Summary == nil {
			return nil
		}
		return scored(of(*j.Summary))
	}
}

// scored is the value of a verdict; what was not scored has none, and is no 0.
func scored(v judge.Verdict) *float64 {
	if v.State != judge.Scored {
		return nil
	}
	return &v.Value
}
