// SPDX-License-Identifier: Apache-2.0

package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/prompts"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// maxEvidence is the most tokens of evidence in the prompt of a reflection: about five chunks of 1,200 tokens
// and twenty facts.
const maxEvidence = 8000

// ReflectByModel returns a Next that asks a model whether the evidence answers the question, and for the next
// query if it does not; count counts tokens. The prompt always contains the original question. An unusable
// reply or a refusal ends the search. With a budget, no call is made that might exceed it.
func ReflectByModel(m llm.Model, count func(string) int) (Next, error) {
	checks := opt.Checks{Of: "agent"}
	checks.Want(m != nil, "the model that reflects", "missing", "one")
	checks.Want(count != nil, "the counter of tokens", "missing", "one")
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return reflector{m, count}.reflect, nil
}

// reflector asks a model whether the evidence answers the question.
type reflector struct {
	model llm.Model
	count func(string) int
}

func (r reflector) reflect(ctx context.Context, m *Memory) (Move, error) {
	req, err := templates.Request(ctx, StageReflect, "reflect", nil,
		prompts.Data{Label: "question", Text: m.Question.Text},
		prompts.Data{Label: "searches", Text: m.turns()},
		prompts.Data{Label: "evidence", Text: r.evidence(m)})
	if err != nil {
		return Move{}, err
	}
	p := &budgeted{Model: r.model, count: r.count, left: m.Left}
	reply, _, err := replies.Decode[reflection](ctx, p, req)
	if errors.Is(err, ErrSpent) || err != nil && !llm.OfOneReply(err) {
		return Move{}, err
	}
	if err != nil {
		return Move{Thought: "the reflection could not be used", Tokens: p.spent}, nil
	}
	v := Move{Thought: clip(clean(reply.Thought)), Tokens: p.spent}
	switch fold(reply.Status) {
	case "answer":
		v.Answered = true
	case "continue":
		v.Query = reply.next(m)
	}
	return v, nil
}

// turns returns the searches and thoughts so far as text.
func (m *Memory) turns() string {
	var b strings.Builder
	for i, t := range m.Turns { // the thought of a turn is about the searches before that turn
		if t.Thought != "" {
			fmt.Fprintf(&b, "   %s\n", oneLine(clip(t.Thought)))
		}
		fmt.Fprintf(&b, "%d. %s\n", i+1, oneLine(t.Query))
	}
	return strings.TrimSpace(b.String())
}

// evidence returns the facts and the evidence that fit into maxEvidence tokens, without chunks that were ranked
// only for measuring.
func (r reflector) evidence(m *Memory) string {
	hits, derived := retrieve.Fit(m.Found.Read(m.Question), m.Found.Derived, maxEvidence, r.count)
	var parts []string
	for _, d := range derived {
		parts = append(parts, prompts.Printable(d.Text))
	}
	for _, h := range hits {
		parts = append(parts, prompts.Printable(h.Chunk.Prompt()))
	}
	if parts == nil {
		return "nothing"
	}
	return strings.Join(parts, "\n\n")
}

func oneLine(s string) string { return strings.Join(strings.Fields(prompts.Printable(s)), " ") }

// reflection is the model's reply.
type reflection struct {
	Thought string `json:"thought"`
	Status  string `json:"status" llm:"enum=answer|continue|abstain"`
	Query   string `json:"next_query"`
	// SubQueries may replace Query, in the form of [proposals].
	SubQueries []proposal `json:"sub_queries,omitempty"`
}

// next returns the query, or if it is empty, the first sub-query that was not searched for yet.
func (r reflection) next(m *Memory) string {
	query := clean(r.Query)
	for _, s := range r.SubQueries {
		if text := clean(s.text()); query == "" && !m.Asked(text) {
			query = text
		}
	}
	return query
}

// Check makes replies.Decode reject a reply without a valid status or the query it needs.
func (r reflection) Check() error {
	switch fold(r.Status) {
	case "answer", "abstain":
		return nil
	case "continue":
		if clean(r.Query) == "" && len(r.SubQueries) == 0 {
			return errors.New(`"next_query" is missing, which "continue" needs`)
		}
		return nil
	}
	return fmt.Errorf(`the key "status" is %q, want "answer", "continue" or "abstain"`, r.Status)
}

// budgeted is a model that makes no call that might exceed the remaining tokens; a negative left is no budget.
type budgeted struct {
	llm.Model
	count       func(string) int
	left, spent int
}

// leastReply is the least number of tokens that must remain for a reply.
const leastReply = 256

func (p *budgeted) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
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

// Options of [Reflecting].
type Options struct {
	// Steps is the most reflections; 0 means [DefaultSteps].
	Steps int
	// Tokens is the token budget of all reflections together; 0 means no limit.
	Tokens int
	// GoOn searches on where a search found nothing new.
	GoOn bool
	// Draft, if set, returns the first thought: an answer from the first result.
	Draft func(ctx context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error)
	// Merge merges the results of the searches into at most want hits; nil interleaves them.
	Merge func(ctx context.Context, all []graphrag.Found, want int) (graphrag.Found, error)
}

