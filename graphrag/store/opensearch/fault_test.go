// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
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

// faulty opens a store at a fake, with a collection.
func faulty(t *testing.T, wait time.Duration) (*fake, string, store.Collection) {
	t.Helper()
	f, url := newFake(t)
	s, err := Open(t.Context(), []string{url}, Options{Wait: wait})
	check.OK(t, err)
	c := check.Of(s.Create(t.Context(), "corpus", faultSchema)).OK(t)
	return f, url, c
}

// Each answer to a batch is an error with a name, and the same batch is sent again if that may help.
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
			if x.want == throttled && !errors.As(err, &asked) || x.want != throttled && !errors.Is(err, x.want) {
				t.Errorf("%v, want %v", err, x.want)
			}
			check.True(t, len(f.sent) == x.sent && f.sent[0] == f.sent[len(f.sent)-1], "%d batches were sent, want %d that are equal", len(f.sent), x.sent)
			check.True(t, x.name != "throttled" || time.Since(start) >= 20*time.Millisecond, "it did not wait for as long as it was asked to")
		})
	}
}

// What was made otherwise is refused, and a publisher that comes second learns it.
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
	f.before = func(f *fake) { // another publishes between reading and saving
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
