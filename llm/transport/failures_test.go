// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// inMemory runs f with a virtual clock and a server that speaks the wire format of kind.
func inMemory(t *testing.T, kind string, c Config, f func(t *testing.T, s *llmtest.Server, m llm.Model)) {
	t.Helper()
	t.Run(kind, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.ServerOptions{InMemory: true})
			defer s.Close()
			c.Transport.Base = s.Transport()
			m := check.Of(provider(s, kind, c).Model("test-model")).OK(t)
			f(t, s, m)
		})
	})
}

// TestProviderFailures has a row for each real failure of providers, with the default options and a virtual
// clock: the caller's result, the number of requests, and the time.
func TestProviderFailures(t *testing.T) {
	reply := func(r llm.Reply) llmtest.Fault { return llmtest.Fault{Reply: &r} }
	say := func(text string) llmtest.Fault { return reply(llm.Reply{Text: text}) }
	forever := func(f llmtest.Fault) []llmtest.Fault { return slices.Repeat([]llmtest.Fault{f}, 50) }
	type object struct {
		N int `json:"n"`
	}
	generate := func(ctx context.Context, m llm.Model) (string, error) {
		r, err := m.Generate(ctx, llm.Prompt("hello"))
		return r.Text, err
	}
	decode := func(ctx context.Context, m llm.Model) (string, error) {
		_, r, err := replies.Decode[object](ctx, m, llm.Prompt("hello"))
		return r.Text, err
	}
	httpDate := llmtest.Fault{Status: 429, Header: map[string]string{
		// The server's clock is years ahead of the client's (a bubble starts in 2000): only the difference of
		// the server's two dates counts.
		"Date": "Wed, 01 Jan 2025 00:00:00 GMT", "Retry-After": "Wed, 01 Jan 2025 00:00:09 GMT",
	}}
	for _, tc := range []struct {
		name     string
		faults   []llmtest.Fault
		ask      func(context.Context, llm.Model) (string, error) // nil calls Generate
		text     string                                           // of a success; "" means the usual one
		want     llm.Kind                                         // kind of the failure
		billed   llm.Billed
		requests int
		min, max time.Duration // duration of the whole call
	}{
		{name: "429 with Retry-After 7", faults: []llmtest.Fault{llmtest.TooManyRequests(7)}, requests: 2, min: 7 * time.Second, max: 8 * time.Second},
		{name: "429 with an HTTP date", faults: []llmtest.Fault{httpDate}, requests: 2, min: 9 * time.Second, max: 10 * time.Second},
		{name: "429 for longer than the job should hang", faults: []llmtest.Fault{llmtest.TooManyRequests(121)}, want: llm.ErrRateLimited, billed: llm.BilledNo, requests: 1},
		{name: "429 insufficient_quota", faults: []llmtest.Fault{{Status: 429, Body: `{"error":{"code":"insufficient_quota"}}`}}, want: llm.ErrQuotaExhausted, billed: llm.BilledNo, requests: 1},
		{name: "429 billing limit", faults: []llmtest.Fault{{Status: 429, Body: `{"error":{"code":"billing_hard_limit_reached"}}`}}, want: llm.ErrQuotaExhausted, billed: llm.BilledNo, requests: 1},
		{name: "500, 502, 503, 504 in a row", faults: []llmtest.Fault{{Status: 500}, {Status: 502}, {Status: 503}, {Status: 504}}, requests: 5, max: 15 * time.Second},
		{name: "the same 500 for ever", faults: forever(llmtest.Fault{Status: 500, Body: `{"error":"assert failed"}`}), want: llm.ErrTransient, requests: 10, max: 5 * time.Minute},
		{name: "529 overloaded", faults: []llmtest.Fault{{Status: 529}, {Status: 529}}, requests: 3, max: 3 * time.Second},
		{name: "timeout before headers", faults: []llmtest.Fault{{Hang: true}}, requests: 2, min: 5 * time.Minute, max: 5*time.Minute + time.Second},
		{name: "timeout before headers for ever", faults: forever(llmtest.Fault{Hang: true}), want: llm.ErrTimeout, requests: 2, min: 5 * time.Minute, max: 10 * time.Minute},
		{name: "reset", faults: []llmtest.Fault{{Reset: true}}, requests: 2, max: time.Second},
		{name: "EOF in the middle", faults: []llmtest.Fault{{CutAfter: 30}}, requests: 2, max: time.Second},
		{name: "no choices, null content", faults: []llmtest.Fault{{EmptyChoices: true}, say("")}, requests: 3, max: 3 * time.Second},
		{name: "no choices for ever", faults: forever(llmtest.Fault{EmptyChoices: true}), want: llm.ErrEmpty, billed: llm.BilledYes, requests: 3, max: 3 * time.Second},
		{name: "finish_reason length", faults: []llmtest.Fault{reply(llm.Reply{Text: "half", Finish: llm.FinishLength})}, want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "content_filter", faults: []llmtest.Fault{reply(llm.Reply{Text: "x", Finish: llm.FinishFilter})}, want: llm.ErrFiltered, billed: llm.BilledYes, requests: 1},
		{name: "refusal", faults: []llmtest.Fault{reply(llm.Reply{Text: "x", Finish: "refusal"})}, want: llm.ErrRefused, billed: llm.BilledYes, requests: 1},
		{name: "fenced JSON in prose", ask: decode, faults: []llmtest.Fault{say("Sure!\n```json\n{\"n\": 1}\n```\nAnything else?")}, text: "Sure!\n```json\n{\"n\": 1}\n```\nAnything else?", requests: 1},
		{name: "trailing comma, single quotes, comment", ask: decode, faults: []llmtest.Fault{say("{'n': 1, // one\n}")}, text: "{'n': 1, // one\n}", requests: 1},
		{name: "truncated JSON", ask: decode, faults: forever(say(`{"n": 1, "m": "hal`)), want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "wrong type once", ask: decode, faults: []llmtest.Fault{say(`{"n":"one"}`), say(`{"n":1}`)}, text: `{"n":1}`, requests: 2},
		{name: "wrong type for ever", ask: decode, faults: forever(say(`{"n":"one"}`)), want: llm.ErrInvalidOutput, billed: llm.BilledYes, requests: 2},
		{name: "reasoning before the answer", faults: []llmtest.Fault{say("<think>hm</think>\nfour")}, text: "four", requests: 1},
		{name: "reasoning that never ends", faults: []llmtest.Fault{say("<think>hm")}, want: llm.ErrTruncated, billed: llm.BilledYes, requests: 1},
		{name: "an error object at 200", faults: []llmtest.Fault{{Status: 200, Body: `{"error":{"message":"upstream failed","code":502}}`}}, requests: 2, max: time.Second},
		{name: "half a JSON document", faults: forever(llmtest.Fault{Status: 200, Body: `{"choices":[`}), want: llm.ErrTransient, requests: 3, max: 3 * time.Second},
		{name: "401", faults: []llmtest.Fault{{Status: 401}}, want: llm.ErrAuth, billed: llm.BilledNo, requests: 1},
		{name: "404", faults: []llmtest.Fault{{Status: 404}}, want: llm.ErrBadRequest, billed: llm.BilledNo, requests: 1},
		{name: "redirect", faults: []llmtest.Fault{{Status: 307, Header: map[string]string{"Location": "http://example.com/"}}}, want: llm.ErrBadRequest, billed: llm.BilledNo, requests: 1},
		{name: "context length exceeded", faults: []llmtest.Fault{{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens"}}`}}, want: llm.ErrContextLength, billed: llm.BilledNo, requests: 1},
		{name: "huge body", faults: []llmtest.Fault{{Status: 200, Body: `{"a":"` + strings.Repeat("x", 1<<20) + `"}`}}, want: llm.ErrInvalidOutput, billed: llm.BilledYes, requests: 1},
		{name: "a body that stops coming", faults: []llmtest.Fault{{StallAfter: 30}}, requests: 2, min: time.Minute, max: time.Minute + time.Second},
		{name: "200 with an HTML page", faults: []llmtest.Fault{llmtest.HTMLPage(), llmtest.HTMLPage()}, requests: 3, max: 3 * time.Second},
		{name: "200 with an HTML page for ever", faults: forever(llmtest.HTMLPage()), want: llm.ErrTransient, billed: llm.BilledNo, requests: 3, max: 3 * time.Second},
		{name: "an error is never an empty reply", faults: forever(llmtest.Fault{Status: 500, Body: " "}), want: llm.ErrTransient, requests: 10, max: 5 * time.Minute},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, kind := range []string{"openai", "ollama"} {
				c := Config{}
				c.Transport.MaxBody = 1 << 20
				inMemory(t, kind, c, func(t *testing.T, s *llmtest.Server, m llm.Model) {
					s.Fail(tc.faults...)
					ask, want := tc.ask, tc.text
					if ask == nil {
						ask = generate
					}
					if want == "" {
						want = "You said: hello"
					}
					start := time.Now()
					var written metering.Bill
					text, err := ask(metering.WithBill(t.Context(), &written), m)
					took := time.Since(start)
					var e *llm.Error
					switch {
					case tc.want == "" && (err != nil || text != want):
						t.Errorf("reply %q, error %v", text, err)
					case tc.want != "" && (!errors.As(err, &e) || e.Kind != tc.want || e.Billed != tc.billed):
						t.Errorf("error %v, want %v, billed %q", err, tc.want, tc.billed)
					}
					check.Equal(t, len(s.Requests()), tc.requests)
					usage := written.Known()
					if e != nil {
						usage = e.Usage
					}
					// The caller learns what the provider billed, as far as this can be known.
					if bill := s.Bill().Total; written.Unknown() == 0 && !usage.Estimated && usage != bill {
						t.Errorf("told %+v, billed %+v", usage, bill)
					}
					check.True(t, took >= tc.min && took <= tc.max,
						"took %v, want %v to %v", took, tc.min, tc.max)
				})
			}
		})
	}
}

// If a model's alias changes during a run, the run mixes two models.
func TestProviderFailureModelChangesUnderItsName(t *testing.T) {
	var log strings.Builder
	c := Config{}
	c.Transport.Logger = debugLogger(&log)
	inMemory(t, "openai", c, func(t *testing.T, s *llmtest.Server, m llm.Model) {
		body := func(model, fingerprint string) llmtest.Fault {
			return llmtest.Fault{Status: http.StatusOK, Body: `{"model":"` + model + `","system_fingerprint":"` + fingerprint + `","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}]}`}
		}
		for i, warnings := range []int{0, 0, 1, 2} {
			s.Fail([]llmtest.Fault{body("m-1", "fp1"), body("m-1", "fp1"), body("m-1", "fp2"), body("m-2", "fp2")}[i])
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			check.True(t, err == nil && reply.Model != "" && reply.Fingerprint != "", "%+v, %v", reply, err)
			got := strings.Count(log.String(), "another model than before")
			check.Equal(t, got, warnings, "call %d: %d warnings", i, got)
		}
	})
}

// served sends one request to a new server.
func served(t *testing.T, o Options, h http.HandlerFunc) error {
	t.Helper()
	s := httptest.NewServer(h)
	defer s.Close()
	defer s.CloseClientConnections()
	o.Attempts = 1
	tr := check.Of(New(o)).OK(t)
	req := check.Of(http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL+"/v1/chat", strings.NewReader(`{"q":1}`))).OK(t)
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}

