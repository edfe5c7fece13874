// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
)

// DefaultReplyTokens is the limit of a reply whose request has none: the most that
// nearly every chat model takes for a limit.
const DefaultReplyTokens = 4096

// Budget is a hard limit of tokens, and of money if [Budget.LimitMoney] was
// called. A call reserves its prompt and the most its reply may have before
// it is made and settles for the true figures afterwards; a call that may
// have been billed without a figure keeps its whole reservation. It is safe
// for concurrent use.
type Budget struct {
	limit  int
	money  Money // 0: no limit
	prices *Prices
	count  func(string) int

	mu       sync.Mutex
	spent    amount
	reserved amount
	settled  chan struct{} // closed and replaced at every settlement
}

// amount is what a budget holds and a call takes.
type amount struct {
	tokens int
	money  Money
}

func (a amount) add(b amount) amount { return amount{a.tokens + b.tokens, a.money + b.money} }

// NewBudget allows limit tokens in all, prompt, reply and embedded together.
// count counts the tokens of a text; nil means a token for every four bytes,
// or part of it.
func NewBudget(limit int, count func(string) int) (*Budget, error) {
	if limit <= 0 {
		return nil, fmt.Errorf("paid: budget of %d tokens: use a positive number, or no budget", limit)
	}
	if count == nil {
		count = llm.EstimateTokens
	}
	return &Budget{limit: limit, count: count, settled: make(chan struct{})}, nil
}

// LimitMoney adds a limit in the prices' currency. Models without a price
// then cannot be called: what they cost is unknown. Call it before use.
func (b *Budget) LimitMoney(limit Money, prices *Prices) error {
	if limit <= 0 || prices == nil {
		return errors.New("paid: budget: a limit of money needs a positive amount and prices")
	}
	if err := prices.Check(); err != nil {
		return err
	}
	b.money, b.prices = limit, prices
	return nil
}

// Spent is the number of tokens settled so far.
func (b *Budget) Spent() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.tokens
}

// SpentMoney is the money settled so far, 0 without a limit of it.
func (b *Budget) SpentMoney() Money {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent.money
}

// reserve sets an amount aside. When only running calls stand in the way, it waits for
// them; when the rest of the budget is too small, it fails with [llm.ErrBudgetExceeded].
// settle must follow exactly once, with what the call really cost.
func (b *Budget) reserve(ctx context.Context, n amount) error {
	for {
		b.mu.Lock()
		if err := b.refuse(n); err != nil {
			b.mu.Unlock()
			return err
		}
		if b.fits(b.spent.add(b.reserved).add(n)) {
			b.reserved = b.reserved.add(n)
			b.mu.Unlock()
			return nil
		}
		settled := b.settled
		b.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return llm.Canceled(ctx, llm.BilledNo)
		}
	}
}

func (b *Budget) fits(sum amount) bool {
	return sum.tokens <= b.limit && (b.money == 0 || sum.money <= b.money)
}

// refuse says why n does not fit even when all running calls are settled at
// nothing.
func (b *Budget) refuse(n amount) error {
	sum := b.spent.add(n)
	if b.fits(sum) {
		return nil
	}
	need, left, limit := fmt.Sprint(n.tokens, " tokens"), fmt.Sprint(max(b.limit-b.spent.tokens, 0)), fmt.Sprint(b.limit)
	if sum.tokens <= b.limit {
		need, left, limit = n.money.String()+" "+b.prices.Currency, max(b.money-b.spent.money, 0).String(), b.money.String()
	}
	return &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
		Err: fmt.Errorf("the call may need %s, %s of %s are left: raise the budget", need, left, limit)}
}

func (b *Budget) settle(reserved, spent amount) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved = b.reserved.add(amount{-reserved.tokens, -reserved.money})
	b.spent = b.spent.add(spent)
	close(b.settled)
	b.settled = make(chan struct{})
}

// price is what a usage takes from the budget.
func (b *Budget) price(model string, u llm.Usage) (amount, error) {
	a := amount{tokens: u.Tokens()}
	if b.money == 0 {
		return a, nil
	}
	cost := b.prices.Cost(model, u)
	if cost.Partial {
		return a, &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
			Err: fmt.Errorf("no price is known of %q: add it to the prices, or drop the limit of money", model)}
	}
	a.money = cost.Amount
	return a, nil
}

// grow adds to the reservation of a call that is under way, if that fits beside
// those of the others: two calls that waited for each other would wait for ever.
func (b *Budget) grow(more amount) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.fits(b.spent.add(b.reserved).add(more)) {
		return false
	}
	b.reserved = b.reserved.add(more)
	return true
}

