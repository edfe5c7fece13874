// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/metering"
	"github.com/wildgraph/wildgraph/llm/replies"
)

// wire is a base transport of given replies; it records the times of the requests.
type wire struct {
	mu      sync.Mutex
	replies []func() (*http.Response, error)
	at      []time.Duration
	start   time.Time
	bodies  []string
	keys    map[string]bool
	flying  int
	most    int
	takes   time.Duration
}

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	w.mu.Lock()
	if w.start.IsZero() {
		w.start = time.Now()
	}
	n := len(w.at)
	w.at = append(w.at, time.Since(w.start))
	w.bodies = append(w.bodies, string(body))
	if w.keys == nil {
		w.keys = map[string]bool{}
	}
	w.keys[r.Header.Get("Idempotency-Key")] = true
	w.flying++
	w.most = max(w.most, w.flying)
	reply := status(200, `{"ok":true}`)
	if n < len(w.replies) {
		reply = w.replies[n]
	}
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		w.flying--
		w.mu.Unlock()
	}()
	if w.takes > 0 {
		select {
		case <-time.After(w.takes):
		case <-r.Context().Done():
			return nil, r.Context().Err()
		}
	}
	return reply()
}

func status(code int, body string, headers ...string) func() (*http.Response, error) {
	return func() (*http.Response, error) {
		h := http.Header{"Content-Type": {"application/json"}}
		for i := 0; i < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(body))}, nil
	}
}

func send(t *testing.T, ctx context.Context, o Options) (string, error) {
	t.Helper()
	tr := check.Of(New(o)).OK(t)
	return sendOn(ctx, tr)
}

func sendOn(ctx context.Context, tr *Transport) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h.example/v1/x?key=hush", strings.NewReader(`{"q":1}`))
	if err != nil {
		return "", err
	}
	resp, err := tr.RoundTrip(req)
	if err != nil {
		return "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

func TestBackOffGrowsAndHonoursRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{replies: []func() (*http.Response, error){
			status(503, "a"), status(503, "b"), status(429, "", "Retry-After", "100"), status(503, "c"), status(500, "d"),
		}}
		body, err := send(t, t.Context(), Options{Base: w})
		check.Must(t, err == nil && body == `{"ok":true}`, "%q, %v", body, err)
		// Full jitter: wait n is in (0, 1 s·2ⁿ], added to Retry-After.
		for i, floor := range []time.Duration{0, 0, 100 * time.Second, 0, 0} {
			wait, ceiling := w.at[i+1]-w.at[i], floor+time.Second<<i
			check.True(t, wait > floor && wait <= ceiling, "wait %d is %v, want (%v, %v]", i, wait, floor, ceiling)
		}
		check.Equal(t, len(w.keys), 1, "idempotency keys for one call")
		for _, b := range w.bodies {
			check.Equal(t, b, `{"q":1}`, "an attempt sent")
		}
	})
}

func TestDeadlineAndCancelEndTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		long := status(429, "", "Retry-After", "100")
		w := &wire{replies: []func() (*http.Response, error){long, long, long, long, long, long}}
		start := time.Now()
		_, err := send(t, t.Context(), Options{Base: w, MaxOutage: 250 * time.Second})
		var e *llm.Error
		if !errors.Is(err, llm.ErrRateLimited) || !errors.As(err, &e) || e.RetryAfter != 100*time.Second || time.Since(start) > 250*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}

		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(3*time.Second, func() { cancel(errors.New("user went home")) })
		start = time.Now()
		_, err = send(t, ctx, Options{Base: &wire{replies: []func() (*http.Response, error){long}}})
		if !errors.As(err, &e) || !errors.Is(err, context.Canceled) || e.Billed != llm.BilledNo || time.Since(start) != 3*time.Second {
			t.Errorf("after %v: %v", time.Since(start), err)
		}

		// A hanging attempt is ended and retried.
		w = &wire{takes: time.Hour}
		var m metering.Bill
		_, err = send(t, metering.WithBill(t.Context(), &m), Options{Base: w, AttemptTimeout: time.Minute, Attempts: 3})
		check.True(t, errors.Is(err, llm.ErrTimeout) && len(w.at) == 3 && m.Unknown() == 3, "%d attempts, %d possibly billed, %v", len(w.at), m.Unknown(), err)
	})
}