// A reply of a few kilobytes that decompresses to a gigabyte ends at the limit, which counts decompressed
// bytes.
func TestCompressedBomb(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	zeros := make([]byte, 1<<20)
	for range 256 {
		check.OK(t, check.Err(w.Write(zeros)))
	}
	check.OK(t, w.Close())
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := served(t, Options{MaxBody: 1 << 20}, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(packed.Bytes())
	})
	runtime.ReadMemStats(&after)
	check.Is(t, err, llm.ErrInvalidOutput, "error %v, want one of the output", err)
	used := after.TotalAlloc - before.TotalAlloc
	check.True(t, used <= 64<<20, "%d MB were taken for a limit of 1 MB", used>>20)
}

// A server that never stops sending headers, or its body, does not block a call.
func TestEndlessReplies(t *testing.T) {
	start := time.Now()
	for name, h := range map[string]http.HandlerFunc{
		"headers": func(w http.ResponseWriter, r *http.Request) {
			for i := range 40 {
				w.Header().Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1<<20))
			}
		},
		"body": func(w http.ResponseWriter, r *http.Request) {
			for {
				if _, err := w.Write([]byte(strings.Repeat(" ", 1<<16))); err != nil {
					return
				}
			}
		},
		"drops": func(w http.ResponseWriter, r *http.Request) {
			for r.Context().Err() == nil {
				_, _ = w.Write([]byte(" "))
				w.(http.Flusher).Flush()
				time.Sleep(10 * time.Millisecond)
			}
		},
	} {
		err := served(t, Options{MaxBody: 1 << 20, AttemptTimeout: time.Second, Deadline: 2 * time.Second}, h)
		var e *llm.Error
		check.True(t, errors.As(err, &e), "endless %s: error %v, want a typed one", name, err)
	}
	d := time.Since(start)
	check.True(t, d <= 30*time.Second, "it took %s", d)
}

