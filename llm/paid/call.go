// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"log/slog"

	"github.com/wildgraph/wildgraph/graphrag/trace"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// DefaultReplyTokens is the limit of a reply whose request has none: the largest limit that nearly every chat
// model accepts.
const DefaultReplyTokens = 4096

// pay makes a call between its two entries in the ledger, under a reservation of its worst case: the prompt
// and a reply up to the limit, or up to the longest reply of a model that exceeded a limit. Before a retry,
// the reservation grows and the cost so far is recorded, so that it survives the death of the program.
func (c *Client) pay(ctx context.Context, k call) error {
	stage := cmp.Or(k.req.Stage, metering.StageOf(ctx))
	if stage != StageProbe {
		if err := c.runProbes(ctx); err != nil {
			return err
		}
	}
	most := k.worstUsage(c.o.count)
	limit := most.CompletionTokens
	held, err := c.budget.reserve(ctx, k.model, func() llm.Usage {
		most.CompletionTokens = max(limit, c.ledger.longest(k.model))
		return most
	})
	if err != nil {
		return err
	}
	defer held.settle()
	e := Entry{
		ID: rand.Text(), Run: c.o.Run, Key: k.key(), Model: k.model, Most: most,
		Stage: stage, Question: cmp.Or(k.req.Question, metering.QuestionOf(ctx)),
	}
	if err := c.ledger.keep(recordIntent, e); err != nil {
		held.spend(llm.Usage{})
		return err
	}
	var bill metering.Bill
	bill.Retry = func() error {
		most.CompletionTokens = max(most.CompletionTokens, bill.Longest(), c.ledger.longest(k.model))
		if err := held.grow(worstCase(bill.Known(), bill.Unknown()+1, most)); err != nil {
			return err
		}
		if e.Usage == bill.Known() && e.Unknown == bill.Unknown() {
			return nil
		}
		e.Usage, e.Unknown = bill.Known(), bill.Unknown()
		return c.ledger.keep(recordIntent, e)
	}
	used, err := k.make(metering.WithBill(ctx, &bill))
	e.Usage, e.Unknown = k.usageOf(used, &bill, err, most)
	e.Longest = c.noteOverrun(ctx, k.model, cmp.Or(bill.Longest(), used.CompletionTokens), limit)
	trace.Of(ctx).Set(c.costAttributes(e)...)
	err = c.ledger.end(ctx, e, err)
	held.spend(worstCase(e.Usage, e.Unknown, most))
	return err
}

// costAttributes are the attributes of a call's cost in a trace.
func (c *Client) costAttributes(e Entry) []slog.Attr {
	out := []slog.Attr{slog.Bool("wildgraph.paid", true)}
	if p := c.o.Prices; p != nil && !p.Cost(e.Model, e.Usage).Partial {
		out = append(out, slog.Float64("wildgraph.cost", float64(p.Cost(e.Model, e.Usage).Amount)/unit), slog.String("wildgraph.currency", p.Currency))
	}
	return out
}

// noteOverrun records a reply that is longer than its limit and returns its tokens; it returns 0 for other
// replies and for implausible figures.
func (c *Client) noteOverrun(ctx context.Context, model string, tokens, limit int) int {
	if tokens <= limit || tokens > maxTokens {
		return 0
	}
	first := c.ledger.learn(model, tokens)
	c.budget.lengthen(model, tokens)
	if first && c.o.Logger != nil {
		c.o.Logger.WarnContext(ctx, "paid: a reply is longer than its limit: from now on a call reserves as much as the longest reply took",
			"model", model, "tokens", tokens, "limit", limit)
	}
	return tokens
}

// call is one call to a paid service: a request to a model, or texts to embed.
type call struct {
	model string
	req   llm.Request
	raw   []byte   // canonical request, nil for embeddings
	texts []string // to embed
	make  func(context.Context) (llm.Usage, error)
}

