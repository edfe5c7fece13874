// SPDX-License-Identifier: Apache-2.0

package llm

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"golang.org/x/sync/singleflight"

	"github.com/wildgraph/wildgraph/llm/journal"
)

// CacheSchema is the journal schema of [Cached] and [CachedEmbedder]; both
// can share one journal.
const CacheSchema = "wildgraph-llm-cache/1"

// The kinds of records in a cache journal.
const (
	recordReply   = 1 // a good reply
	recordFailure = 2 // paid for, but not what was asked for
	recordVector  = 3 // one embedding
)

// CacheOptions tune [Cached].
type CacheOptions struct {
	// Check judges a reply beyond the default, which demands a readable JSON
	// object where the request asked for one. A reply that fails is handed on
	// all the same and recorded as a failure, not as a success.
	Check func(Request, Reply) error
	// PaidUsage lets hits carry the usage of the call that paid for them, so
	// that accounts made of replies do not depend on where a job was stopped
	// and started again. Meters and ledgers count hits as free all the same.
	PaidUsage bool
	// RetryFailures asks again for recorded failures: replies that failed
	// Check, and errors that were billed and would come again (filtered,
	// refused, truncated). By default they are served from the journal too,
	// so that going on with a stopped job does not pay for them twice.
	RetryFailures bool
}

// cacheRecord is the payload of a record.
type cacheRecord struct {
	Request json.RawMessage `json:"request"`
	Reply   *Reply          `json:"reply,omitempty"`
	Failure *failure        `json:"failure,omitempty"`
}

// failure is what of an [Error] is worth keeping.
type failure struct {
	Kind   Kind   `json:"kind"`
	Status int    `json:"status,omitempty"`
	Body   string `json:"body,omitempty"`
	Text   string `json:"text,omitempty"`
}

func (f *failure) err() *Error {
	e := &Error{Kind: f.Kind, Status: f.Status, Body: f.Body, Billed: BilledNo, Usage: Usage{CachedCalls: 1}}
	if f.Text != "" {
		e.Err = errors.New(f.Text)
	}
	return e
}

// outcome is what a key leads to: a reply or a failure.
type outcome struct {
	reply   Reply
	failure *failure
}

const requestPrefix = `{"request":`

// decodeOutcome reads what a record keeps for a request. A record of another
// request is an error: equal hashes are no proof. The payload is changed.
func decodeOutcome(payload, request []byte) (outcome, error) {
	var r cacheRecord
	start := len(requestPrefix) + len(request)
	if len(payload) > start && payload[start] == ',' && bytes.HasPrefix(payload, []byte(requestPrefix)) &&
		bytes.Equal(payload[len(requestPrefix):start], request) {
		// As written by fetch: the request need not be read again.
		payload = payload[start:]
		payload[0] = '{'
	}
	if err := json.Unmarshal(payload, &r); err != nil {
		return outcome{}, err
	}
	switch {
	case r.Request != nil && !bytes.Equal(r.Request, request):
		return outcome{}, errors.New("it answers another request")
	case r.Failure != nil:
		return outcome{failure: r.Failure}, nil
	case r.Reply != nil:
		return outcome{reply: *r.Reply}, nil
	}
	return outcome{}, errors.New("it holds neither a reply nor a failure")
}

type cached struct {
	m       Model
	j       *journal.Journal
	o       CacheOptions
	flights singleflight.Group

	mu    sync.Mutex
	known map[key]int64 // where in the journal
}

// Cached answers from the journal what was answered before and asks m for the
// rest, each question once even when many ask at the same time. A reply is
// returned after it is on disk. Hits count as CachedCalls and cost nothing.
//
// The key covers the model's name and every field of the request that the
// model sees, and Sample. Cached reads the whole journal at the start and keeps
// 40 bytes per reply in memory; replies are read from the journal, which stays
// the caller's to close.
func Cached(m Model, j *journal.Journal, o CacheOptions) (Model, error) {
	c := &cached{m: m, j: j, o: o, known: map[key]int64{}}
	for rec, err := range j.Records() {
		if err != nil {
			return nil, fmt.Errorf("llm: read the cache: %w", err)
		}
		if rec.Kind != recordReply && rec.Kind != recordFailure {
			continue
		}
		var r cacheRecord
		if err := json.Unmarshal(rec.Payload, &r); err != nil {
			return nil, fmt.Errorf("llm: read the cache %s: record %d: %w", j.Path(), rec.Seq, err)
		}
		// The key is made from the stored request, so a record can only
		// answer what it was written for.
		k := keyOf(r.Request)
		switch {
		case rec.Kind == recordFailure && o.RetryFailures:
		case r.Failure != nil || r.Reply != nil:
			c.known[k] = rec.At
		}
	}
	return c, nil
}

