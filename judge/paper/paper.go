// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
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
type Judge struct{ exam exam.Exam }

var _ judge.Judge = (*Judge)(nil)

// promptVersion changes whenever a prompt or the protocol does: figures of
// different versions do not compare.
const promptVersion = 3

// New returns the judge that asks m.
func New(m llm.Model, o Options) (*Judge, error) {
	e, err := exam.New(m, Profile, promptVersion, exam.Options(o))
	if err != nil {
		return nil, err
	}
	return &Judge{e}, nil
}

// Name tells everything that figures depend on: profile, precision reference,
// prompt version, options that differ from the profile's, and model.
func (j *Judge) Name() string { return j.exam.Name() }

// Fact asks whether the answer states the reference. Empty and refused answers
// score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	return j.exam.Fact(ctx, c, j.grade)
}

// Summary splits the answer into its statements and matches them with the gold
// ones, pair by pair.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	return j.exam.Summary(ctx, c, func(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *score.Trace) (err error) {
		if out.Matches, err = j.match(ctx, c, out.Predicted, t); err == nil {
			score.Matches(out, len(c.Statements))
		}
		return err
	})
}