// perMessage is the number of tokens that chat templates add to a message (3 and 1 for a role in OpenAI's
// cookbook).
const perMessage = 4

// worstUsage returns the largest usage of one attempt.
func (c call) worstUsage(count func(string) int) llm.Usage {
	var u llm.Usage
	for _, t := range c.texts {
		u.EmbeddedTokens += count(t)
	}
	if c.raw == nil {
		return u
	}
	u.PromptTokens = count(string(c.req.Schema))
	for _, m := range c.req.Messages {
		u.PromptTokens += count(m.Text) + perMessage
	}
	u.CompletionTokens = cmp.Or(c.req.MaxTokens, DefaultReplyTokens)
	return u
}

// maxTokens is beyond the usage of any call, all attempts and batches together.
const maxTokens = 1_000_000_000

// usageOf returns the known usage of a call and the number of further attempts that may have been billed.
// Reply, bill and error describe the same attempts, so the larger figure counts. Implausible figures are
// replaced by the worst case.
func (c call) usageOf(used llm.Usage, bill *metering.Bill, err error, most llm.Usage) (known llm.Usage, unknown int) {
	known, unknown = larger(used, bill.Known()), bill.Unknown()
	if err != nil {
		var own *llm.Error
		billed := llm.BilledUnknown
		if errors.As(err, &own) {
			known, billed = larger(known, own.Usage), own.Billed
		}
		if billed == llm.BilledUnknown || billed == llm.BilledYes && known.Tokens() == 0 {
			unknown = max(unknown, 1)
		}
	}
	switch {
	case implausible(known):
		known = llm.Usage{Calls: max(known.Calls, 0), PromptTokens: most.PromptTokens, CompletionTokens: most.CompletionTokens,
			EmbeddedTokens: most.EmbeddedTokens, Estimated: true}
	case err == nil && known.Tokens() == 0 && c.raw == nil: // a vector comes without a figure
		known = llm.Usage{EmbeddedTokens: most.EmbeddedTokens, Estimated: true}
	}
	return known, unknown
}

func larger(a, b llm.Usage) llm.Usage {
	return llm.Usage{
		Calls: max(a.Calls, b.Calls), CachedCalls: max(a.CachedCalls, b.CachedCalls),
		PromptTokens:     max(a.PromptTokens, b.PromptTokens),
		CompletionTokens: max(a.CompletionTokens, b.CompletionTokens),
		EmbeddedTokens:   max(a.EmbeddedTokens, b.EmbeddedTokens),
		Estimated:        a.Estimated || b.Estimated,
	}
}

func implausible(u llm.Usage) bool {
	return min(u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens) < 0 ||
		max(u.Calls, u.PromptTokens, u.CompletionTokens, u.EmbeddedTokens) > maxTokens
}

// worstCase bounds the usage of a call, counting every unknown attempt at most.
func worstCase(known llm.Usage, unknown int, most llm.Usage) llm.Usage {
	times := func(n int) llm.Usage {
		return llm.Usage{PromptTokens: n * most.PromptTokens, CompletionTokens: n * most.CompletionTokens, EmbeddedTokens: n * most.EmbeddedTokens}
	}
	if known.Estimated { // some attempts, perhaps all, are estimates
		known = larger(known, times(max(known.Calls, 1)))
	}
	return known.Add(times(unknown))
}

// key returns the start of the hash of a request, "" for embeddings.
func (c call) key() string {
	if c.raw == nil {
		return ""
	}
	k := keyOf(c.raw)
	return hex.EncodeToString(k[:8])
}

// ask asks a model and pays for the call.
func (c *Client) ask(ctx context.Context, m llm.Model, raw []byte, req llm.Request, piece func(string) error) (reply llm.Reply, err error) {
	err = c.pay(ctx, call{model: m.Name(), req: req, raw: raw, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		reply, err = llm.Stream(ctx, m, req, piece)
		return reply.Usage, err
	}})
	if err != nil {
		return llm.Reply{}, err
	}
	return reply, nil
}
