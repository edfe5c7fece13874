// SPDX-License-Identifier: Apache-2.0

package model

import (
	"context"
	"errors"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/internal/protocol"
	"github.com/wildgraph/wildgraph/llm"
)

// Rule is a caller's yes-or-no question to a language model. It uses the same protocol as the judges: fenced
// items with hashed ids and two control items.
type Rule struct {
	// Text defines which items get 1 and which 0. It is outside of the fence: it must not contain texts of
	// pages or models.
	Text string
	// Right is an item that clearly gets 1, Wrong one that clearly gets 0.
	Right, Wrong string
}

// Ruling holds the verdicts on the items of a [Rule], in order.
type Ruling struct {
	Verdicts []judge.Verdict
	Protocol judge.Protocol
	Usage    graphrag.Usage
}

// Ask lets m give each item 1 or 0. All of them are unscored, with the reason, if one has no usable verdict
// after a second request, or a control item got the wrong one. An error ends judging, see [judge.Judge]. It
// is safe for concurrent use.
func (r Rule) Ask(ctx context.Context, m llm.Model, items ...string) (Ruling, error) {
	if judge.Blank(r.Text) || judge.Blank(r.Right) || judge.Blank(r.Wrong) {
		return Ruling{}, errors.New("judge: a rule needs a text, and an item that it is right and one that it is wrong of")
	}
	e, err := protocol.New(m, "rule", 1, judge.Options{})
	if err != nil {
		return Ruling{}, err
	}
	var t protocol.Trace
	seed := llm.NewFence(append(slices.Clip(items), r.Text)...).Nonce()
	ask := func(open []protocol.Item) llm.Request {
		list := protocol.Listed(open, func(it protocol.Item) string {
			return it.Pick(func(i int) string { return items[i] }, r.Right, r.Wrong)
		})
		f := llm.NewFence(list)
		return protocol.Request(prompts, "judge-rule", "rule", map[string]any{"Nonce": f.Nonce(), "Rule": r.Text, "Items": f.Wrap("items", list)})
	}
	verdicts, err := e.Scores(ctx, protocol.NewBatch("i", seed, len(items), protocol.True, protocol.False), []string{"reason", "score"}, &t, ask)
	if err != nil {
		var v judge.Verdict
		v, err = t.Failure(ctx, err)
		for i := range verdicts {
			verdicts[i] = v
		}
	}
	return Ruling{verdicts, t.Protocol, t.Usage}, err
}
