// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/llm"
)

// What the released evaluator sends with every call (tools/eval.py).
const (
	factTokens    = 2048
	summaryTokens = 10000
)

// released is the procedure of the released evaluator.
type released struct {
	Options
	model llm.Model
	name  string
}

func newReleased(m llm.Model, version int, o Options) (released, error) {
	err := exam.Complete(&o.Options)
	if o.Grounded {
		err = errors.Join(err, errors.New("judge: the released evaluator does not ask whether an answer is grounded"))
	}
	if m == nil {
		err = errors.Join(err, errors.New("judge: no model"))
	}
	if err != nil {
		return released{}, err
	}
	name := fmt.Sprintf("wildgraph/%s/%s/v%d", Upstream, o.Precision, version) + exam.Suffix(o.Options)
	if o.NoParameters {
		name += "/noparameters"
	}
	return released{o, m, name + "/" + m.Name()}, nil
}

// warning says what is known to be wrong with the procedure.
func (j released) warning() string {
	w := "The upstream profile repeats the released evaluator, faults included: judge failures count as 0, " +
		"the evidence is not shown, and nothing guards against text that addresses the judge."
	switch j.Precision {
	case judge.RefNone:
		w += " As released, summary questions have no reference text, so their precision and F1 are always 0."
	case judge.RefGold:
		w += " The released summary questions have no reference text; precision is held against the joined gold statements instead."
	}
	return w
}

// ask asks once; a failure is an empty reply, and counted.
func (j released) ask(ctx context.Context, t *exam.Trace, name string, tokens int, data ...llm.Data) (map[string]json.RawMessage, error) {
	r, err := prompts.Request("judge-"+name, "upstream_"+name, map[string]any{"Limit": j.MaxStatements}, data...)
	if err != nil {
		return nil, err
	}
	if !j.NoParameters {
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

// fact asks whether the answer states the reference. Empty answers score 0
// without a call.
func (j released) fact(ctx context.Context, c judge.Case, t *exam.Trace) (judge.Verdict, error) {
	if exam.Blank(c.Answer) {
		return judge.Score(0, "empty answer"), nil
	}
	object, err := j.ask(ctx, t, "fact", factTokens, llm.Data{Label: "question", Text: c.Question},
		llm.Data{Label: "reference", Text: c.Reference}, llm.Data{Label: "candidate", Text: c.Answer})
	if err != nil {
		return judge.Verdict{}, err
	}
	reason := exam.Word(object["reason"])
	if object == nil {
		reason = "the judge failed, which the released evaluator scores 0"
	}
	return judge.Score(looseFlag(object["score"]), reason), nil
}

// summary compares the gold statements with the whole answer, and the predicted ones
// with the whole reference text.
func (j released) summary(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *exam.Trace) error {
	if err := exam.Gold(c); err != nil {
		return err
	}
	if !exam.Blank(c.Answer) {
		object, err := j.ask(ctx, t, "extract", summaryTokens,
			llm.Data{Label: "question", Text: c.Question}, llm.Data{Label: "answer", Text: c.Answer})
		if err != nil {
			return err
		}
		out.Predicted, out.Truncated = exam.Distinct(looseStatements(object["statements"]), j.MaxStatements)
	}
	if len(c.Statements) == 0 || len(out.Predicted) == 0 {
		exam.NoStatement(out, c)
		return nil
	}
	held, err := j.supported(ctx, c.Answer, c.Statements, t)
	if err != nil {
		return err
	}
	exam.Recall(out, held, len(c.Statements))
	reference := exam.Reference(j.Precision, c)
	if j.Precision == judge.RefGold {
		reference = strings.Join(c.Statements, "\n")
		exam.Ceiling(out, len(c.Statements))
	}
	if exam.Blank(reference) {
		exam.Precision(out, 0)
		out.Precision.Reason = "no reference text, which the released evaluator scores 0"
		return nil
	}
	if held, err = j.supported(ctx, reference, out.Predicted, t); err == nil {
		exam.Precision(out, held)
	}
	return err
}

// supported counts the statements that a text supports; what the reply leaves
// out counts as unsupported.
func (j released) supported(ctx context.Context, text string, statements []string, t *exam.Trace) (int, error) {
	list := make([]string, len(statements))
	for i, s := range statements {
		list[i] = fmt.Sprintf("%d. %s", i+1, exam.OneLine(s))
	}
	object, err := j.ask(ctx, t, "support", summaryTokens,
		llm.Data{Label: "text", Text: text}, llm.Data{Label: "statements", Text: strings.Join(list, "\n")})
	if err != nil {
		return 0, err
	}
	return exam.Count(looseScores(object, len(statements))), nil
}
