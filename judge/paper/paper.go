// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

// Profile is what reports and flags call the procedure.
const Profile = "paper"

// Options of the judge.
type Options struct {
	judge.Options
	// NoCanaries leaves out the control items that are mixed into what is asked.
	NoCanaries bool
}

// Judge is a [judge.Judge] that asks a language model.
type Judge struct {
	model llm.Model
	o     Options
}

var _ judge.Judge = (*Judge)(nil)

// promptVersion changes whenever a prompt or the protocol does: figures of
// different versions do not compare.
const promptVersion = 2

// New returns the judge that asks m.
func New(m llm.Model, o Options) (*Judge, error) {
	err := score.Complete(&o.Options)
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return nil, err
	}
	return &Judge{model: m, o: o}, nil
}

// Name tells everything that figures depend on: profile, precision reference,
// prompt version, options that differ from the profile's, and model.
func (j *Judge) Name() string {
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", Profile, j.o.Precision, promptVersion) + score.Suffix(j.o.Options)
	if j.o.NoCanaries {
		name += "/nocanaries"
	}
	return name + "/" + j.model.Name()
}

// canaries are the control items of a batch, the true one first.
func (j *Judge) canaries() []int {
	if j.o.NoCanaries {
		return nil
	}
	return []int{trueCanary, falseCanary}
}

// Fact asks whether the answer states the reference. Empty and refused answers
// score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if v, done := score.WithoutAnswer(c); done {
		return judge.FactJudgment{Verdict: v}, nil
	}
	var t score.Trace
	value, reason, err := j.grade(ctx, c, &t)
	v := judge.Score(float64(value), reason)
	if err != nil {
		v, err = failure(ctx, &t, err)
	}
	return judge.FactJudgment{Verdict: v, Protocol: t.Protocol, Usage: t.Usage}, err
}

// Summary extracts the statements of the answer and compares them with the
// gold ones.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	if out, done := score.WithoutSummary(c); done {
		return out, nil
	}
	var t score.Trace
	out, err := j.summary(ctx, c, &t)
	out.Protocol, out.Usage = t.Protocol, t.Usage
	return out, err
}

func (j *Judge) summary(ctx context.Context, c judge.Case, t *score.Trace) (out judge.SummaryJudgment, err error) {
	found, err := j.extract(ctx, c, t)
	if err != nil {
		v, err := failure(ctx, t, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Predicted, out.Truncated = score.Distinct(found, j.o.MaxStatements)
	if len(out.Predicted) == 0 {
		score.NoStatement(&out, c)
		return out, nil
	}
	matches, err := j.match(ctx, c, out.Predicted, t)
	if err != nil {
		v, err := failure(ctx, t, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Matches = matches
	score.Matches(&out, len(c.Statements))
	// A section is no list of statements: precision against it is a question
	// of support.
	if score.NoReference(&out, j.o.Precision, c) {
		return out, nil
	}
	if j.o.Precision == judge.RefSection {
		held, err := j.supported(ctx, c.Section, out.Predicted, t)
		if err != nil {
			v, err := failure(ctx, t, err)
			score.WithoutPrecision(&out, v)
			return out, err
		}
		score.Precision(&out, held)
	}
	return out, nil
}

// failure makes a verdict of an error that concerns this case alone, and
// passes all others on.
func failure(ctx context.Context, t *score.Trace, err error) (judge.Verdict, error) {
	if ctx.Err() == nil && errors.Is(err, errCanary) {
		return judge.NoScore(err.Error()), nil
	}
	return t.Failure(ctx, err)
}
