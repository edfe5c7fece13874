// SPDX-License-Identifier: Apache-2.0

package exam

import (
	"context"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/score"
)

// Fact judges an answer by the profile's way to grade.
func (e Exam) Fact(ctx context.Context, c judge.Case, grade func(context.Context, judge.Case, *score.Trace) (judge.Verdict, error)) (out judge.FactJudgment, err error) {
	var t score.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	v, done := score.WithoutAnswer(c)
	if !done {
		if v, err = grade(ctx, c, &t); err != nil {
			return out, err
		}
	}
	out.Verdict = v
	if e.Grounded {
		out.Grounded, err = e.grounded(ctx, c, []string{c.Answer}, &t)
	}
	return out, err
}

// Summary splits an answer, compares its statements with the gold ones by the
// profile's way, and holds them against the reference for precision.
func (e Exam) Summary(ctx context.Context, c judge.Case, compare func(context.Context, judge.Case, *judge.SummaryJudgment, *score.Trace) error) (judge.SummaryJudgment, error) {
	out, done, err := score.WithoutSummary(c)
	if done {
		if err == nil && e.Grounded {
			out.Grounded, _ = score.Ungrounded(c)
		}
		return out, err
	}
	var t score.Trace
	err = e.summary(ctx, c, &out, &t, compare)
	switch {
	case err != nil || !e.Grounded:
	case len(out.Predicted) > 0:
		out.Grounded, err = e.grounded(ctx, c, out.Predicted, &t)
	case out.Recall.State == judge.Unscored: // no statements could be had
		out.Grounded = out.Recall
	default:
		out.Grounded = judge.Verdict{State: judge.NotApplicable, Reason: "no statement in the answer"}
	}
	out.Protocol, out.Usage = t.Protocol, t.Usage
	return out, err
}

func (e Exam) summary(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *score.Trace, compare func(context.Context, judge.Case, *judge.SummaryJudgment, *score.Trace) error) error {
	var err error
	if out.Predicted, out.Truncated, err = e.Split(ctx, c, e.MaxStatements, t); err == nil {
		if len(out.Predicted) == 0 {
			score.NoStatement(out, c)
			return nil
		}
		err = compare(ctx, c, out, t)
		t.Evidence = 0
	}
	if err != nil {
		v, err := Failure(ctx, t, err)
		out.Recall, out.Precision = v, v
		return err
	}
	return e.precision(ctx, out, e.Precision, c, t)
}

// grounded asks, in one request, whether the evidence supports every statement.
func (e Exam) grounded(ctx context.Context, c judge.Case, statements []string, t *score.Trace) (judge.Verdict, error) {
	v, none := score.Ungrounded(c)
	if none {
		return v, nil
	}
	text := score.Evidence(c)
	t.Evidence = len(text)
	held, err := e.Support(ctx, text, statements, t)
	if err != nil {
		return Failure(ctx, t, err)
	}
	return score.Grounded(held, len(statements)), nil
}

// precision holds the statements against the section or the evidence, if that is
// the reference; a text is no list of statements, so it is asked what it supports.
func (e Exam) precision(ctx context.Context, out *judge.SummaryJudgment, ref judge.PrecisionRef, c judge.Case, t *score.Trace) error {
	if score.NoReference(out, ref, c) || ref == judge.RefGold {
		return nil
	}
	text := score.Reference(ref, c)
	if ref == judge.RefEvidence {
		t.Evidence = len(text)
	}
	held, err := e.Support(ctx, text, out.Predicted, t)
	if err != nil {
		v, err := Failure(ctx, t, err)
		score.WithoutPrecision(out, v)
		return err
	}
	score.Precision(out, held)
	return nil
}
