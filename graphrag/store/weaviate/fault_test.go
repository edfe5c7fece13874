// SPDX-License-Identifier: Apache-2.0

package weaviate_test

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
	"github.com/wildgraph/wildgraph/graphrag/store/storetest"
	"github.com/wildgraph/wildgraph/graphrag/store/weaviate"
)

// fake is as much of Weaviate as collections need. Batches are answered by a script, the
// last answer again and again.
type fake struct {
	mu      sync.Mutex
	classes map[string]string // their descriptions
	before  func(f *fake)     // a class is made
	batches storetest.Answers
	missing int      // of the objects that are asked for
	young   int      // requests to a node that has just started
	deleted []string // ids, those that were only asked for with a ? before them
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	name := strings.TrimPrefix(r.URL.Path, "/v1/schema/")
	switch {
	case f.young > 0 && strings.HasSuffix(r.URL.Path, "/graphql"):
		f.young--
		failure(http.StatusUnprocessableEntity, "no graphql provider present, this is most likely because no schema is present. Import a schema first!")(w, r)
	case f.young > 0 && strings.HasSuffix(r.URL.Path, "/batch/objects"):
		f.young--
		failure(http.StatusUnprocessableEntity, "could not find class")(w, r)
	case strings.HasSuffix(r.URL.Path, "/graphql"):
		_, _ = io.WriteString(w, `{"data":{"Get":{"q0":[]}}}`)
	case f.classes[name] == "" && strings.HasPrefix(name, "Wildgraph_") && r.Method == http.MethodGet:
		http.NotFound(w, r)
	case strings.HasSuffix(r.URL.Path, "/batch/objects") && r.Method == http.MethodDelete:
		var q struct {
			DryRun bool
			Match  struct {
				Where struct{ ValueTextArray []string }
			}
		}
		_ = json.Unmarshal(body, &q)
		ids := q.Match.Where.ValueTextArray
		for _, id := range ids {
			f.deleted = append(f.deleted, map[bool]string{true: "?"}[q.DryRun]+id)
		}
		fmt.Fprintf(w, `{"results":{"matches":%d,"successful":%[1]d}}`, len(ids)-f.missing)
	case strings.HasSuffix(r.URL.Path, "/batch/objects"):
		f.batches.Next(w, r, body)
	case r.URL.Path == "/v1/schema" && r.Method == http.MethodGet:
		type class struct {
			Class       string `json:"class"`
			Description string `json:"description"`
		}
		list := []class{}
		for name, description := range f.classes {
			list = append(list, class{name, description})
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"classes": list})
	case r.URL.Path == "/v1/schema":
		var made struct{ Class, Description string }
		_ = json.Unmarshal(body, &made)
		if f.before != nil && strings.Contains(made.Class, "_V_") {
			f.before(f)
			f.before = nil
		}
		if _, ok := f.classes[made.Class]; ok {
			failure(http.StatusUnprocessableEntity, "class name "+made.Class+" already exists")(w, r)
			return
		}
		f.classes[made.Class] = made.Description
	case r.Method == http.MethodDelete:
		delete(f.classes, name)
	default:
		_, _ = io.WriteString(w, "{}")
	}
}

// asked is how ids were asked for: deleted -, or only settled ?.
func (f *fake) asked() (asked string) {
	for _, id := range f.deleted {
		asked += map[bool]string{true: "?", false: "-"}[id[0] == '?']
	}
	return asked
}

// last is the class that holds the collection.
func (f *fake) last() (class string) {
	for name := range f.classes {
		if strings.Contains(name, "_V_corpus_") && (len(name) > len(class) || name > class) {
			class = name
		}
	}
	return class
}

func failure(status int, reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":[{"message":%q}]}`, reason)
	}
}

func item(reason string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `[{"result":{"status":"FAILED","errors":{"error":[{"message":%q}]}}}]`, reason)
	}
}

func done(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, `[{"result":{"status":"SUCCESS"}}]`)
}

var faultSchema = store.Schema{Tables: map[string]store.TableSchema{"chunks": {Text: true, Dim: 2, Model: "one"}}}

// faulty is a store at a fake, and a collection there.
func faulty(t *testing.T, wait time.Duration) (*fake, string, store.Collection) {
	f := &fake{classes: map[string]string{}, batches: storetest.Answers{List: []http.HandlerFunc{done}}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	s, err := weaviate.Open(t.Context(), []string{server.URL}, weaviate.Options{Wait: wait})
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
		{Name: "the disk is full", Answers: []http.HandlerFunc{item("put object: shard is read-only: disk usage too high")}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "a replica is away", Answers: []http.HandlerFunc{item("broadcast: cannot reach enough replicas"), done}, Sent: 2},
		{Name: "overloaded", Answers: []http.HandlerFunc{failure(500, "put: connection refused")}, Wait: -1, Want: store.ErrUnavailable},
		{Name: "not let", Answers: []http.HandlerFunc{failure(403, "authorization, forbidden action: user 'me'")}, Want: store.ErrDenied},
		{Name: "another dimension", Answers: []http.HandlerFunc{item("insert to vector index: vector lengths don't match: 3 vs 2")}, Want: store.ErrMismatch},
		{Name: "a part of an answer", Answers: []http.HandlerFunc{storetest.Says(200, "[]")}, Wait: -1, Want: store.ErrUnavailable},
	}...)
}

