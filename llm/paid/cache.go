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
)

// Schema is the schema of the journals of [Open] and [CachedEmbedder].
const Schema = "wildgraph-llm-cache/1"

// The kinds of records in a cache journal.
const (
	recordReply   = 1 // a good reply
	recordFailure = 2 // paid for, but not what was asked for
	recordVector  = 3 // one embedding
)

// cacheRecord is the payload of a record.
type cacheRecord struct {
	Request json.RawMessage `json:"request"`
	Reply   *llm.Reply      `json:"reply,omitempty"`
	Failure *failure        `json:"failure,omitempty"`
}

// failure is what of an [llm.Error] is worth keeping.
type failure struct {
	Kind   llm.Kind `json:"kind"`
	Status int      `json:"status,omitempty"`
	Body   string   `json:"body,omitempty"`
	Text   string   `json:"text,omitempty"`
	// Partial is what came of the reply.
	Partial string `json:"partial,omitempty"`
	// Usage is what it took, as a kept reply tells: a job that is made again shows the same figures.
	Usage llm.Usage `json:"usage,omitzero"`
}

func (f *failure) err() *llm.Error {
	e := &llm.Error{Kind: f.Kind, Status: f.Status, Body: f.Body, Billed: llm.BilledNo, Usage: f.Usage, Partial: f.Partial}
	if f.Text != "" {
		e.Err = errors.New(f.Text)
	}
	return e
}

// decodeRecord reads what a record keeps for a request. A record of another request is
// an error: equal hashes are no proof.
func decodeRecord(payload, request []byte) (r cacheRecord, err error) {
	switch err = json.Unmarshal(payload, &r); {
	case err != nil:
		return r, err
	case !bytes.Equal(r.Request, request):
		return r, errors.New("it answers another request")
	case r.Failure == nil && r.Reply == nil:
		return r, errors.New("it holds neither a reply nor a failure")
	}
	return r, nil
}

// cache is where in a journal what was paid for is kept, by key: 40 bytes for
// each reply and vector.
type cache struct {
	j   *journal.Journal
	log *slog.Logger

	mu      sync.Mutex
	known   map[key]int64
	flights map[key]*flight
}

// newCache makes a cache that knows nothing yet; log may be nil.
func newCache(j *journal.Journal, log *slog.Logger) *cache {
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &cache{j: j, log: log, known: map[key]int64{}, flights: map[key]*flight{}}
}

// enter takes in a record that is there, unless it is of a failure that is
// forgotten; nil forgets none. The key of a reply is made from the
// stored request, so a record can only answer what it was written for.
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

// drop forgets what is kept: it cannot be used.
func (c *cache) drop(k key) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.known, k)
}

// flight is a call that others wait for.
type flight struct {
	done chan struct{}
	err  error // of the call, unless it concerns its caller alone
}

// once makes sure that k is known, by one call of fetch however many ask at the
// same time. led tells the one whose fetch it was.
func (c *cache) once(ctx context.Context, k key, fetch func(context.Context) error) (led bool, err error) {
	for ctx.Err() == nil {
		f, mine := c.join(k)
		switch {
		case mine:
			return true, c.lead(ctx, k, f, fetch)
		case f == nil:
			return false, nil
		}
		select {
		case <-ctx.Done():
			return false, llm.Canceled(ctx, llm.BilledUnknown)
		case <-f.done:
			if f.err != nil {
				return false, unpaid(f.err)
			}
			// It is known now, or nobody is asking any more: look again.
		}
	}
	return false, llm.Canceled(ctx, llm.BilledNo)
}

// join is the call for k that is under way, or a new one, nil if k is known.
func (c *cache) join(k key) (f *flight, mine bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.known[k]; known {
		return nil, false
	}
	if f = c.flights[k]; f != nil {
		return f, false
	}
	f = &flight{done: make(chan struct{})}
	c.flights[k] = f
	return f, true
}

// lead makes the call. That its caller has enough, or no time any more, is not the end of
// the others.
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

