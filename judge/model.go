// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"errors"
	"fmt"

	"github.com/wildgraph/wildgraph/llm"
)

// Profile is a procedure of judging.
type Profile string

// The profiles of [NewByModel].
const (
	// Paper follows WildGraphBench, section 3.5: the judge sees the evidence,
	// statements are matched with statements, failures are unscored.
	Paper Profile = "paper"
	// Upstream follows the released evaluator, for comparison with its files:
	// no evidence, each list of statements is held against the other side's
	// whole text, failures count as 0. Its precision needs a reference text,
	// which the released questions do not have, see [PrecisionRef] and
	// [ByModel.Warning].
	Upstream Profile = "upstream"
)

// PrecisionRef is what the statements of an answer are held against for
// precision.
type PrecisionRef string

// The references for precision.
const (
	RefGold    PrecisionRef = "gold"    // the gold statements (equation 3)
	RefSection PrecisionRef = "section" // the text of the section they come from
	RefNone    PrecisionRef = "none"    // nothing: not applicable, and 0 with Upstream
)

// DefaultMaxStatements is the largest number of statements taken from an
// answer, as in the released evaluator.
const DefaultMaxStatements = 20

// Options of the judges. The zero value is the paper's procedure.
type Options struct {
	// Profile is the procedure; "" is Paper. Lexical judges know only Paper.
	Profile Profile
	// Precision chooses the reference; "" is RefGold.
	Precision PrecisionRef
	// MaxStatements limits the statements taken from an answer; 0 is
	// DefaultMaxStatements.
	MaxStatements int
	// NoCanaries leaves out the control items that [Paper] mixes into what it
	// asks; [Upstream] has none.
	NoCanaries bool
	// NoParameters leaves out the temperature of 0 and the token limits that
	// [Upstream] sends, for models that refuse them; [Paper] sends none.
	NoParameters bool
}

func (o *Options) complete() error {
	if o.Profile == "" {
		o.Profile = Paper
	}
	if o.Precision == "" {
		o.Precision = RefGold
	}
	if o.MaxStatements == 0 {
		o.MaxStatements = DefaultMaxStatements
	}
	var problems []error
	if o.Profile != Paper && o.Profile != Upstream {
		problems = append(problems, fmt.Errorf("judge: profile %q is none of %s, %s", o.Profile, Paper, Upstream))
	}
	if o.Precision != RefGold && o.Precision != RefSection && o.Precision != RefNone {
		problems = append(problems, fmt.Errorf("judge: precision reference %q is none of %s, %s, %s", o.Precision, RefGold, RefSection, RefNone))
	}
	if o.MaxStatements < 0 {
		problems = append(problems, fmt.Errorf("judge: %d statements at most, want at least 1", o.MaxStatements))
	}
	return errors.Join(problems...)
}

// ByModel is a [Judge] that asks a language model.
type ByModel struct {
	model llm.Model
	o     Options
}

var _ Judge = (*ByModel)(nil)

// promptVersion changes whenever a prompt or the protocol does: figures of
// different versions do not compare.
const promptVersion = 2

// NewByModel returns the judge that asks m.
func NewByModel(m llm.Model, o Options) (*ByModel, error) {
	err := o.complete()
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return nil, err
	}
	return &ByModel{model: m, o: o}, nil
}

// Name tells everything that figures depend on: profile, precision reference,
// prompt version, options that differ from the profile's, and model.
func (j *ByModel) Name() string {
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", j.o.Profile, j.o.Precision, promptVersion)
	if j.o.MaxStatements != DefaultMaxStatements {
		name += fmt.Sprintf("/max%d", j.o.MaxStatements)
	}
	if j.o.Profile == Paper && j.o.NoCanaries {
		name += "/nocanaries"
	}
	if j.o.Profile == Upstream && j.o.NoParameters {
		name += "/noparameters"
	}
	return name + "/" + j.model.Name()
}

