// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// Plain records that a model has replied without reasoning.
func Plain(m llm.Model) { m.(*chat).t.plain(m.Name(), new(llm.Reply)) }

// baseFunc is a base transport made from a function.
type baseFunc func(r *http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return f(r)
}

func newTestTransport(t *testing.T, o Options) *Transport {
	t.Helper()
	return check.Of(New(o)).OK(t)
}

func TestRetriesTheServerAskedForAreNoStorm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent atomic.Int64
		busy := baseFunc(func(*http.Request) (*http.Response, error) {
			if sent.Add(1)%2 == 1 {
				return status(429, "", "Retry-After", "1")()
			}
			return status(200, `{}`)()
		})
		tr := newTestTransport(t, Options{Base: busy})
		for range 40 {
			check.OK(t, check.Err(sendOn(t.Context(), tr)))
		}
		check.Equal(t, sent.Load(), 80, "requests")
	})
}

func TestAIMD(t *testing.T) {
	now := time.Unix(1000, 0)
	a := newAIMD(12, false)
	check.Must(t, a.slots() == 8, "starts with %d", a.slots())
	// One more slot per window of successes: 8, then 9, 10, 11; never above 12.
	for want, n := 9, 8; want <= 12; want, n = want+1, n+1 {
		for i := range n {
			if a.slots() != want-1 {
				t.Fatalf("%d after %d successes of the window, want %d", a.slots(), i, want-1)
			}
			a.success(a.slots(), 1, 1)
		}
		check.Must(t, a.slots() == want, "%d, want %d", a.slots(), want)
	}
	for range 100 {
		a.success(a.slots(), 1, 1)
	}
	check.Equal(t, a.slots(), 12, "above the user's limit")
	// Lowers the limit to seven tenths, once per cooldown.
	check.True(t, a.overload(now, 0) && a.slots() == 8 && !a.overload(now.Add(4*time.Second), 0) && a.slots() == 8, "%d after the first cut", a.slots())
	check.True(t, a.overload(now.Add(5*time.Second), 20*time.Second) && a.slots() == 5, "%d after the second cut", a.slots())
	check.True(t, !a.overload(now.Add(24*time.Second), 0), "cut while the server's Retry-After runs")
	for i := range 20 {
		a.overload(now.Add(time.Duration(i+10)*time.Minute), 0)
	}
	check.Equal(t, a.slots(), 1, "at the least")
	a = newAIMD(3, false)
	check.Equal(t, a.slots(), 3, "starts with %d of at most 3", a.slots())
}

// capped is a server that accepts a number of concurrent requests and sends 429 to others.
type capped struct {
	bears   int64
	flying  atomic.Int64
	mu      sync.Mutex
	refused int
	most    int64
}

func (c *capped) RoundTrip(r *http.Request) (*http.Response, error) {
	n := c.flying.Add(1)
	defer c.flying.Add(-1)
	c.mu.Lock()
	c.most = max(c.most, n)
	if n > c.bears {
		c.refused++
	}
	c.mu.Unlock()
	if n > c.bears {
		time.Sleep(10 * time.Millisecond)
		return status(529, "", "Retry-After-Ms", "50")()
	}
	time.Sleep(time.Second)
	return status(200, `{}`)()
}

func TestConcurrencyAdaptsToTheEndpoint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := &capped{bears: 20}
		tr := newTestTransport(t, Options{Base: c, Concurrency: 64})
		var wg sync.WaitGroup
		start := time.Now()
		const calls = 2000
		for range calls {
			wg.Go(func() {
				_, err := sendOn(t.Context(), tr)
				check.True(t, err == nil, "%v", err)
			})
		}
		wg.Wait()
		took := time.Since(start).Seconds()
		// The best possible is 100 s; without adapting, 8 slots take 250 s, and 64 are mostly refused.
		check.True(t, took <= 150 && c.refused <= calls/20 && c.most >= 20 && c.most <= 22, "%.0f s, %d refused, %d at once", took, c.refused, c.most)
	})
}

// A local server has a few slots, and queues requests inside: more are sent while this speeds up the replies,
// and no more, so that no call waits longer than its limit. With few callers the limit is not changed.
func TestConcurrencyOfALocalServer(t *testing.T) {
	for _, slots := range []int{1, 2, 4, 16} {
		synctest.Test(t, func(t *testing.T) {
			free := make(chan struct{}, slots)
			var flying, most, calls atomic.Int64
			base := baseFunc(func(r *http.Request) (*http.Response, error) {
				n := flying.Add(1)
				defer flying.Add(-1)
				for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
				}
				select {
				case free <- struct{}{}:
				case <-r.Context().Done():
					return nil, r.Context().Err()
				}
				time.Sleep(time.Second)
				<-free
				calls.Add(1)
				return status(200, `{"choices":[],"usage":{"prompt_tokens":80,"completion_tokens":20}}`)()
			})
			tr := newTestTransport(t, Options{Base: base, AttemptTimeout: 4 * time.Second})
			ask := func() {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://127.0.0.1:1/v1/x", strings.NewReader(`{}`))
				check.OK(t, err)
				_, err = tr.RoundTrip(req)
				check.True(t, err == nil, "%v", err)
			}
			for range 40 {
				ask() // one caller at a time
			}
			check.True(t, most.Load() == 1 && tr.gates["http://127.0.0.1:1/v1/x"].limit.slots() == startLocal,
				"%d slots: one caller has changed the limit", slots)
			start := time.Now()
			var wg sync.WaitGroup
			for range 8 {
				wg.Go(func() {
					for range 40 {
						ask()
					}
				})
			}
			wg.Wait()
			// At the server's own limit 320 calls run in its slots, at most eight at a time.
			best := 320 / float64(min(slots, 8))
			if took := time.Since(start).Seconds(); took > 1.2*best+10 || slots <= 2 && took > 1.2*best || calls.Load() != 360 || most.Load() > int64(min(max(slots, startLocal)+1, 8)) {
				t.Errorf("%d slots: %.0f s, %d calls answered, %d at a time at the most", slots, took, calls.Load(), most.Load())
			}
		})
	}
}

