// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
)

// ReflectOptions of [ReflectByModel].
type ReflectOptions struct {
	Model llm.Model
	// Count counts tokens.
	Count func(string) int
	// Evidence is the limit of the evidence in the prompt of a reflection, in tokens; 0
	// means 8,000.
	Evidence int
}

// defaultEvidence is about the size of five chunks of 1,200 tokens and twenty facts.
const defaultEvidence = 8000

// ReflectByModel asks a model whether the evidence answers the question, and for the next
// query if not. The prompt always has the original question. An unusable reply or a refusal
// ends the search. With a budget no call is made that might exceed it.
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
	req, err := prompts.Request(ctx, StageReflect, "reflect", nil,
		llm.Data{Label: "question", Text: m.Question.Text},
		llm.Data{Label: "searches", Text: m.turns()},
		llm.Data{Label: "evidence", Text: o.evidence(m)})
	if err != nil {
		return Verdict{}, err
	}
	p := &purse{Model: o.Model, count: o.Count, left: m.Left}
	reply, _, err := llm.Decode[reflection](ctx, p, req)
	if errors.Is(err, ErrSpent) || err != nil && !llm.OfOneReply(err) {
		return Verdict{}, err
	}
	if err != nil {
		return Verdict{Thought: "the reflection could not be used", Tokens: p.spent}, nil
	}
	v := Verdict{Thought: clip(clean(reply.Thought)), Tokens: p.spent}
	switch fold(reply.Status) {
	case "answer":
		v.Answered = true
	case "continue":
		v.Query = clean(reply.Query)
	}
	return v, nil
}

// turns returns the searches and thoughts so far as text.
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

// evidence returns the facts and the evidence that fit, without chunks that were ranked for
// measuring only.
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

// reflection is the reply of a model.
type reflection struct {
	Thought string `json:"thought"`
	Status  string `json:"status"`
	Query   string `json:"next_query"`
}

// Check implements what llm.Decode asks of replies.
func (r reflection) Check() error {
	switch fold(r.Status) {
	case "answer", "abstain":
		return nil
	case "continue":
		if clean(r.Query) == "" {
			return errors.New(`"next_query" is missing, which "continue" needs`)
		}
		return nil
	}
	return fmt.Errorf(`the key "status" is %q, want "answer", "continue" or "abstain"`, r.Status)
}

// purse is a model that makes no call that might exceed the remaining tokens; left is
// negative without a budget.
type purse struct {
	llm.Model
	count       func(string) int
	left, spent int
}

// leastReply is the number of tokens that must be left for a reply.
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

// Verdict is the result of a reflection.
type Verdict struct {
	// Thought is shown to later reflections.
	Thought string
	// Query is the next query; "" ends the search.
	Query string
	// Answered reports that the evidence answers the question.
	Answered bool
	// Tokens is the number of tokens used.
	Tokens int
}

// Reflect judges the evidence so far. An error that wraps [ErrSpent] ends the search and keeps
// its results; any other error fails the question.
type Reflect func(ctx context.Context, m Memory) (Verdict, error)

// ErrSpent reports that a reflection might exceed the budget.
var ErrSpent = errors.New("the budget for reflection is spent")

// Memory is the state of the search for a question.
type Memory struct {
	Question graphrag.Question
	// Turns are the queries, beginning with the question, with the thoughts about them.
	Turns []Turn
	// Found is the merged result of all searches.
	Found graphrag.Found
	// Left is the rest of the budget, in tokens; -1 without one.
	Left int

	// known are the chunks and derived texts of all searches, including those that are not
	// in Found.
	known map[string]bool
}

// Turn is a search and the thought that followed it.
type Turn struct{ Query, Thought string }

// DefaultSteps is the most reflections of a question (TencentCloudADP/youtu-graphrag;
// the paper has no number).
const DefaultSteps = 5

// Options of [Reflecting].
type Options struct {
	// Steps is the largest number of reflections; 0 means [DefaultSteps].
	Steps int
	// Tokens is their common budget; 0 is no limit.
	Tokens int
	// GoOn searches on where a search found nothing new.
	GoOn bool
	// Draft, if set, returns the first thought: an answer from the first result.
	Draft func(ctx context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error)
	// Merge merges the results of the searches into want hits; nil interleaves them.
	Merge func(ctx context.Context, all []graphrag.Found, want int) (graphrag.Found, error)
}

// Reflecting returns a retriever that searches with first and then, as long as reflect returns
// another query, with again. It stops when reflect has an answer or no query, when a query
// repeats, when a search finds nothing new, after the last step, and when the budget is
// spent; the last of Found.Steps has the reason. The results of all searches are merged.
func Reflecting(first, again graphrag.Retriever, reflect Reflect, o Options) (graphrag.Retriever, error) {
	var problems []error
	if first == nil || again == nil {
		problems = append(problems, errors.New("agent: a retriever is missing"))
	}
	if reflect == nil {
		problems = append(problems, errors.New("agent: the reflection is missing"))
	}
	if o.Steps < 0 || o.Tokens < 0 {
		problems = append(problems, fmt.Errorf("agent: %d steps and %d tokens, want 0 or more", o.Steps, o.Tokens))
	}
	if o.Steps == 0 {
		o.Steps = DefaultSteps
	}
	if o.Merge == nil {
		o.Merge = func(_ context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
			return merge(all, want), nil
		}
	}
	return &reflecting{first, again, reflect, o}, errors.Join(problems...)
}

