// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
)

// The kinds of records of the ledger, beside those of the cache.
const (
	recordIntent = 4 // a call is about to be made
	recordPaid   = 5 // it succeeded
	recordFailed = 6 // it did not
)

// Entry is one call in an [Account]. Stage, Question and Model say what it was
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
	// Longest is the number of tokens of the longest reply, if that is more than the
	// limit of a reply.
	Longest int `json:"longest,omitempty"`
}

// ledger writes down every paid call of a run: the intent before it is made, and how
// it ended, in a journal that outlives the program. An intent without an end
// is a call that may have been billed when the program died. It is safe for concurrent
// use.
type ledger struct {
	j      *journal.Journal
	run    string
	prices *Prices

	mu      sync.Mutex
	tallies map[purpose]tally
	open    map[string]Entry // intents of calls under way, or of dead processes
	dubious []Entry          // ended, with attempts that may have been billed
	lengths map[string]int   // of the longest replies of models that go beyond a limit
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

func newLedger(j *journal.Journal, run string, prices *Prices) *ledger {
	return &ledger{j: j, run: run, prices: prices, tallies: map[purpose]tally{}, open: map[string]Entry{}, lengths: map[string]int{}}
}

// read takes in a record that is there.
func (l *ledger) read(rec journal.Record) error {
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
	l.learn(e.Model, e.Longest) // of any run
	return err
}

// learn takes in the length of a reply that went beyond its limit, and tells whether it is
// the model's first.
func (l *ledger) learn(model string, tokens int) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = l.lengths[model] == 0
	l.lengths[model] = max(l.lengths[model], tokens)
	return first
}

// longest is the length of the longest reply of a model that does not keep to the limits
// of replies, 0 for one that does.
func (l *ledger) longest(model string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lengths[model]
}

// enter adds an entry to the sums.
func (l *ledger) enter(kind uint8, e Entry) {
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
func (l *ledger) keep(kind uint8, e Entry) error {
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

// end writes down how a call ended. It returns the error of the call.
func (l *ledger) end(ctx context.Context, e Entry, err error) error {
	e.Ended = true
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

// Account is what all calls of a run have cost. Equal records give equal accounts,
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

// account adds up the ledger, earlier starts included.
func (l *ledger) account() Account {
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