// What a batch put is written to disk; what it may not have put is deleted first if it is put
// again.
func TestBatchSettles(t *testing.T) {
	f, _, c := faulty(t, -1)
	g, err := c.Write(t.Context(), "first")
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	table, err := g.Table("chunks")
	if err != nil {
		t.Fatal(err)
	}
	near, far := store.Record{ID: "a", Text: "a zeppelin", Vector: []float32{1, 0}}, store.Record{ID: "b", Text: "no vector"}
	for i, x := range []struct {
		missing int
		answer  http.HandlerFunc
		records []store.Record
		want    error
		asked   string
	}{
		{0, done, []store.Record{far}, nil, ""},
		{0, done, []store.Record{near}, nil, "?"},
		{1, done, []store.Record{near}, store.ErrUnavailable, "?"},
		{0, storetest.Cut, []store.Record{near}, store.ErrUnavailable, "-"},
		{0, done, []store.Record{near}, nil, "-?"},
		{0, done, []store.Record{near}, nil, "?"},
	} {
		f.missing, f.batches.List, f.deleted = x.missing, []http.HandlerFunc{x.answer}, nil
		if err := table.Put(t.Context(), x.records...); !errors.Is(err, x.want) {
			t.Errorf("%d: %v, want %v", i, err, x.want)
		}
		if asked := f.asked(); asked != x.asked {
			t.Errorf("%d: asked %q, want %q", i, asked, x.asked)
		}
	}
	weaviate.SetRestart(t, 0) // any time is long now
	if f.deleted = nil; table.Put(t.Context(), near) != nil || f.asked() != "?-?" {
		t.Errorf("what took long: asked %q", f.asked())
	}
}

// A node that has just started knows no class for a while, which are there all the same.
func TestYoungNode(t *testing.T) {
	for _, wait := range []time.Duration{-1, time.Minute} {
		f, _, c := faulty(t, wait)
		g, err := c.Write(t.Context(), "first")
		if err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		table, err := g.Table("chunks")
		if err != nil {
			t.Fatal(err)
		}
		var want error
		if wait < 0 {
			want = store.ErrUnavailable
		}
		f.young = 1
		if _, err := table.SearchText(t.Context(), store.TextQuery{Text: "zeppelin", K: 1}); !errors.Is(err, want) {
			t.Errorf("waiting %v: a search at a young node: %v, want %v", wait, err, want)
		}
		f.young = 1
		if err := table.Put(t.Context(), store.Record{ID: "b", Text: "no vector"}); !errors.Is(err, want) {
			t.Errorf("waiting %v: a batch to a young node: %v, want %v", wait, err, want)
		}
	}
}

// What was made otherwise is refused, and a publisher that comes second learns it.
func TestCatalogFaults(t *testing.T) {
	f, url, c := faulty(t, -1)
	s, err := weaviate.Open(t.Context(), []string{url}, weaviate.Options{})
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
		n := 0
		_, _ = fmt.Sscanf(f.last(), "Wildgraph_V_corpus_%d", &n)
		next := strings.Replace(f.classes[f.last()], fmt.Sprintf(`"n":%d`, n), fmt.Sprintf(`"n":%d`, n+1), 1)
		next = strings.Replace(next, `\"generations\"`, `\"published\":\"first\",\"generations\"`, 1)
		f.classes[fmt.Sprintf("Wildgraph_V_corpus_%d", n+1)] = next
	}
	if err := c.Publish(t.Context(), "second", ""); !errors.Is(err, store.ErrConflict) {
		t.Errorf("two publishers: %v", err)
	}
	if _, published, err := c.Generations(t.Context()); published != "first" || err != nil {
		t.Errorf("%q is published, %v; want the first", published, err)
	}
	saved := f.classes[f.last()]
	f.classes[f.last()] = strings.Replace(saved, c.Schema().Analyzer, "another", 1)
	if _, err := s.Open(t.Context(), "corpus"); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("another analyzer: %v", err)
	}
	f.classes[f.last()] = strings.Replace(saved, `\"version\":1`, `\"version\":99`, 1)
	if _, err := s.Open(t.Context(), "corpus"); !errors.Is(err, store.ErrMismatch) {
		t.Errorf("a collection of another version: %v", err)
	}
	if _, err := weaviate.Open(t.Context(), []string{"http://127.0.0.1:1"}, weaviate.Options{Wait: -1}); !errors.Is(err, store.ErrUnavailable) {
		t.Errorf("no server: %v", err)
	}
	if _, err := weaviate.Open(t.Context(), nil, weaviate.Options{Prefix: "No", Shards: -1}); !errors.Is(err, store.ErrInvalid) || strings.Count(err.Error(), "invalid") < 3 {
		t.Errorf("wrong settings: %v", err)
	}
}
