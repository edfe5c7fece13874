// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/wildgraph/wildgraph/llm"
)

// Money is an amount in units of 1e-12 of the currency. Sums are exact, in any order.
type Money int64

// unit is the [Money] of one dollar, euro or yen.
const unit = 1e12

// MoneyOf converts an amount in units of the currency, such as 1.5 dollars. Amounts above nine million become
// nine million.
func MoneyOf(units float64) Money {
	if math.IsNaN(units) {
		return 0
	}
	return Money(math.Round(min(max(units, -9e6), 9e6) * unit))
}

// Units returns the amount in units of the currency.
func (m Money) Units() float64 { return float64(m) / unit }

// String returns the amount rounded to four decimals.
func (m Money) String() string { return strconv.FormatFloat(m.Units(), 'f', 4, 64) }

// MarshalJSON writes the amount in units of the currency, such as 1.25.
func (m Money) MarshalJSON() ([]byte, error) { return json.Marshal(m.Units()) }

// UnmarshalJSON reads an amount in units of the currency.
func (m *Money) UnmarshalJSON(b []byte) error {
	var units float64
	if err := json.Unmarshal(b, &units); err != nil {
		return err
	}
	*m = MoneyOf(units)
	return nil
}

// Price is the price of a model on a day. The user supplies it: this library knows no prices.
type Price struct {
	// Model is the model's name at the provider, or the whole [llm.Model.Name] if endpoints differ in price.
	Model string `json:"model"`
	// AsOf is the day the price was looked up, as 2025-12-31.
	AsOf string `json:"as_of"`
	// Prices in units of the currency per million tokens. A chat model has prices of prompts and of replies, an
	// embedding model has one of embedded texts.
	Prompt     float64 `json:"prompt"`
	Completion float64 `json:"completion"`
	// Cached is the price of prompt tokens that the provider's cache has; 0 means the price Prompt.
	Cached   float64 `json:"cached,omitempty"`
	Embedded float64 `json:"embedded,omitempty"`
}

// Prices is a list of prices in one currency.
type Prices struct {
	Currency string  `json:"currency"`
	Models   []Price `json:"models"`
}

// mostPrice limits a price per million tokens, so that sums do not overflow.
const mostPrice = 1e6

// ReadPrices reads and checks a JSON object in the form of [Prices]. A price of 0 must be written: a missing
// one is unknown, not free.
func ReadPrices(r io.Reader) (*Prices, error) {
	var p Prices
	var given struct{ Models []map[string]any }
	data, err := io.ReadAll(io.LimitReader(r, 1<<24))
	if err == nil {
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		err = dec.Decode(&p)
	}
	if err == nil {
		err = json.Unmarshal(data, &given)
	}
	if err != nil {
		return nil, fmt.Errorf("paid: read the prices: %w", err)
	}
	errs := []error{p.Check()}
	for i, m := range given.Models {
		if m["embedded"] == nil && (m["prompt"] == nil || m["completion"] == nil) {
			errs = append(errs, fmt.Errorf("paid: prices: model %q: a price is missing: give prompt and completion, or embedded, or both", p.Models[i].Model))
		}
	}
	return &p, errors.Join(errs...)
}

// Check reports every fault of the list.
func (p *Prices) Check() error {
	var errs []error
	if p.Currency == "" || strings.ContainsFunc(p.Currency, func(r rune) bool { return !unicode.IsGraphic(r) }) {
		errs = append(errs, fmt.Errorf("paid: prices: the currency is %q: want a name such as USD", p.Currency))
	}
	seen := map[string]bool{}
	for _, m := range p.Models {
		fail := func(what string) {
			errs = append(errs, fmt.Errorf("paid: prices: model %q: %s", m.Model, what))
		}
		if m.Model == "" || seen[m.Model] {
			fail("the name is empty or listed twice")
		}
		seen[m.Model] = true
		if _, err := time.Parse(time.DateOnly, m.AsOf); err != nil {
			fail("as_of is no date: write it like 2025-12-31")
		}
		for _, x := range []float64{m.Prompt, m.Cached, m.Completion, m.Embedded} {
			if !(x >= 0 && x <= mostPrice) {
				fail("a price is negative or out of range")
			}
		}
		if (m.Prompt == 0) != (m.Completion == 0) {
			fail("it has only one of the prices of prompts and replies: give both")
		}
	}
	return errors.Join(errs...)
}

// of finds the price of a model by its whole name, else by the longest name in the list that ends the model's.
func (p *Prices) of(name string) (Price, bool) {
	if p == nil {
		return Price{}, false
	}
	bare, _, _ := strings.Cut(name, "{") // without the settings
	best := -1
	for i, m := range p.Models {
		if m.Model == name {
			return m, true
		}
		if (bare == m.Model || strings.HasSuffix(bare, ":"+m.Model)) && (best < 0 || len(m.Model) > len(p.Models[best].Model)) {
			best = i
		}
	}
	if best < 0 {
		return Price{}, false
	}
	return p.Models[best], true
}

