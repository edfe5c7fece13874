// SPDX-License-Identifier: Apache-2.0

package transport

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
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
