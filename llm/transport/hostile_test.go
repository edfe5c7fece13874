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
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
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
