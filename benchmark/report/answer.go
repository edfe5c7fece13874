// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
)

// pageAnswer is what the page shows of an answer.
func pageAnswer(run *benchmark.Run, of benchmark.SystemRun, r benchmark.Result) page.Answer {
	switch {
	case r.Pending:
		return page.Answer{State: page.Pending}
	case of.NotApplicable != "" || r.Skipped:
		return page.Answer{}
	}
	out := shown(r.Answer)
	if run.NoTimings || of.Foreign {
		out.Costs.Millis = 0
	}
	if !provenance(of) {
		out.Found = r.Evidence.RecallAt5
	}
	switch j := r.Judgment; {
	case r.Answer.Error != "":
		out.State, out.Reason = page.Failed, r.Answer.Error
	case r.Answer.Searched:
		out.State = page.Searched
	case j.Fact != nil:
		judgeFact(&out, j.Fact.Verdict, r.Answer.Refused)
	case j.Summary != nil:
		judgeSummary(&out, j.Summary, r.Answer.Refused)
	}
	return out
}

func judgeFact(out *page.Answer, v judge.Verdict, refused bool) {
	out.Reason = v.Reason
	switch {
	case v.State != judge.Scored:
		out.State = page.Unscored
		return
	case v.Value == 1:
		out.State = page.Right
	case refused:
		out.State = page.Refused
	default:
		out.State = page.Wrong
	}
	out.Score = &v.Value
}

func judgeSummary(out *page.Answer, j *judge.SummaryJudgment, refused bool) {
	f1 := j.F1()
	out.Reason = j.Recall.Reason
	if p := j.Precision.Reason; p != "" && p != out.Reason {
		out.Reason = strings.TrimPrefix(out.Reason+"; "+p, "; ")
	}
	out.Predicted = j.Predicted
	for _, m := range j.Matches {
		out.Matches = append(out.Matches, [2]int{m.Gold, m.Predicted})
	}
	switch {
	case f1.State != judge.Scored:
		out.State, out.Reason = page.Unscored, f1.Reason
		return
	case refused:
		out.State = page.Refused
	default:
		out.State = page.Scored
	}
	out.Score = &f1.Value
	out.Verdict = fmt.Sprintf("recall %.0f %%, precision %.0f %%", 100*j.Recall.Value, 100*j.Precision.Value)
	if c := j.Counts; c.Gold > 0 {
		out.Verdict += fmt.Sprintf(" (%d of %d gold statements stated, %d of %d statements in the gold)", c.GoldMet, c.Gold, c.PredictedMet, c.Predicted)
	}
}

// shown is what a system did for a question, whatever a judge said of it.
func shown(a record.Answer) page.Answer {
	out := page.Answer{
		Text: a.Text,
		Costs: page.Costs{
			Context: a.ContextTokens(), Calls: a.Usage.Calls, Prompt: a.Usage.PromptTokens, Completion: a.Usage.CompletionTokens, Millis: a.Millis,
		},
	}
	if a.Uncounted || a.Foreign || a.Error != "" {
		out.Costs.Context = -1
	}
	for _, r := range a.Ranked {
		out.Ranked = append(out.Ranked, page.Ranked(r))
	}
	for _, e := range a.Evidence {
		out.Passages = append(out.Passages, page.Passage{Doc: e.Doc, Chunk: e.Chunk, Tokens: e.Tokens, Text: e.Excerpt, Quotes: e.Quotes})
	}
	for _, d := range a.Derived {
		out.Passages = append(out.Passages, page.Passage{Docs: d.Docs, Tokens: d.Tokens, Text: d.Excerpt})
	}
	for _, c := range a.Citations {
		switch c.Of {
		case "":
			out.Citations = append(out.Citations, page.Citation{Start: c.Start, End: c.End, Passage: c.Evidence})
		case graphrag.OfDerived:
			out.Citations = append(out.Citations, page.Citation{Start: c.Start, End: c.End, Passage: len(a.Evidence) + c.Evidence})
		}
	}
	for _, s := range a.Steps {
		out.Steps = append(out.Steps, page.Step(s))
	}
	return out
}