// Cost returns the cost of a model's usage. The cost is partial if the model has no price, or none for this
// kind of usage (chat or embedding); without tokens it is 0.
func (p *Prices) Cost(model string, u llm.Usage) Cost {
	if u.Tokens() == 0 {
		return Cost{}
	}
	price, ok := p.of(model)
	if !ok {
		return Cost{Partial: true}
	}
	chats := price.Prompt+price.Completion > 0
	unpriced := u.PromptTokens+u.CompletionTokens > 0 && !chats && price.Embedded > 0 || u.EmbeddedTokens > 0 && chats && price.Embedded == 0
	return Cost{Partial: unpriced, Amount: charge(price.Prompt, u.PromptTokens-u.ProviderCached) + charge(cmp.Or(price.Cached, price.Prompt), u.ProviderCached) + charge(price.Completion, u.CompletionTokens) + charge(price.Embedded, u.EmbeddedTokens)}
}

// charge returns the cost of n tokens at a price per million tokens. The price of one token is rounded to a
// whole number, so that costs added up equal the cost of all tokens.
func charge(perMillion float64, n int) Money {
	each := int64(math.Round(perMillion * unit / 1e6))
	if n > 0 && each > math.MaxInt64/8/int64(n) {
		return math.MaxInt64 / 8
	}
	return Money(each * int64(n))
}

// Cost is the cost of calls, as far as prices are known.
type Cost struct {
	Amount Money `json:"amount"`
	// Partial is true if something without a price was used: Amount is then a lower bound.
	Partial bool `json:"partial,omitempty"`
}

// Add returns the sum of two costs.
func (c Cost) Add(d Cost) Cost {
	return Cost{Amount: c.Amount + d.Amount, Partial: c.Partial || d.Partial}
}

// String is the amount, "unknown", or "at least" the amount.
func (c Cost) String() string {
	switch {
	case c.Partial && c.Amount == 0:
		return "unknown"
	case c.Partial:
		return "at least " + c.Amount.String()
	}
	return c.Amount.String()
}

// Estimate is the expected usage of a run. The zero value is ready; a program fills it stage by stage.
type Estimate struct {
	Stages []Expected `json:"stages"`
}

// Expected is the expected usage of one stage and model.
type Expected struct {
	Stage string    `json:"stage"`
	Model string    `json:"model"`
	Usage llm.Usage `json:"usage"`
}

// Add adds expected usage of a stage and model. Lines keep the order in which they were first added.
func (e *Estimate) Add(stage, model string, u llm.Usage) {
	u.Estimated = true
	for i := range e.Stages {
		if s := &e.Stages[i]; s.Stage == stage && s.Model == model {
			s.Usage = s.Usage.Add(u)
			return
		}
	}
	e.Stages = append(e.Stages, Expected{Stage: stage, Model: model, Usage: u})
}

// Total is the sum over all stages.
func (e *Estimate) Total() llm.Usage {
	var sum llm.Usage
	for _, s := range e.Stages {
		sum = sum.Add(s.Usage)
	}
	return sum
}

// Cost returns the cost of the run. prices may be nil.
func (e *Estimate) Cost(prices *Prices) Cost {
	var sum Cost
	for _, s := range e.Stages {
		sum = sum.Add(prices.Cost(s.Model, s.Usage))
	}
	return sum
}

// budget is a hard limit of tokens, and of money if there are prices. A call reserves its prompt and its
// longest possible reply in advance and settles for the actual usage afterwards; a call that may have been
// billed without usage keeps its whole reservation. It is safe for concurrent use.
type budget struct {
	limit  amount
	prices *Prices // nil if money has no limit

	mu       sync.Mutex
	spent    amount
	reserved amount
	open     map[*reservation]bool
	settled  chan struct{} // closed and replaced when a call settles
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

// reserve sets aside the largest possible usage of a call, which most returns and which may grow during a wait.
// It waits if the running calls could leave enough, and fails with [llm.ErrBudgetExceeded] if the budget is too
// small even when they cost nothing.
func (b *budget) reserve(ctx context.Context, model string, most func() llm.Usage) (*reservation, error) {
	for {
		b.mu.Lock()
		u := most()
		n := b.price(model, u)
		if err := b.refuse(n, b.spent); err != nil {
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

// refuse returns an error if the budget does not have n after the amount taken.
func (b *budget) refuse(n, taken amount) error {
	if b.fits(taken.add(n)) {
		return nil
	}
	left := b.limit.sub(taken)
	need, rest, limit := fmt.Sprint(n.tokens, " tokens"), fmt.Sprint(max(left.tokens, 0)), fmt.Sprint(b.limit.tokens)
	if n.tokens <= left.tokens {
		need, rest, limit = n.money.String()+" "+b.prices.Currency, max(left.money, 0).String(), b.limit.money.String()
	}
	return &llm.Error{Kind: llm.ErrBudgetExceeded, Billed: llm.BilledNo,
		Err: fmt.Errorf("the call may need %s, but %s of the budget of %s are left: raise the budget", need, rest, limit)}
}

// grow raises the reservation to most, or fails if the budget does not have that now: it never waits, since two
// calls could wait for each other.
func (r *reservation) grow(most llm.Usage) error {
	r.b.mu.Lock()
	defer r.b.mu.Unlock()
	need := r.b.price(r.model, most).sub(r.held)
	more := amount{max(need.tokens, 0), max(need.money, 0)}
	if err := r.b.refuse(more, r.b.spent.add(r.b.reserved)); err != nil {
		return err
	}
	r.hold(more)
	return nil
}

// hold adds an amount to the reservation.
func (r *reservation) hold(more amount) {
	r.b.reserved, r.held = r.b.reserved.add(more), r.held.add(more)
}

// lengthen raises the reservations of a model's running calls to a reply of the given tokens, even beyond the
// limit of the budget: the calls cannot be undone.
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
