// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"context"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
)

// budget is a hard limit of tokens, and of money if there are prices. A call reserves its prompt and its
// longest possible reply in advance and settles for the actual usage afterwards; a call that may have been
// billed without usage keeps its whole reservation. It is safe for concurrent use.
type budget struct {
	limit  amount
	prices *Prices // nil: money has no limit

	mu       sync.Mutex
	spent    amount
	reserved amount
	open     map[*reservation]bool
	settled  chan struct{} // closed and replaced at every settlement
}

// amount is a number of tokens and a sum of money.
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

// price converts usage into an amount. The model has a price, see [Client.priced].
func (b *budget) price(model string, u llm.Usage) amount {
	a := amount{tokens: u.Tokens()}
	if b.prices != nil {
		a.money = b.prices.Cost(model, u).Amount
	}
	return a
}

// reservation is the amount set aside for a call with a reply of at most reply tokens. The lock of the budget
// guards it.
type reservation struct {
	b     *budget
	model string
	reply int
	held  amount
	spent *amount
}

// reserve sets aside the worst case of a call, which may grow while it waits. It waits if settling the
// running calls could free enough, and fails with [llm.ErrBudgetExceeded] if the rest of the budget is too
// small.
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

// refuse returns an error if n does not fit even when all running calls cost nothing.
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

// grow raises the reservation to most if that fits without waiting: two calls that waited for each other
// would never end.
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

// hold adds to the reservation.
func (r *reservation) hold(more amount) {
	r.b.reserved, r.held = r.b.reserved.add(more), r.held.add(more)
}

// lengthen raises the reservations of a model's running calls to a reply of that many tokens, even beyond the
// limit: the calls cannot be undone.
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

// spend sets the actual usage. Without it, as after a panic, the whole reservation counts.
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