// canaries are the control items of a batch, the true one first.
func (j *ByModel) canaries() []int {
	if j.o.NoCanaries {
		return nil
	}
	return []int{trueCanary, falseCanary}
}

// Fact asks whether the answer states the reference. Empty answers, and under
// Paper refused ones, score 0 without a call.
func (j *ByModel) Fact(ctx context.Context, c Case) (FactJudgment, error) {
	if j.o.Profile == Upstream {
		return j.upstreamFact(ctx, c)
	}
	if v, done := withoutAnswer(c); done {
		return FactJudgment{Verdict: v}, nil
	}
	var t trace
	score, reason, err := j.grade(ctx, c, &t)
	v := Score(float64(score), reason)
	if err != nil {
		v, err = t.failure(ctx, err)
	}
	return FactJudgment{Verdict: v, Protocol: t.protocol, Usage: t.usage}, err
}

// withoutAnswer is the verdict where there is nothing to judge.
func withoutAnswer(c Case) (Verdict, bool) {
	switch {
	case c.Refused:
		return Score(0, "refused"), true
	case blank(c.Answer):
		return Score(0, "empty answer"), true
	}
	return Verdict{}, false
}

// Summary extracts the statements of the answer and compares them with the
// gold ones.
func (j *ByModel) Summary(ctx context.Context, c Case) (SummaryJudgment, error) {
	if j.o.Profile == Upstream {
		return j.upstreamSummary(ctx, c)
	}
	if out, done := withoutSummary(c); done {
		return out, nil
	}
	var t trace
	out, err := j.summary(ctx, c, &t)
	out.Protocol, out.Usage = t.protocol, t.usage
	return out, err
}

// withoutSummary is the judgment where there is nothing to judge.
func withoutSummary(c Case) (SummaryJudgment, bool) {
	if len(c.Statements) == 0 {
		none := Verdict{State: NotApplicable, Reason: "no gold statements"}
		return SummaryJudgment{Recall: none, Precision: none}, true
	}
	if v, done := withoutAnswer(c); done {
		return SummaryJudgment{Recall: v, Precision: v, Counts: Counts{Gold: len(c.Statements)}}, true
	}
	return SummaryJudgment{}, false
}

func (j *ByModel) summary(ctx context.Context, c Case, t *trace) (out SummaryJudgment, err error) {
	found, err := j.extract(ctx, c, t)
	if err != nil {
		v, err := t.failure(ctx, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Predicted, out.Truncated = distinct(found, j.o.MaxStatements)
	if len(out.Predicted) == 0 {
		out.noStatement(c)
		return out, nil
	}
	matches, err := j.match(ctx, c, out.Predicted, t)
	if err != nil {
		v, err := t.failure(ctx, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Matches = matches
	out.scoreMatches(len(c.Statements))
	// A section is no list of statements: precision against it is a question
	// of support.
	if out.withoutPrecision(j.o.Precision, c) {
		return out, nil
	}
	if j.o.Precision == RefSection {
		held, err := j.supported(ctx, c.Section, out.Predicted, t)
		if err != nil {
			out.unsetPrecision()
			out.Precision, err = t.failure(ctx, err)
			return out, err
		}
		out.setPrecision(held)
	}
	return out, nil
}

// failure makes a verdict of an error that concerns this case alone, and
// passes all others on.
func (t *trace) failure(ctx context.Context, err error) (Verdict, error) {
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err()
	}
	if errors.Is(err, errCanary) {
		return NoScore(err.Error()), nil
	}
	for _, kind := range []llm.Kind{llm.ErrInvalidOutput, llm.ErrTruncated, llm.ErrEmpty, llm.ErrFiltered, llm.ErrRefused, llm.ErrContextLength} {
		if errors.Is(err, kind) {
			t.protocol.Failures++
			return NoScore(fmt.Sprintf("%s: the judge failed: %v", string(kind), err)), nil
		}
	}
	return Verdict{}, fmt.Errorf("judge: %w", err)
}
