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
	"log/slog"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
)

// Plain has a model of another test replied before, without reasoning.
func Plain(m llm.Model) { m.(*chat).t.plain(m.Name(), new(llm.Reply)) }

// baseFunc is a base transport made of a function.
type baseFunc func(r *http.Request) (*http.Response, error)

func (f baseFunc) RoundTrip(r *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, r.Body)
	return f(r)
}

func newTestTransport(t *testing.T, o Options) *Transport {
	t.Helper()
	tr := check.Of(New(o)).OK(t)
	return tr
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
	// One more per window of successes: 8, then 9, 10, 11; never above 12.
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
	// A cut to seven tenths, once per cooldown.
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

// capped is a server that bears so many requests at a time and sends 429 to
// the others.
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
			wg.Go(func() { check.OK(t, check.Err(sendOn(t.Context(), tr))) })
		}
		wg.Wait()
		took := time.Since(start).Seconds()
		// 100 s would be perfect; without adapting, 8 slots take 250 s and 64
		// mostly earn refusals.
		check.True(t, took <= 150 && c.refused <= calls/20 && c.most >= 20 && c.most <= 22, "%.0f s, %d refused, %d at once", took, c.refused, c.most)
	})
}

// A local server has a few slots, and requests wait in front of them inside of it: more
// are sent while replies come faster for it, and no more, so that no call waits for
// longer than its limit. Few callers say nothing about the slots.
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
				check.OK(t, err)
			}
			for range 40 {
				ask() // one caller
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
			// The server's own limit is 320 calls in its slots, eight at a time at the most.
			best := 320 / float64(min(slots, 8))
			if took := time.Since(start).Seconds(); took > 1.2*best+10 || slots <= 2 && took > 1.2*best || calls.Load() != 360 || most.Load() > int64(min(max(slots, startLocal)+1, 8)) {
				t.Errorf("%d slots: %.0f s, %d calls answered, %d at a time at the most", slots, took, calls.Load(), most.Load())
			}
		})
	}
}

// flaky is a server that is down while off is set.
type flaky struct {
	off  atomic.Bool
	sent atomic.Int64
	dead bool // refuse the connection instead of sending 503
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
		// Half an hour less a bit: one probe every half minute, nobody fails.
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

// trip opens the breaker of a server that is down.
func trip(t *testing.T, tr *Transport) {
	t.Helper()
	for range breakerCalls {
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		_, _ = sendOn(ctx, tr) // the last one stays to wait
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
		// A probe that is cancelled says nothing; the next caller probes.
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

// Where no server ever answered, there is nothing to wait for.
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

// served sends one request to a server of its own.
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

// A reply of a few kilobytes that unpacks to a gigabyte ends at the limit, which
// counts what is unpacked.
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

// A server that never stops sending headers, or its body, does not hold a call.
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

// Cookies that a server sets are not sent back: two calls have nothing in common.
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

// A certificate that is not trusted will not be trusted a moment later.
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

// A server that fails for a while, or now and then, does not end a run: calls of
// eight workers go on for a minute, and none fails.
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
		for _, code := range []int{429, 500, -1} { // -1: the connection is refused
			for _, workers := range []int{1, 8} {
				if code == -1 && name != "5 s" {
					continue // nobody there at all is an address to correct
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

// A call that fails while others succeed is at fault itself and ends; so does one
// that nobody ever answered.
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

// Every wait is told, with what is waited for and for how long.
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