func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{takes: time.Second}
		tr := check.Of(New(Options{Base: w, Concurrency: 3})).OK(t)
		var wg sync.WaitGroup
		for range 12 {
			wg.Go(func() {
				_, err := sendOn(t.Context(), tr)
				check.True(t, err == nil, "%v", err)
			})
		}
		wg.Wait()
		check.True(t, w.most == 3 && time.Since(w.start) == 4*time.Second, "%d at once, %v in all", w.most, time.Since(w.start))
	})
}

func TestBodyLimitAndCuts(t *testing.T) {
	big := status(200, `{"a":"`+strings.Repeat("x", 100)+`"}`)
	w := &wire{replies: []func() (*http.Response, error){big, big}}
	_, err := send(t, t.Context(), Options{Base: w, MaxBody: 50})
	check.True(t, errors.Is(err, llm.ErrInvalidOutput) && len(w.at) == 1, "%d attempts, %v", len(w.at), err)
}

func TestErrorsShowNoQuery(t *testing.T) {
	w := &wire{replies: []func() (*http.Response, error){status(400, `no hush here`)}}
	_, err := send(t, t.Context(), Options{Base: w})
	check.True(t, err != nil && !strings.Contains(err.Error(), "hush") && strings.Contains(err.Error(), "http://h.example/v1/x"), "%v", err)
}

func TestUsageIsRecordedWithoutCall(t *testing.T) {
	w := &wire{replies: []func() (*http.Response, error){
		status(200, `{"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":4}}`),
		status(200, `{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":5,"total_tokens":5}}`),
		status(200, `{"embeddings":[[1]],"prompt_eval_count":6}`),
		status(200, `{"message":{},"prompt_eval_count":7,"eval_count":8}`),
		status(200, `{"hello":1}`),
	}}
	var bill metering.Bill
	tr := check.Of(New(Options{Base: w})).OK(t)
	for range 5 {
		check.OK(t, check.Err(sendOn(metering.WithBill(t.Context(), &bill), tr)))
	}
	want := llm.Usage{Calls: 3, PromptTokens: 10, CompletionTokens: 12, EmbeddedTokens: 11, Estimated: true}
	check.Equal(t, bill.Known(), want)
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{Attempts: -1, BaseDelay: -1, MaxBody: -1, Concurrency: -1})
	check.True(t, err != nil && strings.Count(err.Error(), "\n") == 3, "%v", err)
}

