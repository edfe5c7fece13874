// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"errors"
	"fmt"
	"strings"

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
	// which the released questions do not have, see [PrecisionRef].
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

// promptVersion changes whenever a prompt does: figures of different prompts
// do not compare.
const promptVersion = 1

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

// Name tells profile, precision reference, prompt version and model.
func (j *ByModel) Name() string {
	return fmt.Sprintf("wildgraph/%s/%s/v%d/%s", j.o.Profile, j.o.Precision, promptVersion, j.model.Name())
}

// Fact asks whether the answer states the reference. Empty and refused answers
// score 0 without a call.
func (j *ByModel) Fact(ctx context.Context, c Case) (FactJudgment, error) {
	if v, done := withoutAnswer(c); done {
		return FactJudgment{Verdict: v}, nil
	}
	evidence := c.Evidence
	if j.o.Profile == Upstream {
		evidence = nil
	}
	grade, reply, err := llm.Decode[gradeReply](ctx, j.model, equivalenceRequest(c, evidence))
	out := FactJudgment{Usage: reply.Usage}
	if err != nil {
		out.Verdict, err = j.failure(ctx, err)
		return out, err
	}
	out.Verdict = Score(grade.Score.value, grade.Reason)
	return out, nil
}

// withoutAnswer is the verdict where there is nothing to judge.
func withoutAnswer(c Case) (Verdict, bool) {
	switch {
	case c.Refused:
		return Score(0, "refused"), true
	case strings.TrimSpace(c.Answer) == "":
		return Score(0, "empty answer"), true
	}
	return Verdict{}, false
}

// Summary extracts the statements of the answer and compares them with the
// gold ones.
func (j *ByModel) Summary(ctx context.Context, c Case) (SummaryJudgment, error) {
	var out SummaryJudgment
	if len(c.Statements) == 0 {
		none := Verdict{State: NotApplicable, Reason: "no gold statements"}
		out.Recall, out.Precision = none, none
		return out, nil
	}
	if v, done := withoutAnswer(c); done {
		out.Recall, out.Precision = v, v
		return out, nil
	}
	found, reply, err := llm.Decode[extractReply](ctx, j.model, extractRequest(c, j.o.MaxStatements))
	out.Usage = reply.Usage
	if err != nil {
		v, err := j.failure(ctx, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Predicted, out.Truncated = distinct(found.Statements, j.o.MaxStatements)
	if len(out.Predicted) == 0 {
		none := Score(0, "no statement in the answer")
		out.Recall, out.Precision = none, none
		return out, nil
	}
	if j.o.Profile == Upstream {
		return j.upstream(ctx, c, out)
	}
	return j.paper(ctx, c, out)
}

// paper scores by the matrix of matches; precision against a section is a
// question of support, since a section is no list of statements.
func (j *ByModel) paper(ctx context.Context, c Case, out SummaryJudgment) (SummaryJudgment, error) {
	matches, usage, err := j.match(ctx, c, out.Predicted)
	out.Usage = out.Usage.Add(usage)
	if err != nil {
		v, err := j.failure(ctx, err)
		out.Recall, out.Precision = v, v
		return out, err
	}
	out.Matches = matches
	out.Recall, out.Precision = scoreMatches(matches, len(c.Statements), len(out.Predicted))
	switch {
	case j.o.Precision == RefNone:
		out.Precision = Verdict{State: NotApplicable, Reason: "no precision reference"}
	case j.o.Precision == RefSection && c.Section == "":
		out.Precision = NoScore("the section text is not known")
	case j.o.Precision == RefSection:
		out.Precision, err = j.support(ctx, c.Section, out.Predicted, &out)
	}
	return out, err
}

// upstream holds the gold statements against the whole answer, and the
// predicted ones against the whole reference text.
func (j *ByModel) upstream(ctx context.Context, c Case, out SummaryJudgment) (SummaryJudgment, error) {
	var err error
	if out.Recall, err = j.support(ctx, c.Answer, c.Statements, &out); err != nil {
		return out, err
	}
	reference := map[PrecisionRef]string{RefGold: strings.Join(c.Statements, "\n"), RefSection: c.Section}[j.o.Precision]
	if reference == "" {
		out.Precision = Score(0, "no reference text, which the released evaluator scores 0")
		return out, nil
	}
	out.Precision, err = j.support(ctx, reference, out.Predicted, &out)
	return out, err
}

// support is the share of statements that a text supports.
func (j *ByModel) support(ctx context.Context, text string, statements []string, out *SummaryJudgment) (Verdict, error) {
	held, usage, err := j.supported(ctx, text, statements)
	out.Usage = out.Usage.Add(usage)
	if err != nil {
		return j.failure(ctx, err)
	}
	return Score(float64(held)/float64(len(statements)), ""), nil
}

// failure makes a verdict of an error that concerns this case alone, and
// passes all others on.
func (j *ByModel) failure(ctx context.Context, err error) (Verdict, error) {
	if ctx.Err() != nil {
		return Verdict{}, ctx.Err()
	}
	for _, kind := range []llm.Kind{llm.ErrInvalidOutput, llm.ErrTruncated, llm.ErrEmpty, llm.ErrFiltered, llm.ErrRefused, llm.ErrContextLength} {
		if errors.Is(err, kind) {
			reason := fmt.Sprintf("the judge failed: %v", err)
			if j.o.Profile == Upstream {
				return Score(0, reason), nil
			}
			return NoScore(reason), nil
		}
	}
	return Verdict{}, fmt.Errorf("judge: %w", err)
}
