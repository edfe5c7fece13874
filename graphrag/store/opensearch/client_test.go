// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
)

// cut ends a connection in the middle of an answer.
func cut(w http.ResponseWriter, _ *http.Request) {
	c, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"half")
		_ = c.Close()
	}
}

func answer(status int, header ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if len(header) == 2 {
			w.Header().Set(header[0], header[1])
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, `{"ok":true}`)
	}
}

// script is a server that answers a request after the other, the last for all that
// follow.
func script(t *testing.T, answers ...http.HandlerFunc) (url string, asked *atomic.Int32) {
	asked = new(atomic.Int32)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers[min(int(asked.Add(1)), len(answers))-1](w, r)
	}))
	t.Cleanup(s.Close)
	return s.URL, asked
}

func TestClient(t *testing.T) {
	for _, x := range []struct {
		name    string
		answers []http.HandlerFunc
		request request
		wait    time.Duration
		want    error
		asked   int32
	}{
		{"a cut connection", []http.HandlerFunc{cut, cut, answer(200)}, request{}, 0, nil, 3},
		{"cut, and not to be sent twice", []http.HandlerFunc{cut, answer(200)}, request{once: true}, 0, store.ErrUnavailable, 1},
		{"throttled, and not to be sent twice", []http.HandlerFunc{answer(429, "Retry-After", "0.01"), answer(200)}, request{once: true}, 0, nil, 2},
		{"a long wait", []http.HandlerFunc{answer(429, "Retry-After", "60"), answer(200)}, request{}, 0, nil, 1},
		{"a date, which would need a clock", []http.HandlerFunc{answer(429, "Retry-After", "Mon, 01 Jan 2300 00:00:00 GMT"), answer(200)}, request{}, 0, nil, 2},
		{"no waiting", []http.HandlerFunc{answer(503)}, request{}, -1, store.ErrUnavailable, 1},
		{"never back", []http.HandlerFunc{answer(503)}, request{}, 200 * time.Millisecond, store.ErrUnavailable, 0},
		{"unknown", []http.HandlerFunc{answer(401)}, request{}, 0, store.ErrDenied, 1},
		{"not let", []http.HandlerFunc{answer(403)}, request{}, 0, store.ErrDenied, 1},
		{"not there", []http.HandlerFunc{answer(404)}, request{}, 0, store.ErrNotFound, 1},
		{"changed", []http.HandlerFunc{answer(409)}, request{}, 0, store.ErrConflict, 1},
		{"refused", []http.HandlerFunc{answer(400)}, request{}, 0, store.ErrInvalid, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			url, asked := script(t, x.answers...)
			c := &client{nodes: []string{url}, o: Options{Wait: x.wait}}
			x.request.method, x.request.path = http.MethodGet, "/x"
			var into struct{ OK bool }
			err := c.do(t.Context(), x.request, &into)
			if x.name == "a long wait" {
				var throttled *store.ThrottledError
				check.True(t, errors.As(err, &throttled) && throttled.After == time.Minute, "%v, want a ThrottledError of a minute", err)
			} else if !errors.Is(err, x.want) || (err == nil) != into.OK {
				t.Errorf("%v, %v; want %v", err, into.OK, x.want)
			}
			n := asked.Load()
			check.True(t, n == x.asked || x.asked <= 0, "asked %d times, want %d", n, x.asked)
		})
	}
}

// A node that is away is left out, and the others answer; passwords are not told.
func TestNodes(t *testing.T) {
	good, asked := script(t, answer(200))
	away := httptest.NewServer(nil)
	away.Close()
	c := &client{nodes: []string{away.URL, good}, o: Options{Wait: -1}}
	failed := 0
	for range 20 {
		if err := c.do(t.Context(), request{method: http.MethodGet, path: "/"}, nil); err != nil {
			failed++
		}
	}
	check.True(t, failed <= 1 && asked.Load() >= 19, "%d of 20 failed with a node away, %d asked the other", failed, asked.Load())
	patient := &client{nodes: []string{away.URL, good}}
	err := patient.do(t.Context(), request{method: http.MethodPut, path: "/", once: true}, nil)
	check.True(t, err == nil, "what did not reach a node is not sent to another: %v", err)
	err = (&client{nodes: []string{good, "http://me:secret@host", "host:9200"}}).check()
	check.True(t, errors.Is(err, store.ErrInvalid) && !strings.Contains(err.Error(), "secret") && strings.Count(err.Error(), "node ") == 2, "bad URLs: %v", err)
	check.Is(t, (&client{}).check(), store.ErrInvalid, "no nodes")
}

// Keys are short and whole words, and different for different texts.
func TestKey(t *testing.T) {
	texts := []string{"", "a", "a b", "a\tb", "#a", " a", "a ", strings.Repeat("x", 201), strings.Repeat("x", 202), "é", "a\x00b"}
	var keys []string
	for _, s := range texts {
		k := fieldKey(s)
		check.True(t, len(k) <= 200 && len(strings.Fields(k)) == 1, "the key of %.20q is %q", s, k)
		keys = append(keys, k)
	}
	check.Equal(t, len(slices.Compact(slices.Sorted(slices.Values(keys)))), len(texts), "two texts have one key: %q", keys)
}