// flaky is a server that fails while off is set.
type flaky struct {
	off  atomic.Bool
	sent atomic.Int64
	dead bool // refuses the connection instead of sending 503
}

func (f *flaky) RoundTrip(*http.Request) (*http.Response, error) {
	n := f.sent.Add(1)
	if !f.off.Load() {
		return status(200, `{}`)()
	}
	if f.dead {
		return nil, errors.New("connection refused")
	}
	return status(503, fmt.Sprint(n))()
}

func TestBreakerPausesAndProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{}
		f.off.Store(true)
		var log strings.Builder
		tr := newTestTransport(t, Options{Base: f, BaseDelay: 10 * time.Millisecond, MaxDelay: 10 * time.Millisecond,
			Logger: slog.New(slog.NewTextHandler(&log, nil))})
		var wg sync.WaitGroup
		var failed atomic.Int64
		for range 100 {
			wg.Go(func() {
				if _, err := sendOn(t.Context(), tr); err != nil {
					failed.Add(1)
				}
			})
		}
		time.Sleep(time.Second)
		atOpening := f.sent.Load()
		check.True(t, atOpening >= breakerCalls && atOpening <= breakerCalls+startConcurrency, "%d requests until the breaker opened", atOpening)
		early := failed.Load()
		// For almost half an hour, one probe every half minute, and no call fails.
		time.Sleep(29 * time.Minute)
		probes := f.sent.Load() - atOpening
		check.True(t, probes == 58 && failed.Load() == early, "%d probes in 29 minutes, %d more calls failed", probes, failed.Load()-early)
		f.off.Store(false)
		wg.Wait()
		check.True(t, failed.Load() == early && early < breakerCalls, "%d calls failed in the outage, %d before", failed.Load()-early, early)
		for want, times := range map[string]int{"endpoint fails: waiting for it": 1, "still fails: waiting for it": 58, "answers again": 1} {
			check.Equal(t, strings.Count(log.String(), want), times, "%q is not logged %d times: %.2000s", want, times, &log)
		}
	})
}

// trip makes so many calls to a failing server that the breaker opens.
func trip(t *testing.T, tr *Transport) {
	t.Helper()
	for range breakerCalls {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = sendOn(ctx, tr) // the last call waits
		cancel()
	}
}

func TestBreakerWaitEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{}
		f.off.Store(true)
		tr := newTestTransport(t, Options{Base: f, Attempts: 1})
		trip(t, tr)
		sent, start := f.sent.Load(), time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
		defer cancel()
		_, err := sendOn(ctx, tr)
		var e *llm.Error
		if !errors.As(err, &e) || !errors.Is(err, context.DeadlineExceeded) || e.Billed != llm.BilledNo ||
			time.Since(start) != 7*time.Second || f.sent.Load() != sent {
			t.Errorf("after %v and %d requests: %v", time.Since(start), f.sent.Load()-sent, err)
		}
		// A cancelled probe decides nothing; the next caller probes.
		f.off.Store(false)
		_, err = sendOn(t.Context(), tr)
		check.True(t, err == nil && time.Since(start).Round(time.Second) == breakerPause, "after %v: %v", time.Since(start), err)
	})
}

func TestOutageEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{}
		f.off.Store(true)
		tr := newTestTransport(t, Options{Base: f, Attempts: 1, MaxOutage: 100 * time.Second})
		trip(t, tr)
		start := time.Now()
		_, err := sendOn(t.Context(), tr)
		if !errors.Is(err, llm.ErrTransient) || time.Since(start) > 150*time.Second || !strings.Contains(err.Error(), "has been failing") && !strings.Contains(err.Error(), "503") {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// If no server has ever answered, calls do not wait for one.
func TestWrongAddressFailsFast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &flaky{dead: true}
		f.off.Store(true)
		tr := newTestTransport(t, Options{Base: f, Attempts: 1})
		trip(t, tr)
		sent, start := f.sent.Load(), time.Now()
		for range 50 {
			_, err := sendOn(t.Context(), tr)
			check.Must(t, errors.Is(err, llm.ErrTransient) && strings.Contains(err.Error(), "not sent"), "%v", err)
		}
		check.True(t, f.sent.Load() == sent && time.Since(start) <= 0, "%d more requests in %v", f.sent.Load()-sent, time.Since(start))
		time.Sleep(breakerPause)
		f.off.Store(false)
		check.OK(t, check.Err(sendOn(t.Context(), tr)))
	})
}

func TestGatesAreSeparate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base := baseFunc(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/down" {
				return status(503, time.Now().String())()
			}
			return status(200, `{}`)()
		})
		tr := newTestTransport(t, Options{Base: base, Attempts: 1})
		ask := func(path, model string) error {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://h.example"+path, strings.NewReader(`{"model":"`+model+`"}`))
			check.OK(t, err)
			_, err = tr.RoundTrip(req)
			return err
		}
		for range breakerCalls {
			_ = ask("/down", "a")
		}
		check.Is(t, ask("/down", "a"), context.DeadlineExceeded, "the breaker is closed")
		err := ask("/down", "b")
		check.True(t, !errors.Is(err, context.DeadlineExceeded), "another model waits: %v", err)
		err = ask("/up", "a")
		check.True(t, err == nil, "another path waits: %v", err)
	})
}
