// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// The kinds of records a [Ledger] keeps, beside those of a cache.
const (
	recordIntent = 4 // a call is about to be made
	recordPaid   = 5 // it succeeded
	recordFailed = 6 // it did not
)

// Entry is one call in a [Ledger]. Stage, Question and Model say what it was
// for.
type Entry struct {
	ID string `json:"id"`
	// Run is the job that the call was made for, see [Options].
	Run string `json:"run,omitempty"`
	// Key is the start of the hash of what was asked.
	Key      string `json:"key,omitempty"`
	Model    string `json:"model,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Question string `json:"question,omitempty"`
	// Most is what one attempt can take.
	Most llm.Usage `json:"most"`

	// How it ended: the kind of its error or "", and whether its last attempt
	// was billed. An entry that only an intent is known of has Ended false.
	Ended  bool       `json:"ended,omitempty"`
	Kind   llm.Kind   `json:"kind,omitempty"`
	Billed llm.Billed `json:"billed,omitempty"`
	// Usage is what all its attempts are known to have cost, Unknown the
	// number of attempts that may have been billed beside that. Of a call that has
	// not ended they are those of the attempts before its last, which is unknown.
	Usage   llm.Usage `json:"usage"`
	Unknown int       `json:"unknown,omitempty"`
}

// Ledger writes down every paid call: the intent before it is made, and how
// it ended, in a journal that outlives the program. An intent without an end
// is a call that may have been billed when the program died. A ledger is safe
// for concurrent use; there is one per journal, which may be the cache's.
type Ledger struct {
	j      *journal.Journal
	run    string
	prices *Prices
	count  func(string) int

	mu      sync.Mutex
	tallies map[purpose]tally
	open    map[string]Entry // intents of calls under way, or of dead processes
	dubious []Entry          // ended, with attempts that may have been billed
}

// purpose is what calls are added up by.
type purpose struct{ stage, question, model string }

type tally struct {
	usage, most            llm.Usage
	calls, failed, unknown int
}

// add counts an entry in.
func (t *tally) add(e Entry) {
	t.calls++
	t.unknown += e.Unknown
	t.usage = t.usage.Add(e.Usage)
	t.most = t.most.Add(atMost(e.Usage, e.Unknown, e.Most))
}

// NewLedger reads what the journal holds of the run's earlier starts. prices may
// be nil: then no cost is known. The journal stays the caller's to close.
func NewLedger(j *journal.Journal, run string, prices *Prices) (*Ledger, error) {
	if prices != nil {
		if err := prices.Check(); err != nil {
			return nil, err
		}
	}
	l := newLedger(j, run, prices, llm.EstimateTokens)
	return l, scan(j, l.read)
}

func newLedger(j *journal.Journal, run string, prices *Prices, count func(string) int) *Ledger {
	return &Ledger{j: j, run: run, prices: prices, count: count, tallies: map[purpose]tally{}, open: map[string]Entry{}}
}

// read takes in a record that is there.
func (l *Ledger) read(rec journal.Record) error {
	if rec.Kind < recordIntent || rec.Kind > recordFailed {
		return nil
	}
	var e struct {
		Entry
		Tokens int `json:"tokens"` // what Most was before it told them apart
	}
	err := json.Unmarshal(rec.Payload, &e)
	if e.Most == (llm.Usage{}) {
		e.Most.CompletionTokens = e.Tokens // the dearest
	}
	if implausible(e.Usage) {
		e.Usage = llm.Usage{Estimated: true}
	}
	if err == nil && e.Run == l.run {
		l.enter(rec.Kind, e.Entry)
	}
	return err
}

// enter adds an entry to the sums.
func (l *Ledger) enter(kind uint8, e Entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if kind == recordIntent {
		l.open[e.ID] = e
		return
	}
	delete(l.open, e.ID)
	at := purpose{e.Stage, e.Question, e.Model}
	t := l.tallies[at]
	t.add(e)
	if kind == recordFailed {
		t.failed++
	}
	l.tallies[at] = t
	if e.Unknown > 0 {
		l.dubious = append(l.dubious, e)
	}
}

// keep writes an entry down, then adds it up. Intents must outlive this process
// and need not wait for the disk, and neither need calls that succeeded: whoever
// keeps their replies in the journal waits for both.
func (l *Ledger) keep(kind uint8, e Entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		if kind == recordFailed {
			err = l.j.Append(kind, b)
		} else {
			err = l.j.Note(kind, b)
		}
	}
	if err != nil {
		return fmt.Errorf("paid: keep the ledger: %w", err)
	}
	l.enter(kind, e)
	return nil
}

// Model is m with every call in the ledger. Put it below [Cached], so that
// hits are no calls, and below [Budget.Model], so that refusals are none.
func (l *Ledger) Model(m llm.Model) llm.Model { return &model{m, l} }

// Embedder is e with every request in the ledger under the given name, which
// is what prices are looked up by.
func (l *Ledger) Embedder(name string, e llm.Embedder) llm.NamedEmbedder {
	return &embedder{name, e, l}
}

// do makes a call between its two entries. Before it is tried again, the entry is
// told what it has cost so far, so that a program that dies has not lost it.
func (l *Ledger) do(ctx context.Context, c call) error {
	most := c.most(l.count)
	e := Entry{
		ID: rand.Text(), Run: l.run, Key: c.key(), Model: c.model, Most: most,
		Stage: cmp.Or(c.req.Stage, llm.StageOf(ctx)), Question: cmp.Or(c.req.Question, llm.QuestionOf(ctx)),
	}
	if err := l.keep(recordIntent, e); err != nil {
		return err
	}
	var bill llm.Bill
	bill.Retry = func() error {
		if e.Usage == bill.Known() && e.Unknown == bill.Unknown() {
			return nil
		}
		e.Usage, e.Unknown = bill.Known(), bill.Unknown()
		return l.keep(recordIntent, e)
	}
	used, err := c.make(llm.WithBill(ctx, &bill))
	e.Ended = true
	e.Usage, e.Unknown = c.cost(used, &bill, err, most)
	if err == nil {
		return l.keep(recordPaid, e)
	}
	var own *llm.Error
	switch {
	case errors.As(err, &own):
		e.Kind, e.Billed = own.Kind, own.Billed
	case ctx.Err() != nil:
		e.Kind = llm.ErrCanceled
	default:
		e.Kind = llm.ErrTransient
	}
	if lost := l.keep(recordFailed, e); lost != nil {
		err = errors.Join(err, lost)
	}
	return err
}

// Account is what a [Ledger] adds up to. Equal records give equal accounts,
// whatever their order.
type Account struct {
	Currency string `json:"currency,omitempty"`
	// AsOf is the oldest day among the prices used.
	AsOf  string `json:"as_of,omitempty"`
	Total Line   `json:"total"`
	// By stage, question and model, each sorted by name; calls without a
	// stage or question stand under "".
	Stages    []Line `json:"stages"`
	Questions []Line `json:"questions"`
	Models    []Line `json:"models"`
	// Unknown are the calls that may have cost more than their usage says:
	// those with attempts that ended without a word from the provider, and
	// those the program did not live to see the end of (or are under way).
	Unknown []Entry `json:"unknown,omitempty"`
}

// Line is one sum.
type Line struct {
	Name   string    `json:"name"`
	Calls  int       `json:"calls"` // as made by the program, with all their attempts
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
	// Unknown is the number of attempts that may have been billed and are not
	// in Usage.
	Unknown int  `json:"unknown,omitempty"`
	Cost    Cost `json:"cost"`
	// Most is Usage with every unknown attempt at the most it can have taken,
	// and replies without figures at the most of theirs: no bill is larger. MostCost
	// is what that costs.
	Most     llm.Usage `json:"most"`
	MostCost Cost      `json:"most_cost"`
}

func (l *Line) add(t tally, cost, most Cost) {
	l.Calls += t.calls
	l.Failed += t.failed
	l.Unknown += t.unknown
	l.Usage = l.Usage.Add(t.usage)
	l.Cost = l.Cost.Add(cost)
	l.Most = l.Most.Add(t.most)
	l.MostCost = l.MostCost.Add(most)
}

// Account adds up the ledger, earlier runs included.
func (l *Ledger) Account() Account {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Account{Total: Line{Name: "total"}}
	if l.prices != nil {
		a.Currency = l.prices.Currency
	}
	tallies := maps.Clone(l.tallies)
	a.Unknown = slices.Clone(l.dubious)
	for _, e := range l.open {
		at := purpose{e.Stage, e.Question, e.Model}
		t := tallies[at]
		e.Unknown++ // its last attempt
		t.add(e)
		tallies[at] = t
		a.Unknown = append(a.Unknown, e)
	}
	slices.SortFunc(a.Unknown, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.Question, y.Question), cmp.Compare(x.Model, y.Model),
			cmp.Compare(x.Key, y.Key), cmp.Compare(x.ID, y.ID))
	})
	stages, questions, models := map[string]*Line{}, map[string]*Line{}, map[string]*Line{}
	for at, t := range tallies { // whole numbers: the order does not matter
		cost, most := l.prices.Cost(at.model, t.usage), l.prices.Cost(at.model, t.most)
		if price, ok := l.prices.of(at.model); ok && (a.AsOf == "" || price.AsOf < a.AsOf) {
			a.AsOf = price.AsOf
		}
		a.Total.add(t, cost, most)
		line(stages, at.stage).add(t, cost, most)
		line(questions, at.question).add(t, cost, most)
		line(models, at.model).add(t, cost, most)
	}
	a.Stages, a.Questions, a.Models = sortedLines(stages), sortedLines(questions), sortedLines(models)
	return a
}

func line(lines map[string]*Line, name string) *Line {
	if lines[name] == nil {
		lines[name] = &Line{Name: name}
	}
	return lines[name]
}

func sortedLines(lines map[string]*Line) []Line {
	out := make([]Line, 0, len(lines))
	for _, name := range slices.Sorted(maps.Keys(lines)) {
		out = append(out, *lines[name])
	}
	return out
}

// Estimate is what a run is expected to take, before it is started. The zero
// value is ready; a program fills it stage by stage.
type Estimate struct {
	Stages []Expected `json:"stages"`
}

// Expected is the expectation for one stage and model.
type Expected struct {
	Stage string    `json:"stage"`
	Model string    `json:"model"`
	Usage llm.Usage `json:"usage"`
}

// Add expects more of a stage and model. Lines stay in the order in which
// they were first added.
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

// Cost is what the run would cost. prices may be nil.
func (e *Estimate) Cost(prices *Prices) Cost {
	var sum Cost
	for _, s := range e.Stages {
		sum = sum.Add(prices.Cost(s.Model, s.Usage))
	}
	return sum
}
