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

// The kinds of the ledger's records in the journal; the cache uses 1 to 3.
const (
	recordIntent = 4 // a call is about to be made
	recordPaid   = 5 // a call succeeded
	recordFailed = 6 // a call failed
)

// Entry is one call in an [Account], with its stage, question and model.
type Entry struct {
	ID string `json:"id"`
	// Run is the name of the job that made the call, see [Options].
	Run string `json:"run,omitempty"`
	// Key is the start of the hash of the request.
	Key      string `json:"key,omitempty"`
	Model    string `json:"model,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Question string `json:"question,omitempty"`
	// Most is the largest possible usage of one attempt.
	Most llm.Usage `json:"most"`

	// Kind is the kind of the call's error, "" after a success, and Billed says whether the last attempt was
	// billed. Ended is false if only the intent is recorded.
	Ended  bool       `json:"ended,omitempty"`
	Kind   llm.Kind   `json:"kind,omitempty"`
	Billed llm.Billed `json:"billed,omitempty"`
	// Usage is the known usage of all attempts, Unknown the number of further attempts that may have been
	// billed. Both exclude the last attempt of a call that has not ended.
	Usage   llm.Usage `json:"usage"`
	Unknown int       `json:"unknown,omitempty"`
	// Longest is the number of tokens of the longest reply, if it exceeded the limit.
	Longest int `json:"longest,omitempty"`
}

// ledger records every paid call of a run in a journal: the intent before the call, and the result after it. An
// intent without a result may have been billed. It is safe for concurrent use.
type ledger struct {
	j      *journal.Journal
	run    string
	prices *Prices

	mu      sync.Mutex
	tallies map[purpose]Line // sums of the ended calls, without names and costs
	open    map[string]Entry // by ID, intents of calls that are running or whose process died
	dubious []Entry          // ended calls with attempts that may have been billed
	lengths map[string]int   // by model, tokens of the longest reply that exceeded its limit
}

// purpose is the key under which calls are added up.
type purpose struct{ stage, question, model string }

// read adds a record of the journal to the ledger.
func (l *ledger) read(rec journal.Record) error {
	if rec.Kind < recordIntent || rec.Kind > recordFailed {
		return nil
	}
	var e struct {
		Entry
		Tokens int `json:"tokens"` // old records have this one figure in place of Most
	}
	err := json.Unmarshal(rec.Payload, &e)
	if e.Most == (llm.Usage{}) {
		e.Most.CompletionTokens = e.Tokens // the most expensive tokens
	}
	if implausible(e.Usage) {
		e.Usage = llm.Usage{Estimated: true}
	}
	if err == nil && e.Run == l.run {
		l.enter(rec.Kind, e.Entry)
	}
	l.learn(e.Model, e.Longest) // an overrun of another run counts too
	return err
}

// learn records the tokens of a reply that exceeded its limit, and reports whether it is the model's first.
func (l *ledger) learn(model string, tokens int) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = l.lengths[model] == 0
	l.lengths[model] = max(l.lengths[model], tokens)
	return first
}

// longest returns the tokens of a model's longest reply that exceeded its limit, 0 if there is none.
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
	t.count(e)
	if kind == recordFailed {
		t.Failed++
	}
	l.tallies[at] = t
	if e.Unknown > 0 {
		l.dubious = append(l.dubious, e)
	}
}

// keep records an entry and adds it to the sums. Only failures wait for the disk: intents need only survive
// this process, and the entries of a successful call are synced with its reply.
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
		return fmt.Errorf("paid: record a call in the ledger: %w", err)
	}
	l.enter(kind, e)
	return nil
}

// end records the result of a call and returns its error.
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

// Account is the cost of all calls of a run. It does not depend on the order of the records.
type Account struct {
	Currency string `json:"currency,omitempty"`
	// AsOf is the oldest day among the prices used.
	AsOf  string `json:"as_of,omitempty"`
	Total Line   `json:"total"`
	// The sums by stage, by question and by model, sorted by name; "" is for calls without one.
	Stages    []Line `json:"stages"`
	Questions []Line `json:"questions"`
	Models    []Line `json:"models"`
	// Unknown has the calls that may have cost more than their usage: an attempt ended without a reply, or the
	// call has no recorded result.
	Unknown []Entry `json:"unknown,omitempty"`
}

// Line is a sum over calls.
type Line struct {
	Name   string    `json:"name"`
	Calls  int       `json:"calls"` // a call with several attempts counts once
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
	// Unknown is the number of attempts that may have been billed and are not in Usage.
	Unknown int  `json:"unknown,omitempty"`
	Cost    Cost `json:"cost"`
	// Most is Usage with every unknown attempt and every reply without figures at its maximum: no bill is
	// larger. MostCost is the cost of Most.
	Most     llm.Usage `json:"most"`
	MostCost Cost      `json:"most_cost"`
}

// count adds an entry to the sum.
func (l *Line) count(e Entry) {
	l.add(Line{Calls: 1, Unknown: e.Unknown, Usage: e.Usage, Most: worstCase(e.Usage, e.Unknown, e.Most)})
}

func (l *Line) add(t Line) {
	l.Calls += t.Calls
	l.Failed += t.Failed
	l.Unknown += t.Unknown
	l.Usage = l.Usage.Add(t.Usage)
	l.Cost = l.Cost.Add(t.Cost)
	l.Most = l.Most.Add(t.Most)
	l.MostCost = l.MostCost.Add(t.MostCost)
}

// account adds up the calls of the run, earlier starts included.
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
		e.Unknown++ // its last attempt has no result
		t.count(e)
		tallies[at] = t
		a.Unknown = append(a.Unknown, e)
	}
	slices.SortFunc(a.Unknown, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.Question, y.Question), cmp.Compare(x.Model, y.Model),
			cmp.Compare(x.Key, y.Key), cmp.Compare(x.ID, y.ID))
	})
	var by [3]map[string]Line    // sums by stage, by question and by model
	for at, t := range tallies { // sums of whole numbers do not depend on the order
		t.Cost, t.MostCost = l.prices.Cost(at.model, t.Usage), l.prices.Cost(at.model, t.Most)
		if price, ok := l.prices.of(at.model); ok && (a.AsOf == "" || price.AsOf < a.AsOf) {
			a.AsOf = price.AsOf
		}
		a.Total.add(t)
		for i, name := range []string{at.stage, at.question, at.model} {
			if by[i] == nil {
				by[i] = map[string]Line{}
			}
			l := by[i][name]
			l.Name = name
			l.add(t)
			by[i][name] = l
		}
	}
	for i, lines := range []*[]Line{&a.Stages, &a.Questions, &a.Models} {
		*lines = []Line{}
		for _, name := range slices.Sorted(maps.Keys(by[i])) {
			*lines = append(*lines, by[i][name])
		}
	}
	return a
}