// do makes a call under a reservation, which grows with every attempt that was
// billed, or may have been.
func (b *Budget) do(ctx context.Context, c call) error {
	most := c.most(b.count)
	held, err := b.price(c.model, most)
	if err != nil {
		return err
	}
	if err := b.reserve(ctx, held); err != nil {
		return err
	}
	spent := held // should the call panic
	defer func() { b.settle(held, spent) }()
	var bill llm.Bill
	bill.Retry = func() error {
		need, _ := b.price(c.model, atMost(bill.Known(), bill.Unknown()+1, most)) // a price that was known before is known now
		more := amount{max(need.tokens-held.tokens, 0), max(need.money-held.money, 0)}
		if !b.grow(more) {
			return &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
				Err: fmt.Errorf("the call may need another %d tokens to be tried again: raise the budget", more.tokens)}
		}
		held, spent = held.add(more), held.add(more)
		return nil
	}
	used, err := c.make(llm.WithBill(ctx, &bill))
	known, unknown := c.cost(used, &bill, err, most)
	spent, _ = b.price(c.model, atMost(known, unknown, most))
	return err
}

// Model is m under the budget. Put it below [Cached]: hits cost nothing.
func (b *Budget) Model(m llm.Model) llm.Model { return &model{limited{m}, b} }

// limited is a model whose replies always have a limit.
type limited struct{ llm.Model }

func (m limited) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [llm.Streamer].
func (m limited) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	req.MaxTokens = cmp.Or(req.MaxTokens, DefaultReplyTokens)
	return llm.Stream(ctx, m.Model, req, piece)
}

// Embedder is e under the budget. The texts are counted, since a vector comes
// without a figure; the price is looked up by the name.
func (b *Budget) Embedder(name string, e llm.Embedder) llm.NamedEmbedder {
	return &embedder{name, e, b}
}

// call is one call to a paid service: a question to a model, or texts to be
// embedded.
type call struct {
	model string
	req   llm.Request
	raw   []byte   // the request as it is hashed
	texts []string // to be embedded
	make  func(context.Context) (llm.Usage, error)
}

// layer is what stands between a call and who makes it.
type layer interface {
	do(context.Context, call) error
}

// perMessage are the tokens that chat templates add to a message (OpenAI's
// cookbook counts 3, and 1 for a role).
const perMessage = 4

// most is the most a call may use, by a count of tokens.
func (c call) most(count func(string) int) llm.Usage {
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

// maxTokens is more than any call takes, its attempts and batches together.
const maxTokens = 1_000_000_000

// cost is what a call took: what is known, and how many attempts may have been
// billed beside that. used is what its reply says, the bill has what its attempts
// said, and an error what it cost to fail; they tell of the same attempts, so the
// larger figure counts. Figures that cannot be are replaced by the most.
func (c call) cost(used llm.Usage, bill *llm.Bill, err error, most llm.Usage) (known llm.Usage, unknown int) {
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

// atMost is what a call can have cost whose attempts may each have taken most.
func atMost(known llm.Usage, unknown int, most llm.Usage) llm.Usage {
	if known.Estimated {
		known = larger(known, most)
	}
	return known.Add(llm.Usage{
		PromptTokens: unknown * most.PromptTokens, CompletionTokens: unknown * most.CompletionTokens, EmbeddedTokens: unknown * most.EmbeddedTokens,
	})
}

// key is the start of the hash of a request, "" for embeddings.
func (c call) key() string {
	if c.raw == nil {
		return ""
	}
	k := keyOf(c.raw)
	return hex.EncodeToString(k[:8])
}

// model is a model whose calls go through a layer.
type model struct {
	llm.Model
	layer
}

// Generate implements [llm.Model].
func (m *model) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [llm.Streamer].
func (m *model) Stream(ctx context.Context, req llm.Request, piece func(string) error) (reply llm.Reply, err error) {
	raw, err := canonical(m.Name(), req)
	if err != nil {
		return llm.Reply{}, err
	}
	err = m.do(ctx, call{model: m.Name(), req: req, raw: raw, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		reply, err = llm.Stream(ctx, m.Model, req, piece)
		return reply.Usage, err
	}})
	if err != nil {
		return llm.Reply{}, err
	}
	return reply, nil
}

// embedder is an embedder whose calls go through a layer.
type embedder struct {
	name string
	e    llm.Embedder
	layer
}

// Name implements [llm.NamedEmbedder].
func (m *embedder) Name() string { return m.name }

// Batch is how many texts go in one request.
func (m *embedder) Batch() int { return batchOf(m.e) }

func (m *embedder) EmbedDocuments(ctx context.Context, texts []string) (out [][]float32, err error) {
	err = m.do(ctx, call{model: m.name, texts: texts, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		out, err = m.e.EmbedDocuments(ctx, texts)
		return llm.Usage{}, err
	}})
	return out, err
}

func (m *embedder) EmbedQuery(ctx context.Context, text string) (out []float32, err error) {
	err = m.do(ctx, call{model: m.name, texts: []string{text}, make: func(ctx context.Context) (llm.Usage, error) {
		var err error
		out, err = m.e.EmbedQuery(ctx, text)
		return llm.Usage{}, err
	}})
	return out, err
}