// Cookies that a server sets are not sent back: calls share nothing.
func TestNoCookies(t *testing.T) {
	var got []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Cookie"))
		w.Header().Set("Set-Cookie", "session=1")
		_, _ = io.WriteString(w, `{"ok":true}`)
	}))
	defer s.Close()
	tr := check.Of(New(Options{})).OK(t)
	for range 2 {
		req := check.Of(http.NewRequestWithContext(context.Background(), http.MethodPost, s.URL, strings.NewReader(`{}`))).OK(t)
		resp := check.Of(tr.RoundTrip(req)).OK(t)
		_ = resp.Body.Close()
	}
	check.True(t, len(got) == 2 && got[0]+got[1] == "", "cookies %q", got)
}

// An untrusted certificate is not retried.
func TestCertificatesAreNotTriedAgain(t *testing.T) {
	var handshakes atomic.Int64
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	secure.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			handshakes.Add(1)
		}
	}
	secure.StartTLS()
	defer secure.Close()
	plain := httptest.NewServer(http.NotFoundHandler())
	defer plain.Close()
	for url, remedy := range map[string]string{secure.URL: "SSL_CERT_FILE", "https" + strings.TrimPrefix(plain.URL, "http"): "is it http?"} {
		tr := newTestTransport(t, Options{BaseDelay: time.Hour})
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader("{}"))
		check.OK(t, err)
		_, err = tr.RoundTrip(req)
		check.True(t, errors.Is(err, llm.ErrBadRequest) && strings.Contains(err.Error(), remedy), "%s: %v", url, err)
	}
	check.Equal(t, handshakes.Load(), 1, "handshakes")
}