// Token counts in any form are read, or marked as estimated; none fails a reply that was paid for, and
// implausible ones are not used.
func TestStrangeFiguresOfUsage(t *testing.T) {
	for figure, want := range map[string]int{
		`12`: 12, `12.0`: 12, `"12"`: 12, `" 12 "`: 12, `1.2e1`: 12, `11.5`: 12,
		`-12`: 0, `"many"`: 0, `null`: 0, `{}`: 0, `[12]`: 0, `true`: 0, `1e300`: 0, `4611686018427387904`: 0, `"NaN"`: 0, `"Inf"`: 0,
	} {
		s := llmtest.NewServer(llmtest.ServerOptions{})
		t.Cleanup(s.Close)
		chats := map[string]string{
			"openai": `{"choices":[{"message":{"content":"paid for"},"finish_reason":"stop"}],"usage":{"prompt_tokens":%[1]s,"completion_tokens":%[1]s}}`,
			"ollama": `{"message":{"content":"paid for"},"done":true,"prompt_eval_count":%[1]s,"eval_count":%[1]s}`,
		}
		vectors := map[string]string{
			"openai": `{"data":[{"embedding":[1,2]}],"usage":{"prompt_tokens":%[1]s}}`,
			"ollama": `{"embeddings":[[1,2]],"prompt_eval_count":%[1]s}`,
		}
		for kind, body := range chats {
			p := provider(s, kind, Config{})
			m := check.Of(p.Model("m")).OK(t)
			s.Fail(llmtest.Fault{Status: 200, Body: fmt.Sprintf(body, figure)}, llmtest.Fault{Status: 200, Body: fmt.Sprintf(vectors[kind], figure)})
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			u := reply.Usage
			check.True(t, err == nil && reply.Text == "paid for" && u.Estimated == (want == 0), "%s: a figure of %s: %+v, %v", kind, figure, reply, err)
			check.True(t, u.Tokens() > 0 && u.Tokens() <= 100, "%s: a figure of %s: %d tokens", kind, figure, u.Tokens())
			check.True(t, want == 0 || u.PromptTokens+u.CompletionTokens == 2*want, "%s: a figure of %s: %+v", kind, figure, u)
			e := check.Of(p.Embedder("e")).OK(t)
			if v, err := e.EmbedQuery(t.Context(), "hello"); err != nil || len(v) != 2 {
				t.Errorf("%s: a vector with a figure of %s: %v, %v", kind, figure, v, err)
			}
		}
		for details, want := range map[string]int{`{"cached_tokens": 8}`: 8, `{"cached_tokens": 80}`: 20, `{"cached_tokens": -1}`: 0, `7`: 0, `null`: 0, `[]`: 0, `{"cached_tokens": {}}`: 0} {
			s.Fail(llmtest.Fault{Status: 200, Body: `{"choices":[{"message":{"content":"x"}}],"usage":{"prompt_tokens":20,"completion_tokens":1,"prompt_tokens_details":` + details + `}}`})
			m := check.Of(provider(s, "openai", Config{}).Model("m")).OK(t)
			if reply, err := m.Generate(t.Context(), llm.Prompt("hello")); err != nil || reply.Usage.ProviderCached != want || reply.Usage.PromptTokens != 20 {
				t.Errorf("details %s: %+v, %v", details, reply, err)
			}
		}
		for _, odd := range []string{`7`, `"none"`, `[]`, `null`} {
			s.Fail(llmtest.Fault{Status: 200, Body: `{"choices":[{"message":{"content":"x"}}],"usage":` + odd + `}`})
			m := check.Of(provider(s, "openai", Config{}).Model("m")).OK(t)
			reply, err := m.Generate(t.Context(), llm.Prompt("hello"))
			check.True(t, err == nil && reply.Usage.Estimated, "usage %s: %+v, %v", odd, reply, err)
		}
	}
}

// Whatever servers write in place of a vector's numbers is an error with the model's name and the remedy, and
// not zero.
func TestVectorsThatAreNone(t *testing.T) {
	for _, vector := range []string{`[null,1]`, `[0,0]`, `[1e39,1]`, `null`, `[]`, `["a"]`, `{}`, `[1e38,1]`, `"AAAA"`} {
		s := llmtest.NewServer(llmtest.ServerOptions{})
		t.Cleanup(s.Close)
		for kind, body := range map[string]string{"openai": `{"data":[{"embedding":%s}]}`, "ollama": `{"embeddings":[%s]}`} {
			e := check.Of(provider(s, kind, Config{}).Embedder("e")).OK(t)
			before := len(s.Requests())
			bad := llmtest.Fault{Status: 200, Body: fmt.Sprintf(body, vector)}
			s.Fail(bad, bad, bad)
			v, err := e.EmbedQuery(t.Context(), "hello")
			check.True(t, errors.Is(err, ErrBadVector) && strings.Contains(err.Error(), e.Name()) &&
				strings.Contains(err.Error(), "name another"), "%s: %s: %v, %v", kind, vector, v, err)
			check.Equal(t, (len(s.Requests()) - before), 3, "%s: %s", kind, vector)
		}
	}
}

