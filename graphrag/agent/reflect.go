// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/llm"
)

// ReflectOptions of [ReflectByModel].
type ReflectOptions struct {
	Model llm.Model
	// Count counts tokens.
	Count func(string) int
	// Evidence is how many tokens of what was found a reflection is shown; 0 means
	// 8,000.
	Evidence int
}

// defaultEvidence is about what five chunks of 1,200 tokens and twenty facts take.
const defaultEvidence = 8000

// ReflectByModel asks a model whether what was found answers the question, and what
// to search for if not. It always sees the question as it was asked first. A reply
// that cannot be used, and a refusal, end the search. Where there is a budget no
// call is made that might exceed it.
func ReflectByModel(o ReflectOptions) (Reflect, error) {
	var problems []error
	if o.Model == nil {
		problems = append(problems, errors.New("agent: the model that reflects is missing"))
	}
	if o.Count == nil {
		problems = append(problems, errors.New("agent: the counter of tokens is missing"))
	}
	if o.Evidence < 0 {
		problems = append(problems, fmt.Errorf("agent: Evidence is %d, want 0 or more", o.Evidence))
	}
	if o.Evidence == 0 {
		o.Evidence = defaultEvidence
	}
	return o.reflect, errors.Join(problems...)
}

func (o ReflectOptions) reflect(ctx context.Context, m Memory) (Verdict, error) {
	req, err := prompts.Request(StageReflect, "reflect", nil,
		llm.Data{Label: "question", Text: m.Question.Text},
		llm.Data{Label: "searches", Text: m.turns()},
		llm.Data{Label: "evidence", Text: o.evidence(m)})
	if err != nil {
		return Verdict{}, err
	}
	req.JSON = true
	p := &purse{Model: o.Model, count: o.Count, left: m.Left}
	reply, _, err := llm.Decode[reflection](ctx, p, req)
	if errors.Is(err, ErrSpent) || err != nil && !llm.OfOneReply(err) {
		return Verdict{}, err
	}
	if err != nil {
		return Verdict{Thought: "the reflection could not be used", Tokens: p.spent}, nil
	}
	v := Verdict{Thought: clip(reply.Thought.one()), Tokens: p.spent}
	switch fold(reply.Status.one()) {
	case "answer":
		v.Answered = true
	case "continue":
		v.Query = reply.Query.one()
	}
	return v, nil
}

// turns are the searches and thoughts so far.
func (m *Memory) turns() string {
	var b strings.Builder
	for i, t := range m.Turns {
		fmt.Fprintf(&b, "%d. %s\n", i+1, oneLine(t.Query))
		if t.Thought != "" {
			fmt.Fprintf(&b, "   %s\n", oneLine(clip(t.Thought)))
		}
	}
	return strings.TrimSpace(b.String())
}

// evidence is what there is to read, the facts first, as far as there is room for it:
// not what else was ranked for measuring.
func (o ReflectOptions) evidence(m Memory) string {
	hits, derived := retrieve.Fit(m.Found.Read(m.Question), m.Found.Derived, o.Evidence, o.Count)
	var parts []string
	for _, d := range derived {
		parts = append(parts, llm.Printable(d.Text))
	}
	for _, h := range hits {
		parts = append(parts, llm.Printable(retrieve.Titled(h.Chunk)))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "\n\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(llm.Printable(s)), " ") }

// reflection is what a model writes.
type reflection struct {
	Thought words `json:"thought"`
	Status  words `json:"status"`
	Query   words `json:"next_query"`
}

// Check implements what llm.Decode asks of replies.
func (r reflection) Check() error {
	switch fold(r.Status.one()) {
	case "answer", "abstain":
		return nil
	case "continue":
		if r.Query.one() == "" {
			return errors.New(`"next_query" is missing, which "continue" needs`)
		}
		return nil
	}
	return fmt.Errorf(`the key "status" is %q, want "answer", "continue" or "abstain"`, r.Status.one())
}

// purse is a model that makes no call that might take more tokens than are left.
// left is negative where there is no budget.
type purse struct {
	llm.Model
	count       func(string) int
	left, spent int
}

// leastReply is what must be left for a reply, in tokens.
const leastReply = 256

func (p *purse) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	prompt := 0
	for _, m := range req.Messages {
		prompt += p.count(m.Text)
	}
	if p.left >= 0 {
		if prompt+leastReply > p.left-p.spent {
			return llm.Reply{}, ErrSpent
		}
		req.MaxTokens = p.left - p.spent - prompt
	}
	reply, err := p.Model.Generate(ctx, req)
	p.spent += max(prompt, reply.Usage.PromptTokens) + max(p.count(reply.Text)+p.count(reply.Reasoning), reply.Usage.CompletionTokens)
	return reply, err
}
