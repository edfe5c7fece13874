// SPDX-License-Identifier: Apache-2.0

package pairwise

import (
	"context"
	"embed"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

// Stage of the calls in accounts.
const Stage = "judge-pairwise"

// promptVersion changes whenever the prompt or the protocol does: figures of
// different versions do not compare.
const promptVersion = 1

// Criterion is what answers are compared by.
type Criterion string

// The criteria. The prompt defines them.
const (
	Comprehensiveness Criterion = "comprehensiveness"
	Diversity         Criterion = "diversity"
	Empowerment       Criterion = "empowerment"
	Overall           Criterion = "overall"
)

// Criteria are all of them, in the order of reports.
func Criteria() []Criterion {
	return []Criterion{Comprehensiveness, Diversity, Empowerment, Overall}
}

// Outcome is what a comparison comes to.
type Outcome string

// The outcomes.
const (
	A        Outcome = "a"   // the first answer is better
	B        Outcome = "b"   // the second is
	Tie      Outcome = "tie" // neither is, or the winner changes with the order
	Unscored Outcome = "unscored"
)

// Case is a question with two answers.
type Case struct{ Question, A, B string }

// Comparison is the judge's word on a case.
type Comparison struct {
	// Verdicts are in the order of [Criteria].
	Verdicts []Verdict `json:"verdicts"`
	// Reason says why there is no score, as [judge.Verdict.Reason] does.
	Reason   string         `json:"reason,omitempty"`
	Protocol judge.Protocol `json:"protocol,omitzero"`
	Usage    graphrag.Usage `json:"usage"`
}

// Verdict is a comparison by one criterion.
type Verdict struct {
	Criterion Criterion `json:"criterion"`
	Outcome   Outcome   `json:"outcome"`
	// AFirst and BFirst are what was said when that answer was shown first; empty
	// where nobody was asked.
	AFirst Outcome `json:"a_first,omitempty"`
	BFirst Outcome `json:"b_first,omitempty"`
}

// Flipped tells that the winner changed with the order.
func (v Verdict) Flipped() bool {
	return v.AFirst == A && v.BFirst == B || v.AFirst == B && v.BFirst == A
}

// Judge compares answers by a model. It is safe for concurrent use.
type Judge struct {
	exam exam.Exam
	name string
}

// New returns the judge that asks m.
func New(m llm.Model) (*Judge, error) {
	e, err := exam.New(m, "pairwise", promptVersion, exam.Options{})
	if err != nil {
		return nil, err
	}
	return &Judge{e, fmt.Sprintf("pairwise/v%d/%s", promptVersion, m.Name())}, nil
}

// Name tells what figures depend on: procedure, prompt version and model.
func (j *Judge) Name() string { return j.name }

// Compare asks for all criteria twice, with either answer first. Equal answers are a
// tie and a blank one loses, without a call. A comparison that could not be had is
// Unscored by all criteria and no error; an error means that judging cannot go on.
func (j *Judge) Compare(ctx context.Context, c Case) (Comparison, error) {
	c = Case{score.Plain(c.Question), score.Plain(c.A), score.Plain(c.B)}
	if outcome, done := c.obvious(); done {
		return all(outcome), nil
	}
	var t score.Trace
	aFirst, err := j.ask(ctx, c.Question, c.A, c.B, &t)
	var bFirst [4]int
	if err == nil {
		bFirst, err = j.ask(ctx, c.Question, c.B, c.A, &t)
	}
	out := Comparison{}
	if err != nil {
		v, err := exam.Failure(ctx, &t, err)
		if err != nil {
			return Comparison{}, err
		}
		out = all(Unscored)
		out.Reason = v.Reason
	} else {
		for i, criterion := range Criteria() {
			one := [3]Outcome{Tie, A, B}[aFirst[i]]
			other := [3]Outcome{Tie, B, A}[bFirst[i]]
			v := Verdict{criterion, Tie, one, other}
			if one == other {
				v.Outcome = one
			}
			out.Verdicts = append(out.Verdicts, v)
		}
	}
	out.Protocol, out.Usage = t.Protocol, t.Usage
	return out, nil
}

// obvious is the outcome that needs no model.
func (c Case) obvious() (Outcome, bool) {
	noA, noB := score.Blank(c.A), score.Blank(c.B)
	switch {
	case noA && noB, strings.TrimSpace(c.A) == strings.TrimSpace(c.B):
		return Tie, true
	case noA:
		return B, true
	case noB:
		return A, true
	}
	return "", false
}

// all is a comparison with one outcome by all criteria.
func all(o Outcome) Comparison {
	var out Comparison
	for _, c := range Criteria() {
		out.Verdicts = append(out.Verdicts, Verdict{Criterion: c, Outcome: o})
	}
	return out
}

// ask shows two answers in their order. The winners are 1, 2 or 0, by criterion.
func (j *Judge) ask(ctx context.Context, question, one, two string, t *score.Trace) (winners [4]int, err error) {
	batch := exam.Brief(llm.NewFence(question, one, two).Nonce(), exam.List{Letter: "c", N: len(winners)})
	write := func(open []exam.Item) llm.Request {
		asked := "a verdict on every one of c1, c2, c3 and c4"
		if len(open) < len(batch.Items) {
			ids := make([]string, len(open))
			for i, it := range open {
				ids[i] = it.ID
			}
			asked = "a verdict on " + strings.Join(ids, ", ") + " and on no other"
		}
		req, err := prompts.Request(Stage, "compare", map[string]any{"Code": batch.Code, "Asked": asked},
			llm.Data{Label: "question", Text: question}, llm.Data{Label: "answer 1", Text: one}, llm.Data{Label: "answer 2", Text: two})
		if err != nil {
			panic("pairwise: " + err.Error()) // the files are part of the program
		}
		req.JSON = true
		return req
	}
	err = j.exam.Run(ctx, batch, t, write, func(it exam.Item, l exam.Line) bool {
		switch strings.ToLower(score.Word(l.Winner)) {
		case "1", "answer 1":
			winners[it.Index] = 1
		case "2", "answer 2":
			winners[it.Index] = 2
		case "0", "tie":
			winners[it.Index] = 0
		default:
			return false // a guess would be a score
		}
		return true
	})
	return winners, err
}
