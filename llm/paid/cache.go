// SPDX-License-Identifier: Apache-2.0

package paid

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// Schema is the schema of the journals of [Open] and [CachedEmbedder].
const Schema = "wildgraph-llm-cache/1"

// The kinds of records in a cache journal.
const (
	recordReply   = 1 // a usable reply
	recordFailure = 2 // a permanent failure, or a reply without the requested JSON
	recordVector  = 3 // the vector of a text
)

// cacheRecord is the payload of a record of a reply or a failure.
type cacheRecord struct {
	Request json.RawMessage `json:"request"`
	Reply   *llm.Reply      `json:"reply,omitempty"`
	Failure *failure        `json:"failure,omitempty"`
}

// failure is the part of an [llm.Error] that is cached.
type failure struct {
	Kind   llm.Kind `json:"kind"`
	Status int      `json:"status,omitempty"`
	Body   string   `json:"body,omitempty"`
	Text   string   `json:"text,omitempty"`
	// Partial is the incomplete text of the reply.
	Partial string `json:"partial,omitempty"`
	// Usage is the usage of the failed call: a repeated job shows the same figures.
	Usage llm.Usage `json:"usage,omitzero"`
}

func (f *failure) err() *llm.Error {
	e := &llm.Error{Kind: f.Kind, Status: f.Status, Body: f.Body, Billed: llm.BilledNo, Usage: f.Usage, Partial: f.Partial}
	if f.Text != "" {
		e.Err = errors.New(f.Text)
	}
	return e
}

// decodeRecord reads the record of a request. A record of another request with the same hash is an error.
func decodeRecord(payload, request []byte) (r cacheRecord, err error) {
	switch err = json.Unmarshal(payload, &r); {
	case err != nil:
		return r, err
	case !bytes.Equal(r.Request, request):
		return r, errors.New("the record answers another request")
	case r.Failure == nil && r.Reply == nil:
		return r, errors.New("the record holds neither a reply nor a failure")
	}
	return r, nil
}

// cache maps keys to the offsets of their records in a journal: 40 bytes for each reply and vector.
type cache struct {
	j   *journal.Journal
	log *slog.Logger

	mu      sync.Mutex
	known   map[key]int64
	flights map[key]*flight
}

// newCache makes an empty cache; log may be nil.
func newCache(j *journal.Journal, log *slog.Logger) *cache {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &cache{j: j, log: log, known: map[key]int64{}, flights: map[key]*flight{}}
}

// enter adds a record of the journal to the cache, unless forgotten returns true for its failure; forgotten may
// be nil. The key is computed from the stored request, so a record can only answer its own request.
func (c *cache) enter(rec journal.Record, forgotten func(*failure) bool) error {
	var k key
	switch rec.Kind {
	case recordReply, recordFailure:
		var r cacheRecord
		if err := json.Unmarshal(rec.Payload, &r); err != nil {
			return err
		}
		if r.Failure == nil && r.Reply == nil || rec.Kind == recordFailure && forgotten != nil && forgotten(r.Failure) {
			return nil
		}
		k = keyOf(r.Request)
	case recordVector:
		var err error
		if k, _, err = decodeVector(rec.Payload); err != nil {
			return err
		}
	default:
		return nil
	}
	c.known[k] = rec.At
	return nil
}

func (c *cache) look(k key) (at int64, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at, ok = c.known[k]
	return at, ok
}

// flight is a running call for which callers with an equal request wait.
type flight struct {
	done chan struct{}
	err  error // error of the call; nil if only the caller's context ended
}

// once makes sure that k is cached, by one call of fetch for all concurrent callers. led reports whether this
// caller made it.
func (c *cache) once(ctx context.Context, k key, fetch func(context.Context) error) (led bool, err error) {
	for ctx.Err() == nil {
		c.mu.Lock()
		_, known := c.known[k]
		f := c.flights[k]
		if !known && f == nil {
			own := &flight{done: make(chan struct{})}
			c.flights[k] = own
			c.mu.Unlock()
			return true, c.lead(ctx, k, own, fetch)
		}
		c.mu.Unlock()
		if known {
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, llm.Canceled(ctx, llm.BilledUnknown)
		case <-f.done:
			if f.err != nil {
				return false, sharedError(f.err)
			}
			// The key is cached now, or the other caller gave up: look again.
		}
	}
	return false, llm.Canceled(ctx, llm.BilledNo)
}

// lead calls fetch and ends the flight. If ctx ends, the waiting callers do not fail: one of them calls fetch.
func (c *cache) lead(ctx context.Context, k key, f *flight, fetch func(context.Context) error) error {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.flights, k)
		close(f.done)
	}()
	err := fetch(ctx)
	if ctx.Err() == nil && !errors.Is(err, llm.ErrCanceled) {
		f.err = err
	}
	return err
}

