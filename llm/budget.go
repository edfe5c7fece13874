// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"errors"
	"fmt"
	"sync"
)

// DefaultReplyReserve is what is reserved for a reply without a token limit
// of its own. Most servers stop at 4,096.
const DefaultReplyReserve = 4096

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
		return nil, fmt.Errorf("llm: budget of %d tokens: use a positive number, or no budget", limit)
	}
	if count == nil {
		count = EstimateTokens
	}
	return &Budget{limit: limit, count: count, settled: make(chan struct{})}, nil
}

// EstimateTokens is a guess that needs no vocabulary: a token for every four
// bytes or part of it.
func EstimateTokens(text string) int { return (len(text) + bytesPerToken - 1) / bytesPerToken }

// LimitMoney adds a limit in the prices' currency. Models without a price
// then cannot be called: what they cost is unknown. Call it before use.
func (b *Budget) LimitMoney(limit Money, prices *Prices) error {
	if limit <= 0 || prices == nil {
		return errors.New("llm: budget: a limit of money needs a positive amount and prices")
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

// Reserve sets n tokens aside. When only running calls stand in the way, it
// waits for them; when the rest of the budget is too small, it fails with
// [ErrBudgetExceeded]. settle must be called exactly once, with what the call
// really cost.
func (b *Budget) Reserve(ctx context.Context, n int) (settle func(spent int), err error) {
	done, err := b.reserve(ctx, amount{tokens: n})
	if err != nil {
		return nil, err
	}
	return func(spent int) { done(amount{tokens: spent}) }, nil
}

func (b *Budget) reserve(ctx context.Context, n amount) (settle func(spent amount), err error) {
	for {
		b.mu.Lock()
		if err := b.refuse(n); err != nil {
			b.mu.Unlock()
			return nil, err
		}
		if b.fits(b.spent.add(b.reserved).add(n)) {
			b.reserved = b.reserved.add(n)
			b.mu.Unlock()
			return func(spent amount) { b.settle(n, spent) }, nil
		}
		settled := b.settled
		b.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, Canceled(ctx, BilledNo)
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
	return &Error{Kind: ErrBudgetExceeded, Billed: BilledNo,
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
func (b *Budget) price(model string, u Usage) (amount, error) {
	a := amount{tokens: tokens(u)}
	if b.money == 0 {
		return a, nil
	}
	cost := b.prices.Cost(model, u)
	if cost.Partial {
		return a, &Error{Kind: ErrBudgetExceeded, Billed: BilledNo,
			Err: fmt.Errorf("no price is known of %q: add it to the prices, or drop the limit of money", model)}
	}
	a.money = cost.Amount
	return a, nil
}

// spend makes a call under a reservation. A call that may have been billed
// without a figure keeps it.
func spend[T any](ctx context.Context, b *Budget, model string, most Usage, call func() (T, Usage, error)) (T, error) {
	var zero T
	n, err := b.price(model, most)
	if err != nil {
		return zero, err
	}
	settle, err := b.reserve(ctx, n)
	if err != nil {
		return zero, err
	}
	spent := n // should call panic
	defer func() { settle(spent) }()
	v, usage, err := call()
	var e *Error
	known := true
	if err != nil {
		usage = Usage{}
		if known = errors.As(err, &e); known {
			usage = e.Usage
			known = e.Billed == BilledNo || e.Billed == BilledYes && tokens(usage) > 0
		}
	}
	spent, _ = b.price(model, usage) // a price that was known before is known now
	if !known {
		spent = spent.add(n)
	}
	return v, err
}

// Model is m under the budget. Put it below [Cached]: hits cost nothing.
func (b *Budget) Model(m Model) Model { return &budgeted{Model: m, b: b} }

type budgeted struct {
	Model
	b *Budget
}

func (m *budgeted) Generate(ctx context.Context, req Request) (Reply, error) {
	most := Usage{PromptTokens: m.b.promptTokens(req), CompletionTokens: orDefault(req.MaxTokens, DefaultReplyReserve)}
	return spend(ctx, m.b, m.Name(), most, func() (Reply, Usage, error) {
		reply, err := m.Model.Generate(ctx, req)
		return reply, reply.Usage, err
	})
}

// perMessage are the tokens that chat templates add to a message (OpenAI's
// cookbook counts 3, and 1 for a role).
const perMessage = 4

func (b *Budget) promptTokens(req Request) int {
	n := b.count(string(req.Schema))
	for _, m := range req.Messages {
		n += b.count(m.Text) + perMessage
	}
	return n
}

func tokens(u Usage) int { return u.PromptTokens + u.CompletionTokens + u.EmbeddedTokens }

// Embedder is e under the budget. The texts are counted, since a vector comes
// without a figure. Under a limit of money, e must have a Name() to look its
// price up by.
func (b *Budget) Embedder(e Embedder) Embedder {
	m := &budgetedEmbedder{e: e, b: b}
	if named, ok := e.(interface{ Name() string }); ok {
		m.name = named.Name()
	}
	return m
}

type budgetedEmbedder struct {
	e    Embedder
	name string
	b    *Budget
}

func (m *budgetedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	var most Usage
	for _, t := range texts {
		most.EmbeddedTokens += m.b.count(t)
	}
	return spend(ctx, m.b, m.name, most, func() ([][]float32, Usage, error) {
		v, err := m.e.EmbedDocuments(ctx, texts)
		return v, most, err
	})
}

func (m *budgetedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	most := Usage{EmbeddedTokens: m.b.count(text)}
	return spend(ctx, m.b, m.name, most, func() ([]float32, Usage, error) {
		v, err := m.e.EmbedQuery(ctx, text)
		return v, most, err
	})
}