func TestSecretNeverPrints(t *testing.T) {
	const key = "sk-canary-1234567890"
	type config struct {
		Key  Secret
		Keys []Secret
		Map  map[string]Secret
		Ptr  *Secret
	}
	s := Secret(key)
	c := config{s, []Secret{s}, map[string]Secret{"k": s}, &s}
	var out strings.Builder
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "%d"} {
		fmt.Fprintf(&out, verb+" "+verb+" "+verb+"\n", s, c, &c)
	}
	b := check.Of(json.Marshal(c)).OK(t)
	out.Write(b)
	slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "key", s, "config", c)
	slog.New(slog.NewTextHandler(&out, nil)).Info("x", "key", s, "config", c)
	text := out.String()
	check.True(t, !strings.Contains(text, "canary") && !strings.Contains(text, fmt.Sprintf("%x", "canary")) && strings.Contains(text, hidden), "%v", text)
	check.Equal(t, s.Reveal(), key, "Reveal does not")
}

func TestClassify(t *testing.T) {
	for _, tc := range []struct {
		status int
		body   string
		want   llm.Kind
	}{
		{429, `{"error":{"code":"rate_limit_exceeded"}}`, llm.ErrRateLimited},
		{429, `{"error":{"type":"insufficient_quota","code":null}}`, llm.ErrQuotaExhausted},
		{429, `not JSON`, llm.ErrRateLimited},
		{402, ``, llm.ErrQuotaExhausted},
		{401, ``, llm.ErrAuth}, {403, ``, llm.ErrAuth}, {404, ``, llm.ErrBadRequest},
		{408, ``, llm.ErrTimeout}, {504, ``, llm.ErrTimeout}, {409, ``, llm.ErrTransient}, {425, ``, llm.ErrTransient},
		{500, `{"error":"14000 tokens, maximum context length"}`, llm.ErrTransient},
		{502, ``, llm.ErrTransient}, {503, ``, llm.ErrTransient}, {529, ``, llm.ErrRateLimited}, {501, ``, llm.ErrBadRequest},
		{400, `{"error":{"message":"…resulted in 14290 tokens; maximum context length is 8192"}}`, llm.ErrContextLength},
		{400, `{"error":"input length exceeds the context length"}`, llm.ErrContextLength},
		{400, `{"message":"the request exceeds the available context size"}`, llm.ErrContextLength},
		{400, `{"error":{"code":"content_filter"}}`, llm.ErrFiltered},
		{400, `{"error":{"message":"429 is no temperature"}}`, llm.ErrBadRequest},
		{302, `moved`, llm.ErrBadRequest},
	} {
		check.Equal(t, classifyStatus(tc.status, http.Header{}, []byte(tc.body)).Kind, tc.want, "%d %s", tc.status, tc.body)
	}
}

// Errors show the server's sentence, not its JSON.
func TestErrorSentence(t *testing.T) {
	for body, want := range map[string]string{
		`{"error": {"message": "No model \"x\" is here.", "code": 404}}`: `No model "x" is here.`,
		`{"error": "model crashed"}`:                                     "model crashed",
		`{"message": "too long"}`:                                        "too long",
		`{"detail": "x"}`:                                                `{"detail": "x"}`,
		"<html>":                                                         "<html>",
	} {
		check.Equal(t, string(sentence([]byte(body))), want, "%s", body)
	}
	check.Equal(t, errorInBody([]byte(`{"error":{"message":"upstream failed","code":502}}`)).Body, "upstream failed", "the body shown")
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)
	date := func(d time.Duration) string { return now.Add(d).Format(http.TimeFormat) }
	for _, tc := range []struct {
		header map[string]string
		want   time.Duration
	}{
		{map[string]string{"Retry-After": "7"}, 7 * time.Second},
		{map[string]string{"Retry-After": " 0.5 "}, 500 * time.Millisecond},
		{map[string]string{"Retry-After": date(9 * time.Second)}, 9 * time.Second},
		{map[string]string{"Retry-After": date(-time.Hour)}, 0},
		// The server's clock is an hour ahead of ours: only the difference of its own times counts.
		{map[string]string{"Retry-After": date(time.Hour + 9*time.Second), "Date": date(time.Hour)}, 9 * time.Second},
		{map[string]string{"Retry-After-Ms": "250", "Retry-After": "7"}, 250 * time.Millisecond},
		{map[string]string{"Retry-After": "-3"}, 0},
		{map[string]string{"Retry-After": "soon"}, 0},
		{map[string]string{"Retry-After": "1e300"}, 1e6 * time.Second},
		{map[string]string{"Retry-After": "NaN"}, 0},
		{map[string]string{}, 0},
	} {
		h := http.Header{}
		for k, v := range tc.header {
			h.Set(k, v)
		}
		check.Equal(t, parseRetryAfter(h, now), tc.want, "%v", tc.header)
	}
}