// keep makes what was paid for durable.
func (c *cache) keep(kind uint8, k key, payload []byte) error {
	at, err := c.j.AppendAt(kind, payload)
	if err != nil {
		return fmt.Errorf("paid: keep what was paid for: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known[k] = at
	return nil
}

// read hands the payload of a record to decode.
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

// scan reads a journal once for all who want to know what is in it.
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

// model is a model of a [Client]; past says that it is asked past the cache.
type model struct {
	llm.Model
	c    *Client
	past bool
}

// Generate implements [llm.Model].
func (m *model) Generate(ctx context.Context, req llm.Request) (llm.Reply, error) {
	return m.Stream(ctx, req, nil)
}

// Stream implements [llm.Streamer].
func (m *model) Stream(ctx context.Context, req llm.Request, piece func(string) error) (llm.Reply, error) {
	raw, err := canonical(m.Name(), req)
	if err != nil {
		return llm.Reply{}, err
	}
	if m.past {
		return m.c.ask(ctx, m.Model, raw, req, piece)
	}
	k, c := keyOf(raw), m.c.cache
	var reply llm.Reply // of our own call
	fetch := func(ctx context.Context) (err error) {
		reply, err = m.fetch(ctx, k, raw, req, piece)
		return err
	}
	led := true
	if llm.Anew(ctx) && ctx.Err() == nil {
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

// serve answers from the journal.
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

// fetch asks the model and records what was paid for.
func (m *model) fetch(ctx context.Context, k key, raw []byte, req llm.Request, piece func(string) error) (llm.Reply, error) {
	reply, err := m.c.ask(ctx, m.Model, raw, req, piece)
	rec, kind := cacheRecord{Request: raw}, uint8(recordReply)
	switch {
	case err != nil:
		if rec.Failure = lasting(err); rec.Failure == nil {
			return reply, err
		}
		kind = recordFailure
	case unreadable(req, reply):
		kind = recordFailure
		rec.Reply = &reply
	default:
		rec.Reply = &reply
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

// unreadable reports whether a reply lacks the JSON object that was asked for.
func unreadable(req llm.Request, reply llm.Reply) bool {
	if !req.JSON && len(req.Schema) == 0 {
		return false
	}
	_, err := llm.ReadObject(reply.Text)
	return err != nil
}

// lasting keeps errors that were paid for and would come again.
func lasting(err error) *failure {
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

// unpaid is the error for those who waited for another's call.
func unpaid(err error) error {
	var e *llm.Error
	if !errors.As(err, &e) {
		return err
	}
	shared := *e
	shared.Billed, shared.Usage = llm.BilledNo, llm.Usage{}
	return &shared
}

// keyVersion changes when the meaning of a key changes, so that old records
// are not mistaken for answers to new questions.
const keyVersion = "wildgraph-llm-v1"

type key [sha256.Size]byte

// canonicalRequest is a request with its fields in the order of their names.
type canonicalRequest struct {
	JSON        bool            `json:"json,omitempty"`
	MaxTokens   int             `json:"max_tokens,omitempty"`
	Messages    []llm.Message   `json:"messages"`
	Model       string          `json:"model"`
	Sample      int             `json:"sample,omitempty"`
	Schema      json.RawMessage `json:"schema,omitempty"`
	SchemaName  string          `json:"schema_name,omitempty"`
	Seed        *int64          `json:"seed,omitempty"`
	Stop        []string        `json:"stop,omitempty"`
	Temperature *float64        `json:"temperature,omitempty"`
	Tools       []llm.Tool      `json:"tools,omitempty"`
	TopP        *float64        `json:"top_p,omitempty"`
	Version     string          `json:"version"`
}

// canonical is the request as it is hashed and stored: JSON with sorted keys,
// where an absent field and a zero one differ. It covers the model's name and
// everything the model sees, and Sample; see [llm.Request] for what is left out.
func canonical(model string, req llm.Request) ([]byte, error) {
	c := canonicalRequest{
		JSON: req.JSON, MaxTokens: req.MaxTokens, Messages: req.Messages, Model: model, Sample: req.Sample, SchemaName: req.SchemaName,
		Seed: req.Seed, Stop: req.Stop, Tools: req.Tools, Temperature: req.Temperature, TopP: req.TopP, Version: keyVersion,
	}
	if len(req.Schema) > 0 {
		var err error
		if c.Schema, err = sorted(req.Schema); err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("the request's schema is no JSON: %w", err)}
		}
	}
	return json.Marshal(c)
}

// sorted is the same JSON with sorted keys and without blanks; numbers keep
// their digits.
func sorted(raw json.RawMessage) (json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, err
	}
	if dec.More() {
		return nil, fmt.Errorf("something follows the value")
	}
	return json.Marshal(v)
}

// keyOf is the key of a canonical request.
func keyOf(canonical []byte) key { return sha256.Sum256(canonical) }

// embeddingKey covers what decides a vector: the embedder's name, which holds
// endpoint, model and dimension, the side (queries may get a prefix of their
// own), and the text.
func embeddingKey(name string, query bool, text string) key {
	b, _ := json.Marshal([]any{keyVersion + "/embedding", name, query, []byte(text)}) // strings, bytes and bools always marshal
	return sha256.Sum256(b)
}
