// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/usage"

	"github.com/wildgraph/wildgraph/llm"
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
		Stage: cmp.Or(c.req.Stage, usage.StageOf(ctx)), Question: cmp.Or(c.req.Question, usage.QuestionOf(ctx)),
	}
	if err := l.keep(recordIntent, e); err != nil {
		return err
	}
	var bill usage.Bill
	bill.Retry = func() error {
		if e.Usage == bill.Known() && e.Unknown == bill.Unknown() {
			return nil
		}
		e.Usage, e.Unknown = bill.Known(), bill.Unknown()
		return l.keep(recordIntent, e)
	}
	used, err := c.make(usage.WithBill(ctx, &bill))
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
