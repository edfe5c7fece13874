// SPDX-License-Identifier: Apache-2.0

package upstream

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

// Profile is what reports and flags call the procedure.
const Profile = "upstream"

// Options of the judge.
type Options struct {
	judge.Options
	// NoParameters leaves out the temperature of 0 and the token limits that the
	// released evaluator sends, for models that refuse them.
	NoParameters bool
}

// What the released evaluator sends with every call (tools/eval.py).
const (
	factTokens    = 2048
	summaryTokens = 10000
)

// promptVersion changes whenever a prompt or the protocol does.
const promptVersion = 3

// Judge is a [judge.Judge] that repeats the released evaluator.
type Judge struct {
	model llm.Model
	o     Options
}

var _ judge.Judge = (*Judge)(nil)

// New returns the judge that asks m.
func New(m llm.Model, o Options) (*Judge, error) {
	err := score.Complete(&o.Options)
	if o.Grounded {
		err = errors.Join(err, errors.New("judge: the released evaluator does not ask whether an answer is grounded"))
	}
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return nil, err
	}
	return &Judge{m, o}, nil
}

// Name tells everything that figures depend on: profile, precision reference,
// prompt version, options that differ from the evaluator's, and model.
func (j *Judge) Name() string {
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", Profile, j.o.Precision, promptVersion) + score.Suffix(j.o.Options)
	if j.o.NoParameters {
		name += "/noparameters"
	}
	return name + "/" + j.model.Name()
}

// Warning says what is known to be wrong with the procedure; programs print it
// beside the figures.
func (j *Judge) Warning() string {
	w := "The upstream profile repeats the released evaluator, faults included: judge failures count as 0, " +
		"the evidence is not shown, and nothing guards against text that addresses the judge."
	switch j.o.Precision {
	case judge.RefNone:
		w += " As released, summary questions have no reference text, so their precision and F1 are always 0."
	case judge.RefGold:
		w += " The released summary questions have no reference text; precision is held against the joined gold statements instead."
	}
	return w
}

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// ask asks once; a failure is an empty reply, and counted.
func (j *Judge) ask(ctx context.Context, t *score.Trace, name string, tokens int, data ...llm.Data) (map[string]json.RawMessage, error) {
	r, err := prompts.Request("judge-"+name, name, map[string]any{"Limit": j.o.MaxStatements}, data...)
	if err != nil {
		return nil, err
	}
	if !j.o.NoParameters {
		r.Temperature, r.MaxTokens = new(float64), tokens
	}
	reply, err := j.model.Generate(ctx, r)
	t.Charge(reply.Usage, err)
	if err != nil {
		_, err = t.Failure(ctx, err)
		return nil, err
	}
	object := looseObject(reply.Text)
	if object == nil {
		t.Protocol.Failures++
	}
	return object, nil
}

// Fact asks whether the answer states the reference. Empty answers score 0
// without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	if score.Blank(c.Answer) {
		return judge.FactJudgment{Verdict: judge.Score(0, "empty answer")}, nil
	}
	var t score.Trace
	object, err := j.ask(ctx, &t, "fact", factTokens, llm.Data{Label: "question", Text: c.Question},
		llm.Data{Label: "reference", Text: c.Reference}, llm.Data{Label: "candidate", Text: c.Answer})
	out := judge.FactJudgment{Protocol: t.Protocol, Usage: t.Usage}
	if err != nil {
		return out, err
	}
	reason := score.Word(object["reason"])
	if object == nil {
		reason = "the judge failed, which the released evaluator scores 0"
	}
	out.Verdict = judge.Score(looseFlag(object["score"]), reason)
	return out, nil
}

// Summary holds the gold statements against the whole answer, and the
// predicted ones against the whole reference text.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (out judge.SummaryJudgment, err error) {
	if err := score.Gold(c); err != nil {
		return out, err
	}
	var t score.Trace
	defer func() { out.Protocol, out.Usage = t.Protocol, t.Usage }()
	if !score.Blank(c.Answer) {
		object, err := j.ask(ctx, &t, "extract", summaryTokens,
			llm.Data{Label: "question", Text: c.Question}, llm.Data{Label: "answer", Text: c.Answer})
		if err != nil {
			return out, err
		}
		out.Predicted, out.Truncated = score.Distinct(looseStatements(object["statements"]), j.o.MaxStatements)
	}
	if len(c.Statements) == 0 || len(out.Predicted) == 0 {
		score.NoStatement(&out, c)
		return out, nil
	}
	held, err := j.supported(ctx, c.Answer, c.Statements, &t)
	if err != nil {
		return out, err
	}
	score.Recall(&out, held, len(c.Statements))
	reference := score.Reference(j.o.Precision, c)
	if j.o.Precision == judge.RefGold {
		reference = strings.Join(c.Statements, "\n")
		score.Ceiling(&out, len(c.Statements))
	}
	if score.Blank(reference) {
		score.Precision(&out, 0)
		out.Precision.Reason = "no reference text, which the released evaluator scores 0"
		return out, nil
	}
	if held, err = j.supported(ctx, reference, out.Predicted, &t); err != nil {
		return out, err
	}
	score.Precision(&out, held)
	return out, nil
}

// supported counts the statements that a text supports; what the reply leaves
// out counts as unsupported.
func (j *Judge) supported(ctx context.Context, text string, statements []string, t *score.Trace) (int, error) {
	list := make([]string, len(statements))
	for i, s := range statements {
		list[i] = fmt.Sprintf("%d. %s", i+1, score.OneLine(s))
	}
	object, err := j.ask(ctx, t, "support", summaryTokens,
		llm.Data{Label: "text", Text: text}, llm.Data{Label: "statements", Text: strings.Join(list, "\n")})
	if err != nil {
		return 0, err
	}
	return score.Count(looseScores(object, len(statements))), nil
}
