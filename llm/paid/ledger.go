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

// The kinds of records of the ledger; the cache has others.
const (
	recordIntent = 4 // a call is about to be made
	recordPaid   = 5 // it succeeded
	recordFailed = 6 // it did not
)

// Entry is one call in an [Account], with its stage, question and model.
type Entry struct {
	ID string `json:"id"`
	// Run is the job of the call, see [Options].
	Run string `json:"run,omitempty"`
	// Key is the start of the hash of the request.
	Key      string `json:"key,omitempty"`
	Model    string `json:"model,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Question string `json:"question,omitempty"`
	// Most bounds the usage of one attempt.
	Most llm.Usage `json:"most"`

	// The result: the kind of the error or "", and whether the last attempt was billed. Ended is false if
	// only the intent is recorded.
	Ended  bool       `json:"ended,omitempty"`
	Kind   llm.Kind   `json:"kind,omitempty"`
	Billed llm.Billed `json:"billed,omitempty"`
	// Usage is the known usage of all attempts, Unknown the number of further attempts that may have been
	// billed. For a call that has not ended they exclude the last attempt, which is unknown.
	Usage   llm.Usage `json:"usage"`
	Unknown int       `json:"unknown,omitempty"`
	// Longest is the number of tokens of the longest reply, if it exceeded the limit.
	Longest int `json:"longest,omitempty"`
}

// ledger records every paid call of a run in a journal: the intent in advance, and the result. An intent
// without a result is a call that may have been billed when the program died. It is safe for concurrent use.
type ledger struct {
	j      *journal.Journal
	run    string
	prices *Prices

	mu      sync.Mutex
	tallies map[purpose]Line // without names and costs
	open    map[string]Entry // intents of calls under way, or of dead processes
	dubious []Entry          // ended, with attempts that may have been billed
	lengths map[string]int   // of the longest replies of models that exceeded a limit
}

// purpose is the key under which calls are added up.
type purpose struct{ stage, question, model string }

// read adds a record of the journal.
func (l *ledger) read(rec journal.Record) error {
	if rec.Kind < recordIntent || rec.Kind > recordFailed {
		return nil
	}
	var e struct {
		Entry
		Tokens int `json:"tokens"` // Most in old records, which had one figure
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

// learn records the length of a reply that exceeded its limit and reports whether it is the model's first.
func (l *ledger) learn(model string, tokens int) (first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	first = l.lengths[model] == 0
	l.lengths[model] = max(l.lengths[model], tokens)
	return first
}

// longest returns the length of the longest reply of a model that exceeded a limit, 0 for other models.
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

// keep records an entry and adds it up. Only failures wait for the disk: intents must merely survive this
// process, and the append of a successful call's reply syncs its entries too.
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
	// By stage, question and model, each sorted by name; calls without a stage or question are under "".
	Stages    []Line `json:"stages"`
	Questions []Line `json:"questions"`
	Models    []Line `json:"models"`
	// Unknown are the calls that may have cost more than their usage: with attempts that ended without a
	// reply, or without a recorded result (the program died, or the call is running).
	Unknown []Entry `json:"unknown,omitempty"`
}

// Line is one sum.
type Line struct {
	Name   string    `json:"name"`
	Calls  int       `json:"calls"` // as made by the program, with all their attempts
	Failed int       `json:"failed,omitempty"`
	Usage  llm.Usage `json:"usage"`
	// Unknown is the number of attempts that may have been billed and are not in Usage.
	Unknown int  `json:"unknown,omitempty"`
	Cost    Cost `json:"cost"`
	// Most is Usage with every unknown attempt and every reply without figures at its maximum: no bill is
	// larger. MostCost is its cost.
	Most     llm.Usage `json:"most"`
	MostCost Cost      `json:"most_cost"`
}

// count counts an entry in.
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
		t.count(e)
		tallies[at] = t
		a.Unknown = append(a.Unknown, e)
	}
	slices.SortFunc(a.Unknown, func(x, y Entry) int {
		return cmp.Or(cmp.Compare(x.Stage, y.Stage), cmp.Compare(x.Question, y.Question), cmp.Compare(x.Model, y.Model),
			cmp.Compare(x.Key, y.Key), cmp.Compare(x.ID, y.ID))
	})
	var by [3]map[string]Line    // stage, question, model
	for at, t := range tallies { // whole numbers: the order does not matter
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