func TestUnreachableServerNamesURLAndRemedy(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{})
	s.Close() // no server listens there now
	m, err := OpenAI(Config{Model: "m", BaseURL: s.OpenAIURL(), Transport: quick})
	check.OK(t, err)
	_, err = m.Generate(t.Context(), llm.Prompt("hello"))
	check.True(t, errors.Is(err, llm.ErrTransient) && strings.Contains(err.Error(), s.OpenAIURL()) &&
		strings.Contains(err.Error(), "check that the server runs"), "error %v", err)
}

func TestConfigIsChecked(t *testing.T) {
	for name, c := range map[string]Config{
		"no model":         {},
		"foreign http":     {Model: "m", BaseURL: "http://10.1.2.3/v1"},
		"user in URL":      {Model: "m", BaseURL: "https://me:s3cretpass@host/v1"},
		"bad URL":          {Model: "m", BaseURL: "http://me:s3cretpass@host:port/v1"},
		"no scheme":        {Model: "m", BaseURL: "localhost:8000"},
		"file":             {Model: "m", BaseURL: "file:///etc/passwd"},
		"query":            {Model: "m", BaseURL: "https://host/v1?key=s3cretpass"},
		"negative":         {Model: "m", Batch: -1},
		"key with newline": {Model: "m", Key: "s3cretpass\r\nX: y"},
		"extra":            {Model: "m", Extra: map[string]any{"f": math.NaN()}},
		"transport":        {Model: "m", Transport: Options{Attempts: -1}},
	} {
		_, err1 := OpenAI(c)
		_, err2 := Ollama(c)
		_, err3 := OpenAIEmbedder(c)
		_, err4 := OllamaEmbedder(c)
		for _, err := range []error{err1, err2, err3, err4} {
			if err == nil {
				t.Errorf("%s: accepted", name)
			} else if strings.Contains(err.Error(), "s3cretpass") {
				t.Errorf("%s: the error shows the secret: %v", name, err)
			}
		}
	}
	_, err := OpenAI(Config{BaseURL: "ftp://x", Batch: -1})
	got := strings.Count(err.Error(), "\n")
	check.Equal(t, got, 2, "%d problems reported, want 3: %v", got+1, err)
	for _, ok := range []Config{
		{Model: "m", BaseURL: "http://10.1.2.3/v1", AllowHTTP: true},
		{Model: "m", BaseURL: "http://localhost:1/v1"},
		{Model: "m", BaseURL: "http://[::1]:1/v1/"},
		{Model: "m", BaseURL: "https://host"},
	} {
		check.OK(t, check.Err(OpenAI(ok)), "%s", ok.BaseURL)
	}
}