type reflecting struct {
	first, again graphrag.Retriever
	reflect      Reflect
	o            Options
}

// The reasons for the end of a search, as in its last step.
const (
	stopAnswered = "answered"
	stopGaveUp   = "no further query"
	stopRepeated = "the query was searched for before"
	stopNothing  = "nothing new was found"
	stopSteps    = "the last step is done"
	stopSpent    = "the budget is spent"
)

func (r *reflecting) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	found, err := r.first.Retrieve(ctx, q)
	if err != nil {
		return graphrag.Found{}, err
	}
	all := []graphrag.Found{found}
	m := Memory{Question: q, Turns: []Turn{{Query: q.Text}}, Found: found, Left: -1, known: make(map[string]bool)}
	m.news(found)
	if r.o.Tokens > 0 {
		m.Left = r.o.Tokens
	}
	if r.o.Draft != nil {
		draft, err := trace.Do(ctx, "draft", func(ctx context.Context) (graphrag.Answer, error) { return r.o.Draft(ctx, q, found) })
		if err != nil {
			return graphrag.Found{}, fmt.Errorf("agent: draft: %w", err)
		}
		m.Turns[0].Thought = draft.Text
		all[0].Usage = found.Usage.Add(draft.Usage)
		all[0].Steps = append(slices.Clip(found.Steps), graphrag.Step{Kind: "draft", Found: []string{draft.Text}})
		m.Found = all[0]
	}
	stop := stopSteps
	for range r.o.Steps {
		var next graphrag.Found
		if next, stop, err = r.step(ctx, &m); err != nil {
			return graphrag.Found{}, err
		}
		all = append(all, next)
		if m.Found, err = r.o.Merge(ctx, all, q.Want()); err != nil {
			return graphrag.Found{}, fmt.Errorf("agent: merge: %w", err)
		}
		if stop != "" {
			break
		}
		stop = stopSteps
	}
	m.Found.Steps = append(m.Found.Steps, graphrag.Step{Kind: "stop", Found: []string{stop}})
	return m.Found, nil
}

// step reflects and, if there is a new query, searches. stop is the reason if it is the last.
func (r *reflecting) step(ctx context.Context, m *Memory) (found graphrag.Found, stop string, err error) {
	v, err := trace.Do(ctx, "reflect", func(ctx context.Context) (Verdict, error) { return r.reflect(ctx, *m) })
	if errors.Is(err, ErrSpent) {
		return found, stopSpent, nil
	}
	if err != nil {
		return found, "", fmt.Errorf("agent: reflection %d: %w", len(m.Turns), err)
	}
	if m.Left >= 0 {
		m.Left = max(0, m.Left-v.Tokens)
	}
	v.Query = clip(v.Query)
	reflected := graphrag.Step{Kind: "reflect", Query: v.Query}
	if v.Thought != "" {
		reflected.Found = []string{v.Thought}
	}
	switch {
	case v.Answered:
		stop = stopAnswered
	case fold(v.Query) == "":
		stop = stopGaveUp
	case m.Asked(v.Query):
		stop = stopRepeated
	}
	if stop != "" {
		found.Steps = []graphrag.Step{reflected}
		return found, stop, nil
	}
	asked := m.Question
	asked.Text = v.Query
	if found, err = trace.Do(ctx, "search", func(ctx context.Context) (graphrag.Found, error) { return r.again.Retrieve(ctx, asked) }); err != nil {
		return found, "", fmt.Errorf("agent: search %d: %w", len(m.Turns)+1, err)
	}
	if !m.news(found) && !r.o.GoOn {
		stop = stopNothing
	}
	m.Turns = append(m.Turns, Turn{v.Query, v.Thought})
	search := graphrag.Step{Kind: "search", Query: v.Query, Found: chunkIDs(found.Read(m.Question))}
	found.Steps = append([]graphrag.Step{reflected, search}, found.Steps...)
	return found, stop, nil
}

// Asked reports whether a query was searched for before.
func (m *Memory) Asked(query string) bool {
	for _, t := range m.Turns {
		if fold(t.Query) == fold(query) {
			return true
		}
	}
	return false
}

// news records a result and reports whether any of it is new.
func (m *Memory) news(found graphrag.Found) bool {
	before := len(m.known)
	for _, h := range found.Read(m.Question) {
		m.known["chunk "+h.Chunk.ID] = true
	}
	for _, d := range found.Derived {
		m.known["text "+d.Text] = true
	}
	return len(m.known) > before
}
