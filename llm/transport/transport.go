// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wildgraph/wildgraph/llm"
)

const (
	// maxSoft limits the retries of failures that seldom pass: an empty reply, an HTML page, a refused connection.
	maxSoft = 2
	// patience is the interval of log messages about a late reply.
	patience = 30 * time.Second
	// maxExcerpt is the part of a body that is searched for an error, in bytes.
	maxExcerpt = 4096
)

// Options tune a [Transport]. Zero values mean the defaults, which OpenAI's clients and litellm share where they agree.
type Options struct {
	// Base sends the requests. The default is a new http.Transport without proxy; set Base to use one.
	Base http.RoundTripper
	// Attempts is the number of tries, the first included; 0 means 10, with which a call in a million fails
	// if one in four requests does. Failures of the whole endpoint are not counted, see [Transport].
	Attempts int
	// BaseDelay and MaxDelay bound the full-jitter exponential back-off. A server's Retry-After is a floor of
	// the wait; above MaxRetryAfter the call fails with [llm.ErrRateLimited] at once, so that the job can
	// pause. 0 means 1 s, 60 s and 120 s.
	BaseDelay, MaxDelay, MaxRetryAfter time.Duration
	// AttemptTimeout limits one try, IdleTimeout the wait for the next bytes of a reply, and Deadline all
	// tries and the back-off between them, without waiting for a slot or for an endpoint that is down or
	// limits the rate. 0 means 5, 1 and 10 min.
	AttemptTimeout, IdleTimeout, Deadline time.Duration
	// MaxOutage limits the wait for an endpoint that is down, or answers only with 429, see [Transport]; 0
	// means 30 min.
	MaxOutage time.Duration
	// MaxBody limits a reply, in bytes after decompression; 0 means 32 MiB.
	MaxBody int64
	// Concurrency limits the concurrent requests to all endpoints together. Each endpoint and model has an
	// adaptive limit below it. 0 means 8.
	Concurrency int
	// Logger receives waits and their length (Warn), the return of an endpoint (Info), and requests (Debug);
	// never bodies or headers. Nil is silent.
	Logger *slog.Logger
}

// Transport sends requests to model servers. It is also an http.RoundTripper for clients of other providers:
// it limits, retries, classifies and records usage. Replies are read whole before they are returned, so a
// client never sees a cut one. It is safe for concurrent use.
//
// To each endpoint and model it sends up to 8 concurrent requests at first, one more for every round of
// successes and three tenths fewer on 429, 503 and 529, at most once in 5 s. To a server on this machine it
// sends 2 at first, and undoes an increase that does not raise the throughput. If four fifths of at least 20
// attempts within 30 s fail, it stops sending and probes every 30 s: calls wait, for MaxOutage or until their
// context ends, unless the server never answered. While an endpoint that has answered before fails all calls,
// or limits the rate, calls use up no attempts either, and are retried for as long.
//
// A failure is an [*llm.Error]; http.Client wraps it in a *url.Error.
type Transport struct {
	o        Options
	inflight *semaphore.Weighted

	mu          sync.Mutex
	gates       map[string]*gate
	refusals    map[string]bool // settings that models refuse
	contexts    map[string]int  // of models of Ollama
	plainModels map[string]bool // models that have replied: never with reasoning
}

// New checks the options and fills in the defaults.
func New(o Options) (*Transport, error) {
	var errs []error
	negative := func(name string, bad bool) {
		if bad {
			errs = append(errs, fmt.Errorf("transport: %s is negative: use 0 for the default", name))
		}
	}
	negative("Attempts", o.Attempts < 0)
	negative("a duration", min(o.BaseDelay, o.MaxDelay, o.MaxRetryAfter, o.AttemptTimeout, o.IdleTimeout, o.Deadline, o.MaxOutage) < 0)
	negative("MaxBody", o.MaxBody < 0)
	negative("Concurrency", o.Concurrency < 0)
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	if o.Base == nil {
		o.Base = newBase()
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	o.Attempts = cmp.Or(o.Attempts, 10)
	o.BaseDelay = cmp.Or(o.BaseDelay, time.Second)
	o.MaxDelay = cmp.Or(o.MaxDelay, 60*time.Second)
	o.MaxRetryAfter = cmp.Or(o.MaxRetryAfter, 120*time.Second)
	o.AttemptTimeout = cmp.Or(o.AttemptTimeout, 5*time.Minute)
	o.IdleTimeout = cmp.Or(o.IdleTimeout, time.Minute)
	o.Deadline = cmp.Or(o.Deadline, 10*time.Minute)
	o.MaxOutage = cmp.Or(o.MaxOutage, 30*time.Minute)
	o.MaxBody = cmp.Or(o.MaxBody, 32<<20)
	o.Concurrency = cmp.Or(o.Concurrency, 8)
	return &Transport{
		o:        o,
		inflight: semaphore.NewWeighted(int64(o.Concurrency)),
		gates:    map[string]*gate{}, refusals: map[string]bool{}, contexts: map[string]int{}, plainModels: map[string]bool{},
	}, nil
}

func newBase() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout: 10 * time.Second,
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     90 * time.Second,
		ForceAttemptHTTP2:   true,
	}
}

// reader reads a successful body and the server's name of the model. The usage counts in any case; after an
// [*llm.Error] of a retryable kind the transport tries again, at most twice.
type reader func(body []byte) (u llm.Usage, served string, err error)

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		if body, err = io.ReadAll(req.Body); err != nil {
			return nil, &llm.Error{Kind: llm.ErrBadRequest, Endpoint: display(req.URL), Billed: llm.BilledNo, Err: errors.Join(err, req.Body.Close())}
		}
		req.Body.Close()
	}
	return t.do(req, body, nil, func(body []byte) (llm.Usage, string, error) { return usageIn(body), "", nil })
}

// refused reports whether a model refuses a setting. With note it does from now on, which is logged once.
func (t *Transport) refused(model, setting string, note bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := model + " " + setting
	if note && !t.refusals[key] {
		t.refusals[key] = true
		t.o.Logger.Warn("transport: the server does not take a setting: it is sent no more", "model", model, "setting", setting)
	}
	return t.refusals[key]
}

// context returns the largest context that was requested of a model so far, n included.
func (t *Transport) context(model string, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.contexts[model] = max(t.contexts[model], n)
	return t.contexts[model]
}

// plain reports whether a model has replied, and never with reasoning, after adding a reply if it is not nil.
func (t *Transport) plain(model string, reply *llm.Reply) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if before, known := t.plainModels[model]; reply != nil {
		t.plainModels[model] = reply.Reasoning == "" && (before || !known)
	}
	return t.plainModels[model]
}

// gate returns the gate of an endpoint and model.
func (t *Transport) gate(name string, local bool) *gate {
	t.mu.Lock()
	defer t.mu.Unlock()
	g := t.gates[name]
	if g == nil {
		g = &gate{name: name, log: t.o.Logger, maxOutage: t.o.MaxOutage, limit: newAIMD(t.o.Concurrency, local)}
		t.gates[name] = g
	}
	return g
}

const hidden = "***"

// Secret is a key. It prints as *** under every verb, in JSON and in logs; only [Secret.Reveal] returns it.
type Secret string

// Reveal returns the key itself.
func (s Secret) Reveal() string { return string(s) }

func (s Secret) String() string { return hidden }

// Format hides the key from every verb, %x and %s included.
func (s Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// MarshalText hides the key from JSON, XML and other encoders.
func (s Secret) MarshalText() ([]byte, error) { return []byte(hidden), nil }

// LogValue hides the key.
func (s Secret) LogValue() slog.Value { return slog.StringValue(hidden) }