func TestKeyReachesServerAndNothingElse(t *testing.T) {
	const key = "canary-8f3a1c-key"
	var logged strings.Builder
	o := quick
	o.Logger = debugLogger(&logged)
	for _, kind := range []string{"openai", "ollama"} {
		s := llmtest.NewServer(llmtest.ServerOptions{Key: key})
		p := provider(s, kind, Config{Key: key, Transport: o})
		m := check.Of(p.Model("m")).OK(t)
		e := check.Of(p.Embedder("m")).OK(t)
		check.OK(t, check.Err(m.Generate(t.Context(), llm.Prompt("hello"))))
		check.OK(t, check.Err(e.EmbedQuery(t.Context(), "hello")))
		echo := llmtest.Fault{Status: 401, Body: `{"error":{"message":"bad key ` + key + ` given"}}`}
		s.Fail(llmtest.Fault{Status: 503, Body: key}, echo, echo)
		_, err1 := m.Generate(t.Context(), llm.Prompt("hello"))
		_, err2 := e.EmbedQuery(t.Context(), "hello")
		s.Fail(llmtest.Fault{Status: 200, Body: `{"error":{"message":"bad key ` + key + ` given","code":401}}`})
		_, err3 := m.Generate(t.Context(), llm.Prompt("hello"))
		seen := fmt.Sprintf("%v %+v %#v %v %+v %v %s %s %+v", err1, err1, err1, err2, err2, err3, m.Name(), e.Name(), p)
		check.True(t, errors.Is(err1, llm.ErrAuth) && errors.Is(err2, llm.ErrAuth) && errors.Is(err3, llm.ErrAuth), "errors %v, %v", err1, err2)
		check.True(t, !strings.Contains(seen, key), "the key shows in %s", seen)
		s.Close()
	}
	check.True(t, !strings.Contains(logged.String(), key) && strings.Contains(logged.String(), "trying again"), "log: %s", logged.String())
}