func FuzzRetryAfter(f *testing.F) {
	for _, s := range []string{"7", "Wed, 21 Oct 2015 07:28:00 GMT", "-1", "NaN", "1e999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		d := parseRetryAfter(http.Header{"Retry-After": {s}}, time.Unix(0, 0))
		check.Must(t, d >= 0 && d <= 1e6*time.Second, "%q: %v", s, d)
	})
}

// A server that fails for a while, or sometimes, does not end a run: eight workers make calls for a minute, and
// none fails.
func TestShortOutagesEndNoRun(t *testing.T) {
	down := func(from, to time.Duration) func(time.Duration, int64) bool {
		return func(now time.Duration, _ int64) bool { return now >= from && now < to }
	}
	every := func(k int64) func(time.Duration, int64) bool {
		return func(_ time.Duration, n int64) bool { return n%k == 0 }
	}
	var rng sync.Mutex
	random := rand.New(rand.NewPCG(1, 2))
	for name, fails := range map[string]func(now time.Duration, n int64) bool{
		"from the start, 5 s": down(0, 5*time.Second), "5 s": down(3*time.Second, 8*time.Second), "2 min": down(3*time.Second, 2*time.Minute), "20 min": down(3*time.Second, 20*time.Minute),
		"every fourth":          every(4),
		"one in four by chance": func(time.Duration, int64) bool { rng.Lock(); defer rng.Unlock(); return random.IntN(4) == 0 },
	} {
		for _, code := range []int{429, 500, -1} { // -1 refuses the connection
			for _, workers := range []int{1, 8} {
				if code == -1 && name != "5 s" {
					continue // if no server answers at all, the address is probably wrong
				}
				t.Run(fmt.Sprint(name, code, workers), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) {
						start := time.Now()
						var sent atomic.Int64
						tr := newTestTransport(t, Options{Base: baseFunc(func(*http.Request) (*http.Response, error) {
							time.Sleep(100 * time.Millisecond)
							switch {
							case !fails(time.Since(start), sent.Add(1)):
								return status(200, `{}`)()
							case code < 0:
								return nil, syscall.ECONNREFUSED
							}
							return status(code, `{"error":"the same every time"}`)()
						})})
						var wg sync.WaitGroup
						for range workers {
							wg.Go(func() {
								for range 100 {
									if _, err := sendOn(t.Context(), tr); err != nil {
										t.Errorf("after %v: %v", time.Since(start), err)
										return
									}
								}
							})
						}
						wg.Wait()
						took := time.Since(start)
						check.True(t, took <= 35*time.Minute, "took %v", took)
					})
				})
			}
		}
	}
}

// A call that fails while others succeed ends with its error; so does one to a server that has never answered.
func TestPoisonEndsItsCallAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var bad atomic.Int64
		tr := newTestTransport(t, Options{Base: baseFunc(func(r *http.Request) (*http.Response, error) {
			if r.URL.Query().Get("bad") != "" {
				bad.Add(1)
				return status(500, `{"error":"boom"}`)()
			}
			return status(200, `{}`)()
		})})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			for ctx.Err() == nil {
				_, _ = sendOn(ctx, tr)
				time.Sleep(time.Second)
			}
		})
		time.Sleep(time.Second)
		req := check.Of(http.NewRequestWithContext(ctx, http.MethodPost, "http://h.example/v1/x?bad=1", strings.NewReader(`{}`))).OK(t)
		start := time.Now()
		if _, err := tr.RoundTrip(req); !errors.Is(err, llm.ErrTransient) || bad.Load() > 11 || time.Since(start) > 5*time.Minute {
			t.Errorf("%d attempts in %v: %v", bad.Load(), time.Since(start), err)
		}
		cancel()
		wg.Wait()
	})
}

