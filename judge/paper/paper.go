// SPDX-License-Identifier: Apache-2.0

package paper

import (
	"context"
	"errors"
	"fmt"

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
type Judge struct {
	exam exam.Exam
	o    Options
}

var _ judge.Judge = (*Judge)(nil)

// promptVersion changes whenever a prompt or the protocol does: figures of
// different versions do not compare.
const promptVersion = 3

// New returns the judge that asks m.
func New(m llm.Model, o Options) (*Judge, error) {
	err := score.Complete(&o.Options)
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return nil, err
	}
	return &Judge{exam.Exam{Model: m, NoCanaries: o.NoCanaries}, o}, nil
}

// Name tells everything that figures depend on: profile, precision reference,
// prompt version, options that differ from the profile's, and model.
func (j *Judge) Name() string {
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", Profile, j.o.Precision, promptVersion) + score.Suffix(j.o.Options)
	if j.o.NoCanaries {
		name += "/nocanaries"
	}
	return name + "/" + j.exam.Model.Name()
}

// Fact asks whether the answer states the reference. Empty and refused answers
// score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	return j.exam.Fact(ctx, c, j.o.Options, j.grade)
}

// Summary splits the answer into its statements and matches them with the gold
// ones, pair by pair.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	return j.exam.Summary(ctx, c, j.o.Options, func(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *score.Trace) (err error) {
		if out.Matches, err = j.match(ctx, c, out.Predicted, t); err == nil {
			score.Matches(out, len(c.Statements))
		}
		return err
	})
}