// If a server repeats the key in any part of its reply, the key is in no error or reply, and so not in caches,
// journals and reports.
func TestKeyThatIsSentBack(t *testing.T) {
	const key = `canary"8f3a1c-key`
	var logged strings.Builder
	o := quick
	o.Logger = debugLogger(&logged)
	quoted := strings.Trim(fmt.Sprintf("%q", key), `"`)
	for _, kind := range []string{"openai", "ollama"} {
		s := llmtest.NewServer(llmtest.ServerOptions{Handler: func(llm.Request) llm.Reply {
			return llm.Reply{Text: "Your key is " + key + ".", Reasoning: key + " is the key"}
		}})
		defer s.Close()
		p := provider(s, kind, Config{Key: key, Transport: o})
		m := check.Of(p.Model("m")).OK(t)
		reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
		check.True(t, err == nil && reply.Text == "Your key is ***." && !strings.Contains(reply.Reasoning, key), "%+v, %v", reply, err)
		for _, f := range []llmtest.Fault{
			{Raw: "HTTP/1.1 200 OK\r\nAuthorization Bearer " + key + "\r\n\r\n{}"},
			{Raw: "HTTP/1.1 Bearer " + key + "\r\n\r\n"},
			{Raw: "Bearer " + key + "\r\n\r\n"},
			{Raw: "HTTP/1.1 200 OK\r\nContent-Length: " + key + "\r\n\r\n"},
			{Raw: "HTTP/1.1 200 OK\r\nTransfer-Encoding: " + key + "\r\n\r\n"},
			{Status: 401, Body: `{"error":{"message":"` + strings.Repeat("x", 480) + key + `"}}`},
			{Status: 200, Body: `{"error":{"message":"` + strings.Repeat("x", 480) + key + `","code":401}}`},
			{Status: 200, Body: `{"choices":"` + key + `","message":"` + key + `"}`},
		} {
			once := o
			once.Attempts = 1
			p := provider(s, kind, Config{Key: key, Transport: once})
			m, err1 := p.Model("m")
			e, err2 := p.Embedder("m")
			check.OK(t, errors.Join(err1, err2))
			s.Fail(f, f)
			_, err := m.Generate(t.Context(), llm.Prompt("hello"))
			_, err2 = e.EmbedQuery(t.Context(), "hello")
			check.True(t, err != nil && err2 != nil, "%+v: no error", f)
			for _, part := range []string{key, quoted, key[:12], "8f3a1c"} {
				seen := fmt.Sprintf("%v %+v %v", err, err, err2)
				check.True(t, !strings.Contains(seen, part), "%q of the key shows in %s", part, seen)
			}
		}
	}
	check.True(t, !strings.Contains(logged.String(), "8f3a1c"), "log: %s", logged.String())
}

func TestNamesTellModelsApart(t *testing.T) {
	names := map[string]bool{}
	for _, c := range []Config{
		{Model: "a"}, {Model: "b"}, {Model: "a", BaseURL: "https://host/v1"},
		{Model: "a", Extra: map[string]any{"x": 1}}, {Model: "a", Extra: map[string]any{"x": 2}},
	} {
		m := check.Of(OpenAI(c)).OK(t)
		names[m.Name()] = true
		o := check.Of(Ollama(Config{Model: c.Model, BaseURL: c.BaseURL, Extra: c.Extra, ContextTokens: 9})).OK(t)
		names[o.Name()] = true
	}
	check.True(t, len(names) == 10 && names["openai:https://api.openai.com/v1:a"], "names %v", names)
	e1, err1 := OpenAIEmbedder(Config{Model: "e"})
	e2, err2 := OpenAIEmbedder(Config{Model: "e", Extra: map[string]any{"dimensions": 3}})
	err := errors.Join(err1, err2)
	check.True(t, err == nil && e1.Name() != e2.Name(), "embedders of different dimension are both %q, error %v", e1.Name(), err)
}

func TestProviderFromEnv(t *testing.T) {
	s := llmtest.NewServer(llmtest.ServerOptions{Key: "env-key-1"})
	defer s.Close()
	for _, name := range []string{"OPENAI_BASE_URL", "OPENAI_API_KEY", "OLLAMA_HOST"} {
		t.Setenv(name, "")
	}
	check.Is(t, check.Err(ProviderFromEnv(Options{})), ErrNoProvider, "empty environment")
	t.Setenv("OLLAMA_HOST", "http://127.0.0.1:1")
	t.Setenv("OPENAI_BASE_URL", s.OpenAIURL())
	t.Setenv("OPENAI_API_KEY", "env-key-1")
	p, err := ProviderFromEnv(Options{})
	check.OK(t, err)
	m, err1 := p.Model("m")
	e, err2 := p.Embedder("e")
	check.OK(t, errors.Join(err1, err2))
	_, err = m.Generate(t.Context(), llm.Prompt("x"))
	check.True(t, err == nil, "%v", err)
	_, err = e.EmbedQuery(t.Context(), "x")
	check.True(t, err == nil, "%v", err)
	for host, want := range map[string]string{
		"0.0.0.0": "http://127.0.0.1:11434", "localhost": "http://localhost:11434", ":5000": "http://127.0.0.1:5000",
		"127.0.0.1:8080": "http://127.0.0.1:8080", "https://o.example": "https://o.example:443",
		"http://[::1]:9/base/": "http://[::1]:9/base", "[::]:9": "http://127.0.0.1:9",
	} {
		check.Equal(t, ollamaURL(host), want, "ollamaURL(%q)", host)
	}
}
