// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/exam"
	"github.com/wildgraph/wildgraph/llm"
)

// Rule is a yes-or-no question of one's own to a language model. It is asked as the judges of
// this package ask: items between marks, under ids made from them, with control items.
type Rule struct {
	// Text says which items get 1 and which 0. It stands outside of the marks: it is the
	// program's, and no part of it a page's or a model's.
	Text string
	// Right is an item that plainly gets 1, Wrong one that plainly gets 0.
	Right, Wrong string
}

// Ruling is what a model said of the items of a [Rule], in their order.
type Ruling struct {
	Verdicts []judge.Verdict
	Protocol judge.Protocol
	Usage    graphrag.Usage
}

// Ask has m give each item 1 or 0. All of them are unscored, with the reason, if one has no
// usable verdict after a second asking, or a control item got the wrong one. An error ends
// judging, see [judge.Judge]. It is safe for concurrent use.
func (r Rule) Ask(ctx context.Context, m llm.Model, items ...string) (Ruling, error) {
	if judge.Blank(r.Text) || judge.Blank(r.Right) || judge.Blank(r.Wrong) {
		return Ruling{}, errors.New("judge: a rule needs a text, and an item that it is right and one that it is wrong of")
	}
	e, err := exam.New(m, "rule", 1, judge.Options{})
	if err != nil {
		return Ruling{}, err
	}
	var t exam.Trace
	seed := llm.NewFence(append(slices.Clip(items), r.Text)...).Nonce()
	ask := func(open []exam.Item) llm.Request {
		list := exam.Listed(open, func(it exam.Item) string {
			return it.Pick(func(i int) string { return items[i] }, r.Right, r.Wrong)
		})
		f := llm.NewFence(list)
		return exam.Request(prompts, "judge-rule", "rule", map[string]any{"Nonce": f.Nonce(), "Rule": r.Text, "Items": f.Wrap("items", list)})
	}
	verdicts, err := e.Scores(ctx, exam.NewBatch("i", seed, len(items), exam.True, exam.False), []string{"reason", "score"}, &t, ask)
	if err != nil {
		var v judge.Verdict
		v, err = t.Failure(ctx, err)
		for i := range verdicts {
			verdicts[i] = v
		}
	}
	return Ruling{verdicts, t.Protocol, t.Usage}, err
}
