// SPDX-License-Identifier: Apache-2.0

package opensearch_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/opensearch"
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
)

// fake is as much of OpenSearch as collections need. Batches are answered by a script,
// the last answer again and again.
type fake struct {
	version int

	mu        sync.Mutex
	registers map[string]string
	seq       int
	before    func(f *fake) // a change is saved
	batches   storetest.Answers
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, register, isRegister := strings.Cut(r.URL.Path, "/_doc/")
	switch {
	case strings.HasSuffix(r.URL.Path, "/_bulk"):
		f.batches.Next(w, r, body)
	case strings.HasSuffix(r.URL.Path, "/_mapping"):
		fmt.Fprintf(w, `{"wildgraph-catalog-1":{"mappings":{"_meta":{"version":%d}}}}`, f.version)
	case isRegister && r.Method == http.MethodGet:
		v, ok := f.registers[register]
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		source, _ := json.Marshal(map[string]string{"value": v})
		fmt.Fprintf(w, `{"found":%v,"_seq_no":%d,"_primary_term":1,"_source":%s}`, ok, f.seq, source)
	case isRegister:
		if f.before != nil {
			f.before(f)
			f.before = nil
		}
		var value struct{ Value string }
		_ = json.Unmarshal(body, &value)
		q := r.URL.Query()
		if _, ok := f.registers[register]; ok && q.Get("if_seq_no") != fmt.Sprint(f.seq) {
			failure(http.StatusConflict, "version_conflict_engine_exception", "another came before")(w, r)
			return
		}
		f.seq++
		f.registers[register] = value.Value
	default:
		_, _ = io.WriteString(w, `{"_shards":{"failed":0}}`)
	}
}

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

func done(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `{"errors":false,"items":[{"index":{"status":201}}]}`)
}

var faultSchema = store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 2, Model: "one"}}}

// faulty is a store at a fake, and a collection there.
func faulty(t *testing.T, wait time.Duration) (*fake, string, store.Collection) {
	f := &fake{version: 1, registers: map[string]string{}, batches: storetest.Answers{List: []http.HandlerFunc{done}}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s, err := opensearch.Open(t.Context(), []string{server.URL}, opensearch.Options{Wait: wait})
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Create(t.Context(), "corpus", faultSchema)
	if err != nil {
		t.Fatal(err)
	}
	return f, server.URL, c
}

// What a batch may come to is an error with a name, and what may help is tried again.
func TestBatchFaults(t *testing.T) {
	storetest.Batches(t, done, func(t *testing.T, wait time.Duration) (store.Collection, *storetest.Answers) {
		f, _, c := faulty(t, wait)
		return c, &f.batches
	}, []storetest.Batch{
		{Name: "an item is rejected", Answers: []http.HandlerFunc{item(429, "rejected_execution_exception", "the queue is full"), done}, Sent: 2},
		{Name: "an item is rejected, no waiting", Answers: []http.HandlerFunc{item(429, "rejected_execution_exception", "the queue is full")}, Wait: -1, Want: storetest.Throttled},
		{Name: "the disk is full", Answers: []http.HandlerFunc{failure(403, "cluster_block_exception", "FORBIDDEN/12/index read-only / allow delete (api)")}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "the disk is full, by item", Answers: []http.HandlerFunc{item(429, "cluster_block_exception", "disk usage exceeded flood-stage watermark")}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "the shard failed", Answers: []http.HandlerFunc{item(404, "shard_not_found_exception", "no such shard")}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "not let", Answers: []http.HandlerFunc{failure(403, "security_exception", "no permissions for [indices:data/write/bulk]")}, Want: store.ErrDenied},
		{Name: "not let, by item", Answers: []http.HandlerFunc{item(403, "security_exception", "no permissions")}, Want: store.ErrDenied},
		{Name: "discarded", Answers: []http.HandlerFunc{item(404, "index_not_found_exception", "no such index and [require_alias] is true")}, Want: store.ErrNotFound},
		{Name: "another dimension", Answers: []http.HandlerFunc{item(400, "mapper_parsing_exception", "Vector dimension mismatch")}, Want: store.ErrInvalid},
		{Name: "a part of an answer", Answers: []http.HandlerFunc{storetest.Says(200, `{"items":[]}`)}, Wait: -1, Want: store.ErrUnavailable},
	}...)
}

// What was made otherwise is refused, and a publisher that comes second learns it.
func TestCatalogFaults(t *testing.T) {
	f, url, c := faulty(t, -1)
	s, err := opensearch.Open(t.Context(), []string{url}, opensearch.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for what, table := range map[string]store.TableSchema{"dimension": {Text: true, Dim: 3, Model: "one"}, "model": {Text: true, Dim: 2, Model: "two"}} {
		if _, err := s.Create(t.Context(), "corpus", store.Schema{Tables: map[string]store.TableSchema{"chunks": table}}); !errors.Is(err, store.ErrMismatch) {
			t.Errorf("another %s: %v", what, err)
		}
	}
	for _, name := range []string{"first", "second"} {
		g, err := c.Write(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
	}
	f.before = func(f *fake) { // another publishes between reading and saving
		f.registers["corpus"] = strings.Replace(f.registers["corpus"], `"generations"`, `"published":"first","generations"`, 1)
		f.seq++
	}
	if err := c.Publish(t.Context(), "second", ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("two publishers: %v", err)
	}
	if _, published, err := c.Generations(t.Context()); published != "first" || err != nil {
		t.Errorf("%q is published, %v; want the first", published, err)
	}
	saved := f.registers["corpus"]
	f.registers["corpus"] = strings.Replace(saved, c.Schema().Analyzer, "another", 1)
	if _, err := s.Open(t.Context(), "corpus"); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("another analyzer: %v", err)
	}
	f.registers["corpus"] = strings.Replace(saved, `"version":1`, `"version":99`, 1)
	if _, err := s.Open(t.Context(), "corpus"); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("a collection of another version: %v", err)
	}
	f.version = 99
	if _, err := opensearch.Open(t.Context(), []string{url}, opensearch.Options{}); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("another version: %v", err)
	}
	if _, err := opensearch.Open(t.Context(), []string{"http://127.0.0.1:1"}, opensearch.Options{Wait: -1}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
	if _, err := opensearch.Open(t.Context(), nil, opensearch.Options{Prefix: "No", Shards: -1}); !errors.Is(err, store.ErrInvalid) || strings.Count(err.Error(), "invalid") < 3 {
		t.Errorf("wrong settings: %v", err)
	}
}