// keep appends a record to the journal and adds it to the cache.
func (c *cache) keep(kind uint8, k key, payload []byte) error {
	at, err := c.j.AppendAt(kind, payload)
	if err != nil {
		return fmt.Errorf("paid: store a reply or vector that was paid for: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[k] = at
	return nil
}

// read calls decode with the payload of the record at an offset.
func (c *cache) read(at int64, decode func(payload []byte) error) error {
	rec, err := c.j.Read(at)
	if err != nil {
		return fmt.Errorf("paid: read the cache: %w", err)
	}
	if err := decode(rec.Payload); err != nil {
		return fmt.Errorf("paid: read the cache %s: record %d: %w", c.j.Path(), rec.Seq, err)
	}
	return nil
}

// scan reads a journal once and passes each record to all readers.
func scan(j *journal.Journal, readers ...func(journal.Record) error) error {
	for rec, err := range j.Records() {
		if err != nil {
			return fmt.Errorf("paid: read %s: %w", j.Path(), err)
		}
		for _, read := range readers {
			if err := read(rec); err != nil {
				return fmt.Errorf("paid: read %s: record %d: %w", j.Path(), rec.Seq, err)
			}
		}
	}
	return nil
}

// cachedModel is a model of a [Client]. If uncached is set it ignores the cache.
type cachedModel struct {
	llm.Model
	c        *Client
	uncached bool
}

// Generate implements [llm.Model].
func (m *cachedModel) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [llm.Streamer].
func (m *cachedModel) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	req = m.c.settings(ctx, req)
	raw, err := canonicalJSON(m.Name(), req)
	if err != nil {
		return llm.Reply{}, err
	}
	if m.uncached {
		return m.c.ask(ctx, m.Model, raw, req, piece)
	}
	k, c := keyOf(raw), m.c.cache
	var reply llm.Reply // set by fetch if this caller calls it
	fetch := func(ctx context.Context) (err error) {
		reply, err = m.fetch(ctx, k, raw, req, piece)
		return err
	}
	led := true
	if metering.WantsFreshReply(ctx) && ctx.Err() == nil {
		err = fetch(ctx)
	} else {
		led, err = c.once(ctx, k, fetch)
	}
	if err != nil {
		return llm.Reply{}, err
	}
	if !led {
		at, _ := c.look(k)
		if reply, err = c.serve(raw, at); err != nil {
			return llm.Reply{}, err
		}
		if piece != nil {
			err = piece(reply.Text)
		}
	}
	return reply, err
}

// serve returns the reply or the failure in the record at an offset.
func (c *cache) serve(raw []byte, at int64) (llm.Reply, error) {
	var known cacheRecord
	err := c.read(at, func(payload []byte) (err error) {
		known, err = decodeRecord(payload, raw)
		return err
	})
	switch {
	case err != nil:
		return llm.Reply{}, err
	case known.Failure != nil:
		return llm.Reply{}, known.Failure.err()
	}
	return *known.Reply, nil
}

// fetch asks the model and caches the result.
func (m *cachedModel) fetch(ctx context.Context, k key, raw []byte, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := m.c.ask(ctx, m.Model, raw, req, piece)
	rec, kind := cacheRecord{Request: raw, Reply: &reply}, uint8(recordReply)
	if err != nil {
		if rec.Reply, rec.Failure = nil, permanentFailure(err); rec.Failure == nil {
			return reply, err
		}
	}
	if err != nil || unreadable(req, reply) {
		kind = recordFailure
	}
	payload, lost := json.Marshal(rec)
	if lost == nil {
		lost = m.c.cache.keep(kind, k, payload)
	}
	if lost != nil {
		return llm.Reply{}, errors.Join(lost, err)
	}
	return reply, err
}

// unreadable reports whether a reply lacks the requested JSON object.
func unreadable(req llm.Request, reply llm.Reply) bool {
	if !req.JSON && len(req.Schema) == 0 {
		return false
	}
	_, err := replies.ReadObject(reply.Text)
	return err != nil
}

// permanentFailure returns the cached form of an error that was paid for and would occur again, else nil.
func permanentFailure(err error) *failure {
	var e *llm.Error
	if !errors.As(err, &e) || e.Retryable() || e.Billed != llm.BilledYes {
		return nil
	}
	switch e.Kind {
	case llm.ErrFiltered, llm.ErrRefused, llm.ErrTruncated, llm.ErrInvalidOutput:
		f := &failure{Kind: e.Kind, Status: e.Status, Body: e.Body, Usage: e.Usage, Partial: e.Partial}
		if e.Err != nil {
			f.Text = e.Err.Error()
		}
		return f
	}
	return nil
}

// sharedError returns an error without its usage, for callers that waited for the call of another.
func sharedError(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	shared := *e
	shared.Billed, shared.Usage = llm.BilledNo, llm.Usage{}
	return &shared
}

// keyVersion is part of every key. It changes when keys are computed differently.
const keyVersion = "wildgraph-llm-v1"

type key [sha256.Size]byte

// canonicalJSON returns the JSON of a request that is hashed and stored: its keys are sorted, and an absent
// field differs from a zero one. It contains the model's name, everything the model sees, and Sample, see
// [llm.Request].
func canonicalJSON(model string, req llm.Request) ([]byte, error) {
	if len(req.Schema) > 0 {
		var err error
		if req.Schema, err = sorted(req.Schema); err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("the request's schema is no JSON: %w", err)}
		}
	}
	raw, err := json.Marshal(req)
	if err != nil {
		return nil, err
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return nil, err
	}
	name, _ := json.Marshal(model) // cannot fail for a string
	fields["model"], fields["version"] = name, json.RawMessage(`"`+keyVersion+`"`)
	return json.Marshal(fields)
}

// sorted returns JSON with sorted keys and without blanks; numbers keep their digits.
func sorted(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, errors.New("more JSON follows the first value")
	}
	return json.Marshal(v)
}

// keyOf returns the key of a canonical request.
func keyOf(canonical []byte) key { return sha256.Sum256(canonical) }

// embeddingKey covers everything a vector depends on: the embedder's name, with endpoint, model and
// dimension, the side (queries may have a prefix of their own), and the text.
func embeddingKey(name string, query bool, text string) key {
	b, _ := json.Marshal([]any{keyVersion + "/embedding", name, query, []byte(text)}) // cannot fail for these types
	return sha256.Sum256(b)
}
