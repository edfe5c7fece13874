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
