// SPDX-License-Identifier: Apache-2.0

package judge

import (
	"context"
	"fmt"
	"unicode"

	"github.com/wildgraph/wildgraph/graphrag/embed/local"
)

// blank reports whether a text has no visible character.
func blank(s string) bool {
	for _, r := range s {
		if unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Mn, r) {
			return false
		}
	}
	return true
}

// Silent returns the verdict, 0, on a case whose system refused or gave an empty answer, and whether it is
// one.
func (c Case) Silent() (Verdict, bool) {
	switch {
	case c.Refused:
		return Score(0, "refused"), true
	case blank(c.Answer):
		return Score(0, "empty answer"), true
	}
	return Verdict{}, false
}

// ByFunc returns a judge that uses a function: does the answer of a case state a gold statement? The verdict
// on a fact is the best one over reference and aliases, unscored if any is and none is 1. The recall of a
// summary is the share of its statements that are stated, unscored if any of them is; its precision is not
// applicable. Silent cases are 0 without a call. The name must cover everything that figures depend on;
// states is called concurrently, and its costs are not in the judgments.
func ByFunc(name string, states func(ctx context.Context, c Case, gold string) (Verdict, error)) Judge {
	return byFunc{name, Info{}, states}
}

type byFunc struct {
	name   string
	info   Info
	states func(context.Context, Case, string) (Verdict, error)
}

func (j byFunc) Name() string { return j.name }
func (j byFunc) Info() Info   { return j.info }

func (j byFunc) Fact(ctx context.Context, c Case) (out FactJudgment, err error) {
	v, done := c.Silent()
	if done {
		return FactJudgment{Verdict: v}, ctx.Err()
	}
	for _, gold := range append([]string{c.Reference}, c.Aliases...) {
		if v, err = j.states(ctx, c, gold); err != nil {
			return out, err
		}
		switch {
		case v.State == Scored && v.Value == 1:
			return FactJudgment{Verdict: v}, ctx.Err()
		case out.State == "" || v.State != Scored || out.State == Scored && v.Value > out.Value:
			out.Verdict = v
		}
	}
	return out, ctx.Err()
}

func (j byFunc) Summary(ctx context.Context, c Case) (out SummaryJudgment, err error) {
	out.Precision = Verdict{State: NotApplicable, Reason: "the judge compares gold statements alone"}
	out.Counts.Gold = len(c.Statements)
	v, done := c.Silent()
	switch {
	case len(c.Statements) == 0:
		out.Recall = Verdict{State: NotApplicable, Reason: "no gold statements"}
		return out, ctx.Err()
	case done:
		out.Recall = v
		return out, ctx.Err()
	}
	for _, gold := range c.Statements {
		if v, err = j.states(ctx, c, gold); err != nil {
			return out, err
		}
		if v.State != Scored {
			out.Recall, out.Counts.GoldMet = v, 0
			return out, ctx.Err()
		}
		if v.Value == 1 {
			out.Counts.GoldMet++
		}
	}
	out.Recall = Score(float64(out.Counts.GoldMet)/float64(out.Counts.Gold), "")
	return out, ctx.Err()
}

// Entailer decides whether a text entails others. [local.Entailment] is one.
type Entailer interface {
	Name() string
	Entail(ctx context.Context, premise string, hypotheses []string) ([]local.Entailed, error)
}

// ByEntailment returns a judge by which an answer states a gold statement if question and answer together
// entail it with a probability above one half.
func ByEntailment(e Entailer) Judge {
	return byFunc{"entailment/" + e.Name(), entailment, func(ctx context.Context, c Case, gold string) (Verdict, error) {
		p, err := e.Entail(ctx, c.Question+"\n"+c.Answer, []string{gold})
		if err != nil {
			return Verdict{}, fmt.Errorf("judge: %w", err)
		}
		value := 0.
		if p[0].Entails > .5 {
			value = 1
		}
		return Score(value, fmt.Sprintf("entailed with %.2f, contradicted with %.2f", p[0].Entails, p[0].Contradicts)), nil
	}}
}

var entailment = Info{Profile: "entailment", Kind: KindEntailment}

// Entailment is the procedure of [ByEntailment].
var Entailment = Procedure{Info: entailment, NeedsEntailer: true, New: func(p Parts) (Judge, error) { return ByEntailment(p.Entailer), nil }}
