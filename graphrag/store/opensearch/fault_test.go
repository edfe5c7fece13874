// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"errors"
	"fmt"
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

func failure(status int, kind, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"type":%q,"reason":%q},"status":%d}`, kind, reason, status)
	}
}

func item(status int, kind, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"errors":true,"items":[{"index":{"status":%d,"error":{"type":%q,"reason":%q}}}]}`, status, kind, reason)
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text) }
}

var done = says(`{"errors":false,"items":[{"index":{"status":201}}]}`)

var faultSchema = store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 2, Model: "one"}}}

// faulty opens a store with a collection on a fake server.
func faulty(t *testing.T, wait time.Duration) (*fake, string, store.Collection) {
	t.Helper()
	f, url := newFake(t)
	s := check.Of(Open(t.Context(), []string{url}, Options{Wait: wait})).OK(t)
	c := check.Of(s.Create(t.Context(), "corpus", faultSchema)).OK(t)
	return f, url, c
}

// Each faulty answer to a batch is an error with a kind, and the batch is sent again if that can help.
func TestBatchFaults(t *testing.T) {
	var throttled error = &store.ThrottledError{}
	for _, x := range []struct {
		name    string
		answers []http.HandlerFunc
		wait    time.Duration
		want    error
		sent    int
	}{
		{"cut", []http.HandlerFunc{cut, done}, -1, store.ErrUnavailable, 1},
		{"cut, again", []http.HandlerFunc{cut, done}, 0, nil, 2},
		{"throttled", []http.HandlerFunc{answer(429, "Retry-After", "0.02"), done}, 0, nil, 2},
		{"throttled for long", []http.HandlerFunc{answer(429, "Retry-After", "30"), done}, 0, throttled, 1},
		{"unknown", []http.HandlerFunc{answer(401)}, 0, store.ErrDenied, 1},
		{"another server", []http.HandlerFunc{says("<html>")}, 0, store.ErrMismatch, 1},
		{"an item is rejected", []http.HandlerFunc{item(429, "rejected_execution_exception", "the queue is full"), done}, 0, nil, 2},
		{"an item is rejected, no waiting", []http.HandlerFunc{item(429, "rejected_execution_exception", "the queue is full")}, -1, throttled, 1},
		{"the disk is full", []http.HandlerFunc{failure(403, "cluster_block_exception", "FORBIDDEN/12/index read-only / allow delete (api)")}, -1, store.ErrUnavailable, 1},
		{"the disk is full, by item", []http.HandlerFunc{item(429, "cluster_block_exception", "disk usage exceeded flood-stage watermark")}, -1, store.ErrUnavailable, 1},
		{"the shard failed", []http.HandlerFunc{item(404, "shard_not_found_exception", "no such shard")}, -1, store.ErrUnavailable, 1},
		{"not let", []http.HandlerFunc{failure(403, "security_exception", "no permissions for [indices:data/write/bulk]")}, 0, store.ErrDenied, 1},
		{"not let, by item", []http.HandlerFunc{item(403, "security_exception", "no permissions")}, 0, store.ErrDenied, 1},
		{"discarded", []http.HandlerFunc{item(404, "index_not_found_exception", "no such index and [require_alias] is true")}, 0, store.ErrNotFound, 1},
		{"another dimension", []http.HandlerFunc{item(400, "mapper_parsing_exception", "Vector dimension mismatch")}, 0, store.ErrInvalid, 1},
		{"a part of an answer", []http.HandlerFunc{says(`{"items":[]}`)}, -1, store.ErrUnavailable, 1},
	} {
		t.Run(x.name, func(t *testing.T) {
			f, _, c := faulty(t, x.wait)
			f.bulk = x.answers
			g, err := c.Write(t.Context(), "first")
			check.OK(t, err)
			defer g.Close()
			table := check.Of(g.Table("chunks")).OK(t)
			start := time.Now()
			err = table.Put(t.Context(), store.Record{ID: "a", Text: "a zeppelin", Vector: []float32{1, 0}})
			var asked *store.ThrottledError
			check.True(t, (x.want != throttled || errors.As(err, &asked)) &&
				(x.want == throttled || errors.Is(err, x.want)), "%v, want %v", err, x.want)
			check.True(t, len(f.sent) == x.sent && f.sent[0] == f.sent[len(f.sent)-1], "%d batches were sent, want %d that are equal", len(f.sent), x.sent)
			check.True(t, x.name != "throttled" || time.Since(start) >= 20*time.Millisecond, "it did not wait for as long as it was asked to")
		})
	}
}

// A collection made with other settings is refused, and if two publish, the second one gets an error.
func TestCatalogFaults(t *testing.T) {
	f, url, c := faulty(t, -1)
	s := check.Of(Open(t.Context(), []string{url}, Options{})).OK(t)
	for what, table := range map[string]store.TableSchema{"dimension": {Text: true, Dim: 3, Model: "one"}, "model": {Text: true, Dim: 2, Model: "two"}} {
		_, err := s.Create(t.Context(), "corpus", store.Schema{Tables: map[string]store.TableSchema{"chunks": table}})
		check.Is(t, err, store.ErrMismatch, "another %s", what)
	}
	for _, name := range []string{"first", "second"} {
		g := check.Of(c.Write(t.Context(), name)).OK(t)
		defer g.Close()
	}
	f.before = func(f *fake) { // another program publishes between reading and saving
		f.entries["corpus"] = strings.Replace(f.entries["corpus"], `"generations"`, `"published":"first","generations"`, 1)
		f.seq++
	}
	check.Is(t, c.Publish(t.Context(), "second", ""), store.ErrConflict, "two publishers")
	_, published, err := c.Generations(t.Context())
	check.True(t, published == "first" && err == nil, "%q is published, %v; want the first", published, err)
	saved := f.entries["corpus"]
	f.entries["corpus"] = strings.Replace(saved, c.Schema().Analyzer, "another", 1)
	check.Is(t, check.Err(s.Open(t.Context(), "corpus")), store.ErrMismatch, "another analyzer")
	f.entries["corpus"] = strings.Replace(saved, `"version":2`, `"version":99`, 1)
	check.Is(t, check.Err(s.Open(t.Context(), "corpus")), store.ErrMismatch, "a collection of another version")
	f.version = 99
	check.Is(t, check.Err(Open(t.Context(), []string{url}, Options{})), store.ErrMismatch, "another version")
	check.Is(t, check.Err(Open(t.Context(), []string{"http://127.0.0.1:1"}, Options{Wait: -1})), store.ErrUnavailable, "no server")
	_, err = Open(t.Context(), nil, Options{Prefix: "No", Shards: -1})
	check.True(t, errors.Is(err, store.ErrInvalid) && strings.Count(err.Error(), "invalid") >= 3, "wrong settings: %v", err)
}

// cut closes a connection in the middle of an answer.
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

// script is a server that answers requests in turn; the last answer is repeated.
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

// A node that does not answer is skipped, and the others answer; no error shows a password.
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

// Keys have at most 200 bytes and no white space, and different texts have different keys.
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

// If a server never answers, a call ends with an error that names the cause.
func TestSilentServer(t *testing.T) {
	defer func(d time.Duration) { answeredWithin = d }(answeredWithin)
	answeredWithin = 50 * time.Millisecond
	silent := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-silent:
		case <-r.Context().Done():
		}
	}))
	defer server.Close()
	defer close(silent)
	_, err := Open(t.Context(), []string{server.URL, server.URL}, Options{})
	check.Is(t, err, store.ErrUnavailable)
}
