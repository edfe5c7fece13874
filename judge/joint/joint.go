// SPDX-License-Identifier: Apache-2.0

package joint

import (
	"context"
	"embed"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/judge/internal/score"
	"github.com/wildgraph/wildgraph/llm"
)

// Profile is what reports and flags call the procedure.
const Profile = "joint"

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
const promptVersion = 1

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts(promptFiles)

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

// Fact asks whether the answer states what the question asks for of the
// reference. Empty and refused answers score 0 without a call.
func (j *Judge) Fact(ctx context.Context, c judge.Case) (judge.FactJudgment, error) {
	return j.exam.Fact(ctx, c, func(ctx context.Context, c judge.Case, t *score.Trace) (judge.Verdict, error) {
		return j.exam.Grade(ctx, c, nil, t, func(f llm.Fence, tasks string) llm.Request {
			return exam.Request(prompts, "judge-fact", "fact", map[string]any{"Nonce": f.Nonce(), "Tasks": tasks})
		})
	})
}

// Summary splits the answer into its statements and compares the two lists in
// both directions, in one call.
func (j *Judge) Summary(ctx context.Context, c judge.Case) (judge.SummaryJudgment, error) {
	return j.exam.Summary(ctx, c, j.compare)
}

// lists are the gold and the predicted statements of a summary, with a control
// item on the gold side that only the true one of the other side states.
type lists struct {
	batch           exam.Batch
	gold, predicted []exam.Item
	texts           map[string]string // by id
}

func (j *Judge) lists(c judge.Case, predicted []string) lists {
	all := slices.Concat(c.Statements, predicted)
	seed := llm.NewFence(append(slices.Clip(all), c.Question)...).Nonce()
	know := exam.ChooseCanary(seed, append(slices.Clip(all), c.Question)...)
	canaries := j.exam.Canaries()
	b := exam.Brief(seed, exam.List{Letter: "g", N: len(c.Statements), Canaries: canaries[:min(1, len(canaries))]},
		exam.List{Letter: "p", N: len(predicted), Canaries: canaries})
	l := lists{batch: b, gold: b.Of("g"), predicted: b.Of("p"), texts: make(map[string]string)}
	for _, it := range l.gold {
		l.texts[it.ID] = it.Pick(func(i int) string { return c.Statements[i] }, know.Fact, "")
	}
	for _, it := range l.predicted {
		l.texts[it.ID] = it.Pick(func(i int) string { return predicted[i] }, know.Restated, know.Falsehood)
	}
	return l
}

// request asks for verdicts on the open items; both lists are always shown whole.
func (l lists) request(question string, open []exam.Item) llm.Request {
	asked := "every statement of both lists"
	if len(open) < len(l.batch.Items) {
		ids := make([]string, len(open))
		for i, it := range open {
			ids[i] = it.ID
		}
		asked = strings.Join(ids, ", ") + " and on no other"
	}
	text := func(it exam.Item) string { return l.texts[it.ID] }
	gold, predicted, question := exam.Listed(l.gold, text), exam.Listed(l.predicted, text), score.Plain(question)
	f := llm.NewFence(question, gold, predicted)
	return exam.Request(prompts, "judge-compare", "compare", map[string]any{
		"Nonce": f.Nonce(), "Code": l.batch.Code, "Asked": asked,
		"Question": f.Wrap("question", question), "Gold": f.Wrap("gold", gold), "Predicted": f.Wrap("predicted", predicted),
	})
}

// compare asks, in one call, what the predicted statements state together of each
// gold one, and what the gold ones support together of each predicted one.
func (j *Judge) compare(ctx context.Context, c judge.Case, out *judge.SummaryJudgment, t *score.Trace) error {
	l := j.lists(c, out.Predicted)
	ask := func(open []exam.Item) llm.Request { return l.request(c.Question, open) }
	stated, supported := make([][]int, len(c.Statements)), make([]bool, len(out.Predicted))
	crossed := make(map[string]bool)
	err := j.exam.Run(ctx, l.batch, t, ask, func(it exam.Item, line exam.Line) bool {
		isGold := strings.HasPrefix(it.ID, "g")
		others := l.gold
		if isGold {
			others = l.predicted
		}
		by, unknown := exam.Named(line.By, others)
		t.Protocol.Extra += unknown
		if it.Canary() {
			return it.Index == exam.True && slices.Equal(by, []int{exam.True}) || it.Index == exam.False && line.By != nil && len(line.By) == 0
		}
		// A yes that rests on nothing of the list is no verdict.
		if line.By == nil || len(by) == 0 && unknown > 0 {
			return false
		}
		crossed[it.ID] = slices.ContainsFunc(by, func(at int) bool { return at < 0 })
		if isGold {
			stated[it.Index] = by
		} else {
			supported[it.Index] = len(by) > 0
		}
		return true
	})
	if err != nil {
		return err
	}
	for _, wrong := range crossed {
		if wrong {
			t.Protocol.FailedCanaries++
			return exam.ErrCrossed
		}
	}
	for g, by := range stated {
		for _, p := range by {
			out.Matches = append(out.Matches, judge.Match{Gold: g, Predicted: p})
		}
	}
	score.Together(out, len(c.Statements), supported)
	return nil
}
