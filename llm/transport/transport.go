// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/wildgraph/wildgraph/llm"
)

const (
	// maxSoft limits the retries of failures that rarely pass: an empty reply, an HTML page, a refused connection.
	maxSoft = 2
	// patience is the interval of log messages about a late reply.
	patience = 30 * time.Second
	// maxExcerpt is the number of bytes of a body that are kept until secrets are removed.
	maxExcerpt = 4096
	// leastSecret is the least length of an API key that is removed from replies, in bytes.
	leastSecret = 8
)

// Options tune a [Transport]. Zero values mean the defaults, which OpenAI's clients and litellm share where they agree.
type Options struct {
	// Base sends the requests. The default is a new http.Transport without proxy; set Base to use one.
	Base http.RoundTripper
	// Attempts is the number of tries, the first included; 0 means 10, with which a call in a million fails
	// if one in four requests does. Failures of the whole endpoint are not counted, see [Transport].
	Attempts int
	// BaseDelay and MaxDelay bound the full-jitter exponential back-off. A server's Retry-After is a floor of
	// the wait; above MaxRetryAfter the call fails at once, so that the job can pause. 0 means 1 s, 60 s and
	// 120 s.
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
// or limits the rate, failures use up no attempts, and calls are retried for MaxOutage.
//
// A failure is an [*llm.Error]; http.Client wraps it in a *url.Error.
type Transport struct {
	o        Options
	inflight *semaphore.Weighted

	mu          sync.Mutex
	gates       map[string]*gate
	refusals    map[string]bool // by model and setting: the model refuses it
	contexts    map[string]int  // context sizes in tokens, by model of Ollama
	plainModels map[string]bool // by model: whether all its replies had no reasoning
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
		o.Base = &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout: 10 * time.Second,
			MaxIdleConnsPerHost: 64,
			IdleConnTimeout:     90 * time.Second,
			ForceAttemptHTTP2:   true,
		}
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

// reader reads a body with a success status: its usage, which counts even with an error, and the server's name
// of the model. After a retryable [*llm.Error] the transport tries again, at most twice.
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

// refused reports whether a model refuses a setting. If note is set it records and logs the refusal.
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

// context returns the largest context size that a model has been asked for, n included.
func (t *Transport) context(model string, n int) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.contexts[model] = max(t.contexts[model], n)
	return t.contexts[model]
}

// plain records a reply, if it is not nil, and reports whether the model has replied and never with reasoning.
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

// Secret is an API key. It prints as *** with every verb, in JSON and in logs; only [Secret.Reveal] shows it.
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

// The default addresses.
const (
	openAIURL        = "https://api.openai.com/v1"
	ollamaDefaultURL = "http://127.0.0.1:11434"
)

// defaultBatch is the number of texts in one embedding request: few enough for local servers, and enough that
// the round trip hardly counts. OpenAI accepts 2,048.
const defaultBatch = 64

// Config names a model and its server. Only Model is required.
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string
	// BaseURL is the server: for OpenAI-compatible ones with the version ("http://127.0.0.1:8000/v1"), for
	// Ollama without a path. "" means OpenAI's own API, or Ollama on this machine.
	BaseURL string
	// Key is the API key; local servers need none.
	Key Secret
	// AllowHTTP permits plain http to another machine: key, prompts and replies can be read on the way.
	AllowHTTP bool
	// Transport tunes retries, limits and logging. Shared overrides it with one transport, and thus common
	// limits, for several models.
	Transport Options
	Shared    *Transport
	// ContextTokens is Ollama's num_ctx, for chat and embeddings; its server cuts longer prompts silently. 0
	// means enough for each chat, and the server's default for embeddings.
	ContextTokens int
	// Extra are further fields of the request body, for example "reasoning_effort", "chat_template_kwargs",
	// or "dimensions" for shortened vectors. They are part of the model's name and of cache keys.
	Extra map[string]any
	// Batch is the number of texts in one embedding request; 0 means 64.
	Batch int
}

// endpoint is a Config after checking.
type endpoint struct {
	Config
	url  *url.URL
	name string
	t    *Transport
}

// check validates everything at once.
func (c Config) check(provider, defaultURL string) (*endpoint, error) {
	var errs []error
	fail := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("transport: "+provider+": "+format, args...))
	}
	if c.Model == "" {
		fail("no model is named: set Config.Model")
	}
	if c.Batch < 0 || c.ContextTokens < 0 {
		fail("Batch and ContextTokens must not be negative")
	}
	c.Batch, c.BaseURL = cmp.Or(c.Batch, defaultBatch), cmp.Or(c.BaseURL, defaultURL)
	u, err := parseURL(c.BaseURL, c.AllowHTTP)
	if err != nil {
		fail("%w", err)
	}
	if _, err := json.Marshal(c.Extra); err != nil {
		fail("Extra cannot be sent as JSON: %w", err)
	}
	if strings.ContainsAny(c.Key.Reveal(), "\r\n\x00") {
		fail("the key holds a line break: remove it")
	}
	shared := c.Shared
	if shared == nil {
		if shared, err = New(c.Transport); err != nil {
			errs = append(errs, err)
		}
	}
	if len(errs) > 0 {
		return nil, errors.Join(errs...)
	}
	return &endpoint{Config: c, url: u, t: shared}, nil
}

