// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// wire is a base transport made of replies; it notes when it was asked.
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
		// Full jitter: wait n lies in (0, 1 s·2ⁿ], on top of Retry-After.
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

		// A hanging attempt ends by itself and is tried again.
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
