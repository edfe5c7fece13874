// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
)

// budget is a hard limit of tokens, and of money if there are prices. A call reserves
// its prompt and the longest reply it may have before it is made and settles for the
// true figures afterwards; a call that may have been billed without a figure keeps its
// whole reservation. It is safe for concurrent use.
type budget struct {
	limit  amount
	prices *Prices // nil: money has no limit

	mu       sync.Mutex
	spent    amount
	reserved amount
	open     map[*reservation]bool
	settled  chan struct{} // closed and replaced at every settlement
}

// amount is what a budget holds and a call takes.
type amount struct {
	tokens int
	money  Money
}

func (a amount) add(b amount) amount { return amount{a.tokens + b.tokens, a.money + b.money} }
func (a amount) sub(b amount) amount { return amount{a.tokens - b.tokens, a.money - b.money} }

func newBudget(limit amount, prices *Prices) *budget {
	return &budget{limit: limit, prices: prices, open: map[*reservation]bool{}, settled: make(chan struct{})}
}

func (b *budget) fits(sum amount) bool {
	return sum.tokens <= b.limit.tokens && (b.prices == nil || sum.money <= b.limit.money)
}

// price is what a usage takes from the budget. The model has a price: see
// [Client.priced].
func (b *budget) price(model string, u llm.Usage) amount {
	a := amount{tokens: u.Tokens()}
	if b.prices != nil {
		a.money = b.prices.Cost(model, u).Amount
	}
	return a
}

// reservation is what a call has set aside, by the tokens of the longest reply it is made
// for. What it holds is guarded by the lock of the budget.
type reservation struct {
	b     *budget
	model string
	reply int
	held  amount
	spent *amount
}

// reserve sets aside what a call can take at most, which may grow while it waits. When
// only running calls stand in the way, it waits for them; when the rest of the budget is
// too small, it fails with [llm.ErrBudgetExceeded].
func (b *budget) reserve(ctx context.Context, model string, most func() llm.Usage) (*reservation, error) {
	for {
		b.mu.Lock()
		u := most()
		n := b.price(model, u)
		if err := b.refuse(n); err != nil {
			b.mu.Unlock()
			return nil, err
		}
		if b.fits(b.spent.add(b.reserved).add(n)) {
			r := &reservation{b: b, model: model, reply: u.CompletionTokens, held: n}
			b.reserved, b.open[r] = b.reserved.add(n), true
			b.mu.Unlock()
			return r, nil
		}
		settled := b.settled
		b.mu.Unlock()
		select {
		case <-settled:
		case <-ctx.Done():
			return nil, llm.Canceled(ctx, llm.BilledNo)
		}
	}
}

// refuse says why n does not fit even when all running calls are settled at
// nothing.
func (b *budget) refuse(n amount) error {
	if b.fits(b.spent.add(n)) {
		return nil
	}
	left := b.limit.sub(b.spent)
	need, rest, limit := fmt.Sprint(n.tokens, " tokens"), fmt.Sprint(max(left.tokens, 0)), fmt.Sprint(b.limit.tokens)
	if n.tokens <= left.tokens {
		need, rest, limit = n.money.String()+" "+b.prices.Currency, max(left.money, 0).String(), b.limit.money.String()
	}
	return &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
		Err: fmt.Errorf("the call may need %s, %s of %s are left: raise the budget", need, rest, limit)}
}

// grow reserves what the call may take in all, if that fits beside the reservations of
// the others: two calls that waited for each other would wait for ever.
func (r *reservation) grow(most llm.Usage) error {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	need := r.b.price(r.model, most).sub(r.held)
	more := amount{max(need.tokens, 0), max(need.money, 0)}
	if !r.b.fits(r.b.spent.add(r.b.reserved).add(more)) {
		return &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
			Err: fmt.Errorf("the call may need another %d tokens to be tried again: raise the budget", more.tokens)}
	}
	r.hold(more)
	return nil
}

// hold adds to what is set aside.
func (r *reservation) hold(more amount) {
	r.b.reserved, r.held = r.b.reserved.add(more), r.held.add(more)
}

// lengthen has the calls of a model that are under way reserve for a reply of so many
// tokens, whether that fits or not: they cannot be taken back.
func (b *budget) lengthen(model string, reply int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for r := range b.open {
		if more := reply - r.reply; r.model == model && more > 0 {
			r.reply = reply
			r.hold(b.price(model, llm.Usage{CompletionTokens: more}))
		}
	}
}

// spend says what the call has really taken. Without it, as after a panic, that is all
// that is reserved.
func (r *reservation) spend(u llm.Usage) {
	spent := r.b.price(r.model, u)
	r.spent = &spent
}

// settle ends the reservation.
func (r *reservation) settle() {
	b := r.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.spent == nil {
		r.spent = &r.held
	}
	delete(b.open, r)
	b.reserved, b.spent = b.reserved.sub(r.held), b.spent.add(*r.spent)
	close(b.settled)
	b.settled = make(chan struct{})
}
