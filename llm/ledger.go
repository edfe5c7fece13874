// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

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
	// Key is the start of the hash of what was asked.
	Key      string `json:"key,omitempty"`
	Model    string `json:"model,omitempty"`
	Stage    string `json:"stage,omitempty"`
	Question string `json:"question,omitempty"`
	// Tokens is the estimate of what the call could take.
	Tokens int `json:"tokens,omitempty"`

	// How it ended: the kind of its error or "", and whether its last attempt
	// was billed. An entry that only an intent is known of has Ended false.
	Ended  bool   `json:"ended,omitempty"`
	Kind   Kind   `json:"kind,omitempty"`
	Billed Billed `json:"billed,omitempty"`
	// Usage is what all its attempts are known to have cost, Unknown the
	// number of attempts that may have been billed beside that.
	Usage   Usage `json:"usage"`
	Unknown int   `json:"unknown,omitempty"`
}

// Ledger writes down every paid call: the intent before it is made, and how
// it ended, in a journal that outlives the program. An intent without an end
// is a call that may have been billed when the program died. A ledger is safe
// for concurrent use; there is one per journal, which may be the cache's.
type Ledger struct {
	j      *journal.Journal
	prices *Prices

	mu      sync.Mutex
	tallies map[place]tally
	open    map[string]Entry // intents of calls under way, or of dead processes
	dubious []Entry          // ended, with attempts that may have been billed
}

// place is what calls are added up by.
type place struct{ stage, question, model string }

type tally struct {
	usage                  Usage
	calls, failed, unknown int
}

// NewLedger reads what the journal holds of earlier runs. prices may be nil:
// then no cost is known. The journal stays the caller's to close.
func NewLedger(j *journal.Journal, prices *Prices) (*Ledger, error) {
	if prices != nil {
		if err := prices.Check(); err != nil {
			return nil, err
		}
	}
	l := &Ledger{j: j, prices: prices, tallies: map[place]tally{}, open: map[string]Entry{}}
	for rec, err := range j.Records() {
		if err != nil {
			return nil, fmt.Errorf("llm: read the ledger: %w", err)
		}
		if rec.Kind < recordIntent || rec.Kind > recordFailed {
			continue
		}
		var e Entry
		if err := json.Unmarshal(rec.Payload, &e); err != nil {
			return nil, fmt.Errorf("llm: read the ledger %s: record %d: %w", j.Path(), rec.Seq, err)
		}
		l.enter(rec.Kind, e)
	}
	return l, nil
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
	at := place{e.Stage, e.Question, e.Model}
	t := l.tallies[at]
	t.usage = t.usage.Add(e.Usage)
	t.calls++
	t.unknown += e.Unknown
	if kind == recordFailed {
		t.failed++
	}
	l.tallies[at] = t
	if e.Unknown > 0 {
		l.dubious = append(l.dubious, e)
	}
}

// keep writes an entry down, then adds it up. Intents are notes: they must
// outlive this process and need not wait for the disk.
func (l *Ledger) keep(kind uint8, e Entry) error {
	b, err := json.Marshal(e)
	if err == nil {
		if kind == recordIntent {
			err = l.j.Note(kind, b)
		} else {
			err = l.j.Append(kind, b)
		}
	}
	if err != nil {
		return fmt.Errorf("llm: keep the ledger: %w", err)
	}
	l.enter(kind, e)
	return nil
}

// Model is m with every call in the ledger. Put it below [Cached], so that
// hits are no calls, and below [Budget.Model], so that refusals are none.
func (l *Ledger) Model(m Model) Model { return &entered{Model: m, l: l} }

type entered struct {
	Model
	l *Ledger
}

func (m *entered) Generate(ctx context.Context, req Request) (Reply, error) {
	raw, err := canonical(m.Name(), req)
	if err != nil {
		return Reply{}, &Error{Kind: ErrBadRequest, Billed: BilledNo, Err: err}
	}
	k := keyOf(raw)
	e := Entry{
		ID: rand.Text(), Key: hex.EncodeToString(k[:8]), Model: m.Name(), Stage: req.Stage, Question: req.Question,
		Tokens: EstimateTokens(string(raw)) + orDefault(req.MaxTokens, DefaultReplyReserve),
	}
	return enterCall(ctx, m.l, e, func(ctx context.Context) (Reply, Usage, error) {
		reply, err := m.Model.Generate(ctx, req)
		return reply, reply.Usage, err
	})
}

// enterCall makes a call between its two entries. What the call costs when it
// fails is in its error; a call without a figure of its own is metered.
func enterCall[T any](ctx context.Context, l *Ledger, e Entry, call func(context.Context) (T, Usage, error)) (T, error) {
	var zero T
	if e.Stage == "" {
		e.Stage = StageOf(ctx)
	}
	if e.Question == "" {
		e.Question = QuestionOf(ctx)
	}
	if err := l.keep(recordIntent, e); err != nil {
		return zero, err
	}
	var meter Meter
	v, usage, err := call(WithMeter(ctx, &meter))
	e.Ended, e.Usage, e.Unknown = true, usage, meter.Unknown()
	if usage == (Usage{}) {
		e.Usage = meter.Total()
	}
	if err == nil {
		if err := l.keep(recordPaid, e); err != nil {
			return zero, err
		}
		return v, nil
	}
	var own *Error
	switch {
	case errors.As(err, &own):
		e.Kind, e.Billed = own.Kind, own.Billed
		if own.Usage != (Usage{}) {
			e.Usage = own.Usage
		}
	case ctx.Err() != nil:
		e.Kind = ErrCanceled
	default:
		e.Kind = ErrTransient
	}
	if e.Billed == BilledUnknown || e.Billed == BilledYes && tokens(e.Usage) == 0 {
		e.Unknown = max(e.Unknown, 1)
	}
	if lost := l.keep(recordFailed, e); lost != nil {
		err = errors.Join(err, lost)
	}
	return v, err
}

// Embedder is e with every request in the ledger under the given name, which
// is what prices are looked up by.
func (l *Ledger) Embedder(name string, e Embedder) Embedder {
	return &enteredEmbedder{name: name, e: e, l: l}
}

type enteredEmbedder struct {
	name string
	e    Embedder
	l    *Ledger
}

// Name is the name given to [Ledger.Embedder].
func (m *enteredEmbedder) Name() string { return m.name }

func (m *enteredEmbedder) entry(texts ...string) Entry {
	e := Entry{ID: rand.Text(), Model: m.name}
	for _, t := range texts {
		e.Tokens += EstimateTokens(t)
	}
	return e
}

func (m *enteredEmbedder) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return enterCall(ctx, m.l, m.entry(texts...), func(ctx context.Context) ([][]float32, Usage, error) {
		v, err := m.e.EmbedDocuments(ctx, texts)
		return v, Usage{}, err
	})
}

func (m *enteredEmbedder) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	return enterCall(ctx, m.l, m.entry(text), func(ctx context.Context) ([]float32, Usage, error) {
		v, err := m.e.EmbedQuery(ctx, text)
		return v, Usage{}, err
	})
}

type questionKey struct{}

// WithQuestion names the question that calls under the context are made for,
// where they carry no [Request], such as embeddings.
func WithQuestion(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, questionKey{}, id)
}

// QuestionOf returns the question set by [WithQuestion], or "".
func QuestionOf(ctx context.Context) string {
	id, _ := ctx.Value(questionKey{}).(string)
	return id
}