// Reflecting returns a retriever that searches with first and then, as long as reflect returns another query,
// with again. It stops if reflect returns an answer or no query, if a query repeats, if a search finds nothing
// new, after the last step, and when the budget is spent; the last of Found.Steps has the reason. The results
// of all searches are merged.
func Reflecting(first, again graphrag.Retriever, reflect Next, o Options) (graphrag.Retriever, error) {
	checks := opt.Checks{Of: "agent"}
	checks.Want(first != nil && again != nil, "a retriever", "missing", "one for the question and one for further queries")
	checks.Want(reflect != nil, "the reflection", "missing", "a function that decides on the next query")
	opt.Min(&checks, "Steps", o.Steps, 0)
	opt.Min(&checks, "Tokens", o.Tokens, 0)
	if err := checks.Err(); err != nil {
		return nil, err
	}
	if o.Merge == nil {
		o.Merge = func(_ context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
			return merge(all, want), nil
		}
	}
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		r := &reflecting{again: again, o: o, known: make(map[string]bool)}
		r.loop = loop{kind: "reflect", stale: 1, end: r.end, do: r.search}
		r.Memory = Memory{Question: q, Left: cmp.Or(o.Tokens, -1), Ahead: cmp.Or(o.Steps, DefaultSteps)}
		if o.GoOn {
			r.stale = 0
		}
		if err := r.begin(ctx, first); err != nil {
			return graphrag.Found{}, err
		}
		stop, err := r.run(ctx, reflect)
		if err == nil && len(r.all) == 1 {
			err = r.merge(ctx)
		}
		if err != nil {
			return graphrag.Found{}, err
		}
		r.Found.Steps = r.stopped(stop)
		return r.Found, nil
	}), nil
}

// reflecting is the state of a search for one question.
type reflecting struct {
	loop
	again graphrag.Retriever
	o     Options
	all   []graphrag.Found // results of the searches so far
	known map[string]bool  // the chunks and derived texts in these results
}

// begin searches for the question itself.
func (r *reflecting) begin(ctx context.Context, first graphrag.Retriever) error {
	found, err := first.Retrieve(ctx, r.Question)
	if err != nil {
		return err
	}
	begun := Turn{Move: Move{Query: r.Question.Text}}
	r.steps = slices.Clip(found.Steps)
	if r.o.Draft != nil {
		draft, err := trace.Do(ctx, "draft", func(ctx context.Context) (graphrag.Answer, error) { return r.o.Draft(ctx, r.Question, found) })
		if err != nil {
			return fmt.Errorf("agent: drafting a first answer: %w", err)
		}
		begun.Thought = draft.Text
		found.Usage = found.Usage.Add(draft.Usage)
		r.steps = append(r.steps, graphrag.Step{Kind: "draft", Found: []string{draft.Text}})
	}
	r.Turns, r.Found = []Turn{begun}, found
	r.news(found)
	return nil
}

func (r *reflecting) end(m Move) string {
	if r.Left >= 0 {
		r.Left = max(0, r.Left-m.Tokens)
	}
	switch {
	case m.Answered:
		return stopAnswered
	case fold(m.Query) == "":
		return stopGaveUp
	case r.Asked(m.Query):
		return stopRepeated
	}
	return ""
}

func (r *reflecting) search(ctx context.Context, m Move) (news bool, err error) {
	asked := r.Question
	asked.Text = m.Query
	found, err := trace.Do(ctx, "search", func(ctx context.Context) (graphrag.Found, error) { return r.again.Retrieve(ctx, asked) })
	if err != nil {
		return false, fmt.Errorf("agent: search %d: %w", len(r.Turns)+1, err)
	}
	r.steps = append(append(r.steps, graphrag.Step{Kind: "search", Query: m.Query, Found: chunkIDs(found.Read(r.Question))}), found.Steps...)
	r.Turns = append(r.Turns, Turn{Move: m})
	return r.news(found), r.merge(ctx)
}

// merge merges the results of all searches.
func (r *reflecting) merge(ctx context.Context) (err error) {
	if r.Found, err = r.o.Merge(ctx, r.all, r.Question.Want()); err != nil {
		return fmt.Errorf("agent: merging the results of the searches: %w", err)
	}
	return nil
}

// Asked reports whether a query was searched for before.
func (m *Memory) Asked(query string) bool {
	return slices.ContainsFunc(m.Turns, func(t Turn) bool { return fold(t.Query) == fold(query) })
}

// news adds a result and reports whether it contains anything new.
func (r *reflecting) news(found graphrag.Found) bool {
	r.all = append(r.all, found)
	before := len(r.known)
	for _, h := range found.Read(r.Question) {
		r.known["chunk "+h.Chunk.ID] = true
	}
	for _, d := range found.Derived {
		r.known["text "+d.Text] = true
	}
	return len(r.known) > before
}
