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

// Budget is a hard limit of tokens. A call reserves its prompt and the most
// its reply may have before it is made and settles for the true figures
// afterwards; a call that may have been billed without a figure keeps its
// whole reservation. It is safe for concurrent use.
type Budget struct {
	limit int
	count func(string) int

	mu       sync.Mutex
	spent    int
	reserved int
	settled  chan struct{} // closed and replaced at every settlement
}

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

// Spent is the number of tokens settled so far.
func (b *Budget) Spent() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Reserve sets n tokens aside. When only running calls stand in the way, it
// waits for them; when the rest of the budget is too small, it fails with
// [ErrBudgetExceeded]. settle must be called exactly once, with what the call
// really cost.
func (b *Budget) Reserve(ctx context.Context, n int) (settle func(spent int), err error) {
	for {
		b.mu.Lock()
		switch {
		case b.spent+n > b.limit:
			left := b.limit - b.spent
			b.mu.Unlock()
			return nil, &Error{Kind: ErrBudgetExceeded, Billed: BilledNo,
				Err: fmt.Errorf("the call may need %d tokens, %d of %d are left: raise the budget", n, max(left, 0), b.limit)}
		case b.spent+b.reserved+n <= b.limit:
			b.reserved += n
			b.mu.Unlock()
			return func(spent int) { b.settle(n, spent) }, nil
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

func (b *Budget) settle(reserved, spent int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.reserved -= reserved
	b.spent += spent
	close(b.settled)
	b.settled = make(chan struct{})
}

// Model is m under the budget. Put it below [Cached]: hits cost nothing.
func (b *Budget) Model(m Model) Model { return &budgeted{Model: m, b: b} }

type budgeted struct {
	Model
	b *Budget
}

func (m *budgeted) Generate(ctx context.Context, req Request) (Reply, error) {
	reserve := m.b.promptTokens(req) + orDefault(req.MaxTokens, DefaultReplyReserve)
	settle, err := m.b.Reserve(ctx, reserve)
	if err != nil {
		return Reply{}, err
	}
	spent := reserve // should Generate panic
	defer func() { settle(spent) }()
	reply, err := m.Model.Generate(ctx, req)
	spent = spentOn(reply, err, reserve)
	return reply, err
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

// spentOn is what a finished call is charged with.
func spentOn(reply Reply, err error, reserved int) int {
	if err == nil {
		return tokens(reply.Usage)
	}
	var e *Error
	if !errors.As(err, &e) {
		return reserved
	}
	if e.Billed == BilledUnknown {
		return tokens(e.Usage) + reserved
	}
	return tokens(e.Usage)
}

// Embedder is e under the budget. The texts are counted, since a vector comes
// without a figure.
func (b *Budget) Embedder(e Embedder) Embedder { return &budgetedEmbedder{e: e, b: b} }

type budgetedEmbedder struct {
	e Embedder
	b *Budget
}

func (m *budgetedEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	n := 0
	for _, t := range texts {
		n += m.b.count(t)
	}
	return spend(ctx, m.b, n, func() ([][]float32, error) { return m.e.EmbedDocuments(ctx, texts) })
}

func (m *budgetedEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return spend(ctx, m.b, m.b.count(text), func() ([]float32, error) { return m.e.EmbedQuery(ctx, text) })
}

func spend[T any](ctx context.Context, b *Budget, n int, f func() (T, error)) (T, error) {
	settle, err := b.Reserve(ctx, n)
	if err != nil {
		var zero T
		return zero, err
	}
	spent := n
	defer func() { settle(spent) }()
	v, err := f()
	var e *Error
	if errors.As(err, &e) && e.Billed == BilledNo {
		spent = tokens(e.Usage)
	}
	return v, err
}