// Every wait is logged, with its reason and its length.
func TestWaitsAreTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		replies := []func() (*http.Response, error){status(429, ""), status(503, "busy"), status(200, `{}`)}
		tr := newTestTransport(t, Options{
			Logger: slog.New(slog.NewTextHandler(&log, nil)),
			Base: baseFunc(func(*http.Request) (*http.Response, error) {
				time.Sleep(70 * time.Second)
				reply := replies[0]
				replies = replies[1:]
				return reply()
			}),
		})
		check.OK(t, check.Err(sendOn(t.Context(), tr)))
		for what, times := range map[string]int{"trying again": 2, "no reply yet": 6, "waited=30s": 3, "waited=1m0s": 3, "rate limited": 1, "HTTP 503": 1} {
			check.Equal(t, strings.Count(log.String(), what), times, "%q is not told %d times:\n%s", what, times, &log)
		}
	})
}

// Whatever a server sends, an error has a kind, a body that may be shown, and a wait within limits.
func FuzzErrorBody(f *testing.F) {
	for _, s := range []string{`{"error":{"code":"insufficient_quota"}}`, `{"error":"x"}`, `{"error":{"code":429,"message":"y"}}`, `{"message":"z"}`, "<html>", "\xff", `{"error":{"code":1e999}}`} {
		f.Add(429, s, "7", "Wed, 21 Oct 2015 07:28:00 GMT", "1500")
		f.Add(200, s, "Wed, 21 Oct 2015 07:28:00 GMT", "", "")
	}
	f.Fuzz(func(t *testing.T, status int, body, retry, date, ms string) {
		h := http.Header{"Retry-After": {retry}, "Date": {date}, "Retry-After-Ms": {ms}}
		e := classifyStatus(status, h, []byte(body))
		check.Must(t, e.Kind != "" && e.RetryAfter >= 0 && e.RetryAfter <= 1e6*time.Second, "%+v", e)
		e.Body = replies.Excerpt([]byte(body))
		check.Must(t, utf8.ValidString(e.Body) && len(e.Body) <= 503 && utf8.ValidString(e.Error()), "%q", e.Error())
		in := errorInBody([]byte(body))
		check.Must(t, in == nil || in.Kind != "" && errors.Is(in, in.Kind), "%+v", in)
		u := usageIn([]byte(body))
		check.Must(t, u.Calls >= 0, "%+v", u)
		newExchange(&Transport{gates: map[string]*gate{}, o: Options{Concurrency: 1}}, &http.Request{URL: mustURL(t)}, []byte(body), nil)
	})
}

func mustURL(t *testing.T) *url.URL {
	return check.Of(url.Parse("http://h.example/v1")).OK(t)
}

// A reply that is accepted has text and consistent counts; anything else is an error.
func FuzzReadReply(f *testing.F) {
	for _, s := range []string{
		`{"model":"m","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`,
		`{"choices":[{"message":{"content":[{"text":"a"},{"text":"b"}]},"finish_reason":"length"}]}`,
		`{"choices":[{"message":{"content":null,"refusal":"no"}}]}`, `{"choices":[]}`, `{"error":{"code":429}}`, `{"choices":`,
		"{\"message\":{\"content\":\"a\"},\"done\":false}\n{\"message\":{\"content\":\"b\"},\"done\":true,\"prompt_eval_count\":1,\"eval_count\":2}",
		`{"message":{"content":"<think>a"},"done":true}`, `{"done":true}`, "\xff", "", "null",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for name, read := range map[string]func([]byte) (llm.Reply, error){"openai": readOpenAI, "ollama": readOllama} {
			reply, err := read(body)
			var e *llm.Error
			switch {
			case err == nil && (strings.TrimSpace(reply.Text) == "" || reply.Finish != llm.FinishStop):
				t.Fatalf("%s: %+v is taken for an answer", name, reply)
			case err != nil && errors.As(err, &e) && e.Kind == "":
				t.Fatalf("%s: an error without a kind: %v", name, err)
			case reply.Usage.PromptTokens < 0 || reply.Usage.CompletionTokens < 0:
				t.Fatalf("%s: usage %+v", name, reply.Usage)
			}
		}
	})
}