// named sets the name of the endpoint: provider, address, model and everything else that changes its answers.
func (e *endpoint) named(provider string) *endpoint {
	e.name = provider + ":" + display(e.url) + ":" + e.Model
	settings := map[string]any{}
	maps.Copy(settings, e.Extra)
	if provider == "ollama" && e.ContextTokens > 0 {
		settings["num_ctx"] = e.ContextTokens
	}
	if len(settings) > 0 {
		b, _ := json.Marshal(settings) // cannot fail: check has marshalled the settings
		e.name += string(b)
	}
	return e
}

// Name returns provider, address, model and settings, for reports and caches.
func (e *endpoint) Name() string { return e.name }

// post sends a JSON body to a path and reads the reply. Its errors are [*llm.Error].
func (e *endpoint) post(ctx context.Context, path string, body map[string]any, s *stream, read reader) error {
	if ctx.Err() != nil {
		return llm.Canceled(ctx, llm.BilledNo)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: encode the request: %w", e.name, err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.JoinPath(path).String(), bytes.NewReader(data))
	if err != nil {
		return &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: make the request: %w", e.name, err)}
	}
	req.Header.Set("Content-Type", "application/json")
	if key := e.Key.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	_, err = e.t.do(req, data, s, func(body []byte) (llm.Usage, string, error) {
		if e := errorInBody(body); e != nil {
			return llm.Usage{}, "", e
		}
		return read(body)
	})
	return err
}

// parseURL reads a base URL. Its errors show the URL without credentials, query and fragment.
func parseURL(raw string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil { // the text of err may show a password
		return nil, errors.New("the base URL cannot be read: write it like http://127.0.0.1:8000/v1")
	}
	shown := display(u)
	switch {
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return nil, fmt.Errorf("base URL %q: write it like http://127.0.0.1:8000/v1 or https://host/v1", shown)
	case u.User != nil:
		return nil, fmt.Errorf("base URL %q: it holds a user name or password: use Config.Key", shown)
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("base URL %q: it has a query or fragment: leave it out", shown)
	case u.Scheme == "http" && !loopback(u.Hostname()) && !allowHTTP:
		return nil, fmt.Errorf("base URL %q: plain http to another machine sends key and prompts unencrypted: use https, or set AllowHTTP", shown)
	}
	u.Path = strings.TrimRight(u.Path, "/")
	u.RawPath = ""
	return u, nil
}

// display returns the URL without credentials, query and fragment.
func display(u *url.URL) string {
	shown := *u
	shown.User, shown.RawQuery, shown.Fragment = nil, "", ""
	return shown.String()
}

func loopback(host string) bool {
	if strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// Provider makes models and embedders of one server; they share one transport and its limits.
type Provider struct {
	// Kind is "openai" or "ollama".
	Kind string
	// Config is the configuration of its models, except Model.
	Config Config
}

// Model returns a chat model of the provider.
func (p *Provider) Model(name string) (llm.Model, error) {
	c := p.Config
	c.Model = name
	if p.Kind == "ollama" {
		return Ollama(c)
	}
	return OpenAI(c)
}

// Embedder returns an embedder of the provider.
func (p *Provider) Embedder(name string) (llm.NamedEmbedder, error) {
	c := p.Config
	c.Model = name
	if p.Kind == "ollama" {
		return OllamaEmbedder(c)
	}
	return OpenAIEmbedder(c)
}

// ErrNoProvider means that the environment names no server.
var ErrNoProvider = errors.New("transport: no model server is named: set OPENAI_API_KEY, OPENAI_BASE_URL or OLLAMA_HOST")

// ProviderFromEnv returns the server of OPENAI_BASE_URL and OPENAI_API_KEY, if one of them is set, else of
// OLLAMA_HOST, else [ErrNoProvider]. No other variable is read.
func ProviderFromEnv(o Options) (*Provider, error) {
	base, key, host := os.Getenv("OPENAI_BASE_URL"), os.Getenv("OPENAI_API_KEY"), os.Getenv("OLLAMA_HOST")
	p := &Provider{Kind: "openai", Config: Config{BaseURL: base, Key: Secret(strings.TrimSpace(key))}}
	switch {
	case base != "" || key != "":
	case host != "":
		p = &Provider{Kind: "ollama", Config: Config{BaseURL: ollamaURL(host)}}
	default:
		return nil, ErrNoProvider
	}
	t, err := New(o)
	if err != nil {
		return nil, err
	}
	p.Config.Shared = t
	return p, nil
}

// ollamaURL makes a URL from OLLAMA_HOST, where the server listens: a URL, a host, a port, or all interfaces.
func ollamaURL(host string) string {
	host = strings.TrimSpace(host)
	scheme, rest, ok := strings.Cut(host, "://")
	if !ok {
		scheme, rest = "http", host
	}
	rest, path, _ := strings.Cut(rest, "/")
	name, port, err := net.SplitHostPort(rest)
	if err != nil {
		name, port = strings.Trim(rest, "[]"), "11434"
		if ok {
			port = map[string]string{"http": "80", "https": "443"}[scheme]
		}
	}
	if name == "" || name == "0.0.0.0" || name == "::" {
		name = "127.0.0.1"
	}
	if port == "" {
		return host // no address: parseURL reports it
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(name, port)+"/"+path, "/")
}
