// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/wildgraph/wildgraph/llm"
)

// The default addresses.
const (
	openAIURL        = "https://api.openai.com/v1"
	ollamaDefaultURL = "http://127.0.0.1:11434"
)

// defaultBatch is the number of texts in one embedding request: few enough for local servers, enough to hide
// the round trip. OpenAI accepts 2,048.
const defaultBatch = 64

// Config names a model and its server. Only Model is required.
type Config struct {
	// Model is the provider's name of the model. Required.
	Model string
	// BaseURL is the server: for OpenAI-compatible ones with the version ("http://127.0.0.1:8000/v1"), for
	// Ollama without a path.
	BaseURL string
	// Key is the API key; local servers need none.
	Key Secret
	// AllowHTTP permits plain http to another machine: key, prompts and replies can be read on the way.
	AllowHTTP bool
	// Transport tunes retries, limits and the meter. Shared overrides it with one transport, and thus common
	// limits, for several models.
	Transport Options
	Shared    *Transport
	// ContextTokens is Ollama's num_ctx, for chat and embeddings; its server cuts longer prompts silently. 0
	// means enough for each chat, and the server's default for embeddings.
	ContextTokens int
	// Extra are further fields of the request body, for example "reasoning_effort", "chat_template_kwargs",
	// or "dimensions" for shortened vectors. They are part of the model's name and of cache keys.
	Extra map[string]any
	// Batch is the number of texts in one embedding request.
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
		b, _ := json.Marshal(settings) // with sorted keys; they were checked
		e.name += string(b)
	}
	return e
}

// Name returns provider, address, model and settings, for reports and caches.
func (e *endpoint) Name() string { return e.name }

// post sends a JSON body to a path and reads the reply. Its errors are [*llm.Error].
func (e *endpoint) post(ctx context.Context, path string, body map[string]any, s *stream, read func([]byte) (llm.Usage, string, error)) error {
	if ctx.Err() != nil {
		return llm.Canceled(ctx, llm.BilledNo)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: %w", e.name, err)}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.url.JoinPath(path).String(), bytes.NewReader(data))
	if err != nil {
		return &llm.Error{Kind: llm.ErrBadRequest, Billed: llm.BilledNo, Err: fmt.Errorf("%s: %w", e.name, err)}
	}
	req.Header.Set("Content-Type", "application/json")
	if key := e.Key.Reveal(); key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	_, err = e.t.do(req, data, s, read)
	return err
}

// parseURL reads a base URL. Its errors show the URL without possible secrets.
func parseURL(raw string, allowHTTP bool) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil { // its text may show a password
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
		return nil, fmt.Errorf("base URL %q: plain http to another machine shows key and prompts on the way: use https or allow it", shown)
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

// leastSecret is the least length of a key that is removed from replies: shorter ones are placeholders
// ("EMPTY") or words.
const leastSecret = 8

// scrub removes the key from a reply, which is stored, judged and reported.
func (e *endpoint) scrub(reply *llm.Reply) {
	key := e.Key.Reveal()
	if len(key) < leastSecret {
		return
	}
	for _, text := range []*string{&reply.Text, &reply.Reasoning, &reply.Model, &reply.Fingerprint} {
		*text = strings.ReplaceAll(*text, key, e.Key.String())
	}
}

// Provider makes models and embedders of one server; they share one transport and its limits.
type Provider struct {
	// Kind is "openai" or "ollama".
	Kind string
	// Config is the template for its models; Model is filled in.
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

// ollamaURL reads OLLAMA_HOST, the address that the server binds: a URL, a host, a port, or all interfaces.
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
		return host // nonsense: let the URL check say so
	}
	return strings.TrimRight(scheme+"://"+net.JoinHostPort(name, port)+"/"+path, "/")
}