func FuzzReadVectors(f *testing.F) {
	for _, s := range []string{
		`{"data":[{"index":1,"embedding":[1,2]},{"index":0,"embedding":[3,4]}],"usage":{"prompt_tokens":3}}`,
		`{"data":[{"index":-1,"embedding":[1]}]}`, `{"data":[{"embedding":[1e999]}]}`, `{"embeddings":[[1,2],[3,4]],"prompt_eval_count":3}`,
		`{"embeddings":[[],[]]}`, `{"data":null}`, ``, `{"data":[{"embedding":[null]},{"embedding":[0]}],"usage":{"prompt_tokens":"1e30"}}`,
	} {
		f.Add([]byte(s), 2)
	}
	f.Fuzz(func(t *testing.T, body []byte, n int) {
		n &= 7
		texts := slices.Repeat([]string{"x"}, n)
		for name, read := range map[string]func([]byte, int) ([][]float32, llm.Usage, error){"openai": readOpenAIVectors, "ollama": readOllamaVectors} {
			vectors, u, err := read(body, n)
			check.Must(t, u.EmbeddedTokens >= 0 && u.EmbeddedTokens <= 1e8, "%s: %+v", name, u)
			if err != nil || CheckVectors(texts, vectors) != nil {
				continue
			}
			check.Must(t, len(vectors) == n, "%s: %d vectors for %d texts", name, len(vectors), n)
			for _, v := range vectors {
				if len(v) == 0 || len(v) != len(vectors[0]) || slices.Max(v) <= 0 && slices.Min(v) >= 0 {
					t.Fatalf("%s: dimensions %d and %d, %v", name, len(v), len(vectors[0]), v)
				}
			}
		}
	})
}

// An accepted address has no credentials, and plain http only to this machine; the error about a refused one
// does not show its password.
func FuzzConfigURL(f *testing.F) {
	for _, s := range []string{
		"http://127.0.0.1:8000/v1", "https://host/v1/", "http://10.0.0.1", "http://me:p4ssw0rd@localhost/", "http://[::1]:9/base",
		"https://host?key=p4ssw0rd", "ftp://x", "http://localhost.:1", "//x", "http://[::ffff:127.0.0.1]/", "http://127.1/", "0.0.0.0", ":5000", "p://:8000@", "[::]:9", "http://\x00", "%zz",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, text := range []string{raw, ollamaURL(raw)} {
			u, err := parseURL(text, false)
			if err != nil {
				if parsed, perr := url.Parse(text); perr == nil && parsed.User != nil {
					// With another password the error is the same.
					if p, ok := parsed.User.Password(); ok && p != "" {
						masked := strings.Replace(text, ":"+p+"@", ":another-password@", 1)
						if _, other := parseURL(masked, false); masked != text && (other == nil || other.Error() != err.Error()) {
							t.Fatalf("%q: the error shows the password: %v, and %v", text, err, other)
						}
					}
				}
				continue
			}
			check.Must(t, u.User == nil && u.RawQuery == "" && u.Fragment == "" && u.Hostname() != "" &&
				(u.Scheme != "http" || loopback(u.Hostname())), "%q was accepted as %v", text, u)
			again, err := parseURL(u.String(), false)
			check.Must(t, err == nil && again.String() == u.String(), "%q became %q, which became %v: %v", text, u, again, err)
		}
	})
}