func (c *cached) Name() string { return c.m.Name() }

func (c *cached) Generate(ctx context.Context, req Request) (Reply, error) {
	raw, err := canonical(c.m.Name(), req)
	if err != nil {
		return Reply{}, &Error{Kind: ErrBadRequest, Billed: BilledNo, Err: err}
	}
	k := keyOf(raw)
	for {
		if ctx.Err() != nil {
			return Reply{}, Canceled(ctx, BilledNo)
		}
		if at, ok := c.look(k); ok {
			return c.serve(ctx, req, raw, at)
		}
		var own Reply
		var ownErr error
		led := false
		flight := c.flights.DoChan(string(k[:]), func() (any, error) {
			if _, ok := c.look(k); ok {
				return nil, nil // answered since we looked
			}
			led = true
			own, ownErr = c.fetch(ctx, k, raw, req)
			if ctx.Err() != nil {
				return nil, nil // our own end is not that of the others
			}
			return nil, ownErr
		})
		select {
		case <-ctx.Done():
			return Reply{}, Canceled(ctx, BilledUnknown)
		case r := <-flight:
			if led {
				return own, ownErr
			}
			if r.Err != nil {
				return Reply{}, unpaid(r.Err)
			}
			// It is known now, or nobody is asking any more: look again.
		}
	}
}

func (c *cached) look(k key) (at int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok = c.known[k]
	return at, ok
}

// serve answers from the journal.
func (c *cached) serve(ctx context.Context, req Request, raw []byte, at int64) (Reply, error) {
	rec, err := c.j.Read(at)
	if err != nil {
		return Reply{}, fmt.Errorf("llm: read the cache: %w", err)
	}
	known, err := decodeOutcome(rec.Payload, raw)
	if err != nil {
		return Reply{}, fmt.Errorf("llm: read the cache %s: record %d: %w", c.j.Path(), rec.Seq, err)
	}
	hit := Usage{CachedCalls: 1}
	Record(ctx, req.Stage, hit)
	if known.failure != nil {
		return Reply{}, known.failure.err()
	}
	reply := known.reply
	if !c.o.PaidUsage {
		reply.Usage = hit
	}
	return reply, nil
}

// fetch asks the model and records what was paid for.
func (c *cached) fetch(ctx context.Context, k key, raw []byte, req Request) (Reply, error) {
	reply, err := c.m.Generate(ctx, req)
	known, kind := outcome{reply: reply}, uint8(recordReply)
	switch {
	case err != nil:
		known.failure = lasting(err)
		if known.failure == nil {
			return reply, err
		}
		kind = recordFailure
	case c.check(req, reply) != nil:
		kind = recordFailure
	}
	rec := cacheRecord{Request: raw, Failure: known.failure}
	if err == nil {
		rec.Reply = &reply
	}
	var at int64
	payload, merr := json.Marshal(rec)
	if merr == nil {
		at, merr = c.j.AppendAt(kind, payload)
	}
	if merr != nil {
		return Reply{}, errors.Join(fmt.Errorf("llm: keep a paid reply: %w", merr), err)
	}
	c.mu.Lock()
	c.known[k] = at
	c.mu.Unlock()
	return reply, err
}

func (c *cached) check(req Request, reply Reply) error {
	if req.JSON || len(req.Schema) > 0 {
		if _, err := ReadObject(reply.Text); err != nil {
			return err
		}
	}
	if c.o.Check != nil {
		return c.o.Check(req, reply)
	}
	return nil
}

// lasting keeps errors that were paid for and would come again.
func lasting(err error) *failure {
	var e *Error
	if !errors.As(err, &e) || e.Retryable() || e.Billed != BilledYes {
		return nil
	}
	switch e.Kind {
	case ErrFiltered, ErrRefused, ErrTruncated, ErrInvalidOutput:
		f := &failure{Kind: e.Kind, Status: e.Status, Body: e.Body}
		if e.Err != nil {
			f.Text = e.Err.Error()
		}
		return f
	}
	return nil
}

// unpaid is the error for those who waited for another's call.
func unpaid(err error) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	shared := *e
	shared.Billed, shared.Usage = BilledNo, Usage{}
	return &shared
}
