// SPDX-License-Identifier: Apache-2.0

package anonyrag

import (
	"context"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/short"
	"github.com/wildgraph/wildgraph/llm"
)

// The formats of questions: the types of a data set begin with them.
const (
	Choice    = "choice"
	Reversion = "reversion"
)

// Scores of reversions beside the verdict, by the names that reports give them.
const (
	ScorePrecision = "mapping_precision"
	ScoreRecall    = "mapping_recall"
	ScoreF1        = "mapping_f1"
)

// Options of the judge.
type Options struct {
	// Model, when set, decides whether an answer is right, as in the published figures:
	// it is shown question, gold and answer and says 1 or 0. The scores of reversions
	// are made by rules all the same.
	Model llm.Model
}

// Judge is a [judge.Judge] of both formats. By rules a choice is right when the letter
// is, and a reversion when every placeholder has its name and nothing else is said
// ([Counts.Exact]).
type Judge struct{ model *short.Judge }

var _ judge.Judge = (*Judge)(nil)

// New returns the judge.
func New(o Options) (*Judge, error) {
	if o.Model == nil {
		return &Judge{}, nil
	}
	m, err := short.New(short.Options{Model: o.Model})
	return &Judge{m}, err
}

// Name tells what decides.
func (j *Judge) Name() string {
	const rules = "exact/anonyrag/v1"
	if j.model == nil {
		return rules
	}
	return j.model.Name() + "+" + rules
}

// Fact judges an answer to a question of either format, which its type says.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (out judge.FactJudgment, err error) {
	if err := ctx.Err(); err != nil {
		return out, err
	}
	if c.Refused {
		c.Answer = ""
	}
	if j.model != nil {
		out, err = j.model.Fact(ctx, c)
		out.Scores = nil
	}
	switch {
	case err != nil:
	case strings.HasPrefix(c.Type, Reversion):
		n := Compare(GoldOf(c.Reference, c.Aliases...), ParseReversion(c.Answer))
		out.Scores = map[string]judge.Verdict{
			ScorePrecision: judge.Score(n.Precision(), ""), ScoreRecall: judge.Score(n.Recall(), ""), ScoreF1: judge.Score(n.F1(), ""),
		}
		if j.model == nil {
			out.Verdict = verdict(n.Exact(), "")
		}
	case j.model == nil:
		want, _ := ParseChoice(c.Reference)
		got, ok := ParseChoice(c.Answer)
		why := "chooses " + got
		if !ok {
			why = "chooses none of A to D, or several"
		}
		out.Verdict = verdict(ok && got == want, why)
	}
	return out, err
}

// Summary has nothing to say: no question is judged by statements.
func (j *Judge) Summary(context.Context, judge.Case) (judge.SummaryJudgment, error) {
	none := judge.Verdict{State: judge.NotApplicable, Reason: "answers are right or wrong"}
	return judge.SummaryJudgment{Recall: none, Precision: none}, nil
}

func verdict(right bool, why string) judge.Verdict {
	if right {
		return judge.Score(1, why)
	}
	return judge.Score(0, why)
}
