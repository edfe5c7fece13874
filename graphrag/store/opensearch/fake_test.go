// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/internal/check"
)

// fake implements the part of OpenSearch that the store uses, by brute force: documents in maps, queries that
// look at all documents.
type fake struct {
	version int
	before  func(f *fake) // called once, before the catalog is changed
	// bulk answers bulk requests in place of the fake; the last answer is repeated.
	bulk []http.HandlerFunc
	sent []string // bulk requests that bulk answered

	mu      sync.Mutex
	entries map[string]string // documents of the catalog
	seq     int
	indexes map[string]*fakeIndex
}

type fakeIndex struct {
	K1, B  float64
	docs   map[string]*fakeDoc // documents by _id
	df     map[string]float64  // numbers of documents with a term, nil after a change
	length float64             // mean length of a document
}

type fakeDoc struct {
	values map[string]any
	terms  []string
	vector []float64
}

func newFake(t *testing.T) (f *fake, url string) {
	f = &fake{version: version, entries: map[string]string{}, indexes: map[string]*fakeIndex{}}
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	return f, server.URL
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	data, _ := io.ReadAll(r.Body)
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.Split(strings.TrimPrefix(r.URL.Path, "/"), "/")
	call := path[len(path)-1]
	if len(path) == 3 && path[1] == "_doc" {
		f.entry(w, r, path[2], data)
		return
	}
	if strings.HasPrefix(call, "_") && call != "_mapping" && strings.HasPrefix(path[0], "wildgraph-") && path[0] != "wildgraph-catalog" {
		for name := range strings.SplitSeq(strings.TrimSuffix(path[0], "-1"), ",") {
			if f.indexes[name] == nil {
				failure(http.StatusNotFound, "index_not_found_exception", name)(w, r)
				return
			}
		}
	}
	ix := f.indexes[path[0]]
	switch {
	case len(path) == 3 && path[1] == "_clone":
		from := f.indexes[strings.TrimSuffix(path[0], "-1")]
		f.indexes[strings.TrimSuffix(call, "-1")] = &fakeIndex{K1: from.K1, B: from.B, docs: maps.Clone(from.docs)}
	case len(path) == 1 && r.Method == http.MethodPut:
		f.create(path[0], data)
	case len(path) == 1 && r.Method == http.MethodDelete:
		delete(f.indexes, strings.TrimSuffix(path[0], "-1"))
	case call == "_mapping":
		fmt.Fprintf(w, `{"wildgraph-catalog-1":{"mappings":{"_meta":{"version":%d}}}}`, f.version)
		return
	case call == "_bulk" && f.bulk != nil:
		f.sent = append(f.sent, string(data))
		f.bulk[min(len(f.sent), len(f.bulk))-1](w, r)
		return
	case call == "_bulk":
		ix.write(w, data)
		return
	case call == "_mget":
		ix.get(w, data)
		return
	case call == "_count":
		fmt.Fprintf(w, `{"count":%d}`, len(ix.docs))
		return
	case call == "_msearch":
		f.searches(w, data)
		return
	case call == "_search":
		f.search(w, path[0], data)
		return
	case call == "point_in_time" && r.Method == http.MethodPost:
		f.point(w, path[0], ix)
		return
	case call == "_delete_by_query":
		var q struct{ Query map[string]any }
		_ = json.Unmarshal(data, &q)
		ix.df = nil
		maps.DeleteFunc(ix.docs, func(_ string, d *fakeDoc) bool { return d.holds(q.Query) })
	}
	_, _ = io.WriteString(w, `{"_shards":{"failed":0}}`)
}

// entry answers requests for a document of the catalog.
func (f *fake) entry(w http.ResponseWriter, r *http.Request, name string, data []byte) {
	value, ok := f.entries[name]
	if r.Method == http.MethodGet {
		if !ok {
			w.WriteHeader(http.StatusNotFound)
		}
		source, _ := json.Marshal(map[string]string{"value": value})
		fmt.Fprintf(w, `{"found":%v,"_seq_no":%d,"_primary_term":1,"_source":%s}`, ok, f.seq, source)
		return
	}
	if f.before != nil {
		f.before(f)
		f.before = nil
	}
	if seq := r.URL.Query().Get("if_seq_no"); ok && seq != fmt.Sprint(f.seq) || !ok && seq != "" {
		failure(http.StatusConflict, "version_conflict_engine_exception", "another came before")(w, r)
		return
	}
	f.seq++
	var d struct{ Value string }
	_ = json.Unmarshal(data, &d)
	if f.entries[name] = d.Value; r.Method == http.MethodDelete {
		delete(f.entries, name)
	}
}

func (f *fake) create(name string, data []byte) {
	var made struct {
		Settings struct {
			Index struct{ Similarity struct{ Words fakeIndex } }
		}
	}
	_ = json.Unmarshal(data, &made)
	words := made.Settings.Index.Similarity.Words
	f.indexes[strings.TrimSuffix(name, "-1")] = &fakeIndex{K1: words.K1, B: words.B, docs: map[string]*fakeDoc{}}
}

func (ix *fakeIndex) write(w http.ResponseWriter, data []byte) {
	var items []string
	ix.df = nil
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var action map[string]struct {
			ID string `json:"_id"`
		}
		_ = d.Decode(&action)
		if index, ok := action["index"]; ok {
			doc := &fakeDoc{}
			_ = d.Decode(&doc.values)
			words, _ := doc.values["words"].(string)
			doc.terms = strings.Fields(words)
			vector, _ := doc.values["vector"].([]any)
			for _, x := range vector {
				doc.vector = append(doc.vector, x.(float64))
			}
			ix.docs[index.ID] = doc
		}
		delete(ix.docs, action["delete"].ID)
		items = append(items, `{"index":{"status":200}}`)
	}
	fmt.Fprintf(w, `{"items":[%s]}`, strings.Join(items, ","))
}

func (ix *fakeIndex) get(w http.ResponseWriter, data []byte) {
	var q struct{ IDs []string }
	_ = json.Unmarshal(data, &q)
	var docs []object
	for _, id := range q.IDs {
		d, found := ix.docs[id]
		answer := object{"_id": id, "found": found}
		if found {
			answer["_source"] = object{"body": d.values["body"]}
		}
		docs = append(docs, answer)
	}
	_ = json.NewEncoder(w).Encode(object{"docs": docs})
}

// point opens a point in time, which is a copy.
func (f *fake) point(w io.Writer, name string, ix *fakeIndex) {
	f.seq++
	id := fmt.Sprintf("%s-pit-%d", name, f.seq)
	f.indexes[id] = &fakeIndex{K1: ix.K1, B: ix.B, docs: maps.Clone(ix.docs)}
	fmt.Fprintf(w, `{"pit_id":%q}`, id)
}

// fakeSearch is the body of a search request.
type fakeSearch struct {
	Size        int
	Query       map[string]any
	SearchAfter []string `json:"search_after"`
	PIT         struct{ ID string }
}

func (f *fake) searches(w io.Writer, data []byte) {
	var responses []object
	for d := json.NewDecoder(bytes.NewReader(data)); d.More(); {
		var header struct{ Index string }
		var q fakeSearch
		_, _ = d.Decode(&header), d.Decode(&q)
		if ix := f.indexes[header.Index]; ix != nil {
			responses = append(responses, ix.search(q))
		} else {
			responses = append(responses, object{"status": 404, "error": object{"type": "index_not_found_exception"}})
		}
	}
	_ = json.NewEncoder(w).Encode(object{"responses": responses})
}

func (f *fake) search(w io.Writer, name string, data []byte) {
	if name == "wildgraph-catalog" {
		var hits []object
		for name := range f.entries {
			hits = append(hits, object{"_id": name})
		}
		_ = json.NewEncoder(w).Encode(object{"hits": object{"hits": hits}})
		return
	}
	var q fakeSearch
	_ = json.Unmarshal(data, &q)
	_ = json.NewEncoder(w).Encode(f.indexes[q.PIT.ID].search(q))
}

func (ix *fakeIndex) search(q fakeSearch) object {
	type hit struct {
		id    string
		score float64
		body  any
	}
	var hits []hit
	ix.count()
	for _, d := range ix.docs {
		id := d.values["id"].(string)
		if score, ok := ix.score(d, q.Query); ok && (len(q.SearchAfter) == 0 || id > q.SearchAfter[0]) {
			hits = append(hits, hit{id, score, d.values["body"]})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.id, b.id)) })
	list := []object{}
	for _, h := range hits[:min(len(hits), q.Size)] {
		list = append(list, object{"_score": h.score, "sort": []any{h.score, h.id}, "_source": object{"body": h.body}})
	}
	return object{"hits": object{"hits": list}}
}

// score returns the score of a document for a query, and whether the query finds it.
func (ix *fakeIndex) score(d *fakeDoc, q map[string]any) (float64, bool) {
	if near, ok := q["knn"].(map[string]any); ok {
		near = near["vector"].(map[string]any)
		return d.similarity(near["vector"]), d.vector != nil && d.holds(near["filter"])
	}
	if exact, ok := q["script_score"].(map[string]any); ok {
		params := exact["script"].(map[string]any)["params"].(map[string]any)
		return d.similarity(params["query_value"]), d.holds(exact["query"])
	}
	b := q["bool"].(map[string]any)
	if !d.holds(map[string]any{"bool": map[string]any{"filter": b["filter"]}}) {
		return 0, false
	}
	should, words := b["should"].([]any)
	score, found := 0.0, !words
	for _, s := range should {
		t := s.(map[string]any)["term"].(map[string]any)["words"].(map[string]any)
		part := ix.bm25(d, t["value"].(string))
		score += t["boost"].(float64) * part
		found = found || part > 0
	}
	return score, found
}

// count computes the statistics that BM25 needs.
func (ix *fakeIndex) count() {
	if ix.df != nil {
		return
	}
	ix.df, ix.length = map[string]float64{}, 0
	for _, d := range ix.docs {
		for _, t := range slices.Compact(slices.Sorted(slices.Values(d.terms))) {
			ix.df[t]++
		}
		ix.length += float64(len(d.terms)) / float64(len(ix.docs))
	}
}

func (ix *fakeIndex) bm25(d *fakeDoc, term string) float64 {
	tf, df, n := 0.0, ix.df[term], float64(len(ix.docs))
	for _, t := range d.terms {
		if t == term {
			tf++
		}
	}
	if tf == 0 {
		return 0
	}
	return math.Log(1+(n-df+.5)/(df+.5)) * tf / (tf + ix.K1*(1-ix.B+ix.B*float64(len(d.terms))/ix.length))
}

// similarity returns Lucene's positive score of a dot product.
func (d *fakeDoc) similarity(query any) (dot float64) {
	for i, x := range query.([]any) {
		if i < len(d.vector) {
			dot += x.(float64) * d.vector[i]
		}
	}
	if dot = math.Round(dot*1e6) / 1e6; dot < 0 {
		return 1 / (1 - dot)
	}
	return dot + 1
}

// holds reports whether a document matches a filter.
func (d *fakeDoc) holds(q any) bool {
	if list, ok := q.([]any); ok {
		return !slices.ContainsFunc(list, func(part any) bool { return !d.holds(part) })
	}
	m, _ := q.(map[string]any)
	for op, v := range m {
		arg := v.(map[string]any)
		switch op {
		case "match_none":
			return false
		case "exists":
			return d.values[arg["field"].(string)] != nil
		case "bool":
			should, some := arg["should"].([]any)
			not, _ := arg["must_not"].([]any)
			return d.holds(arg["filter"]) && (!some || slices.ContainsFunc(should, d.holds)) && !slices.ContainsFunc(not, d.holds)
		}
		for field, want := range arg {
			have, many := d.values[field].([]any)
			if !many {
				have = []any{d.values[field]}
			}
			if !slices.ContainsFunc(have, func(have any) bool {
				switch s, _ := have.(string); op {
				case "term":
					return have == want
				case "terms":
					return slices.Contains(want.([]any), have)
				default:
					limits := want.(map[string]any)
					return s >= limits["gte"].(string) && s <= limits["lte"].(string)
				}
			}) {
				return false
			}
		}
	}
	return true
}

// TestFake runs the whole suite with the fake server: all requests of the store are made and their answers
// read. A hub has more neighbors here than one search returns.
func TestFake(t *testing.T) {
	urls := map[store.Store]string{}
	fakes := map[store.Store]*fake{}
	open := func(t *testing.T, f *fake, url string) store.Store {
		s := check.Of(Open(t.Context(), []string{url}, Options{})).OK(t)
		s.(*clusterStore).c.maxK = 1000
		urls[s], fakes[s] = url, f
		return s
	}
	graphragtest.Store(t, graphragtest.StoreFactory{
		New: func(t *testing.T) store.Store {
			f, url := newFake(t)
			return open(t, f, url)
		},
		Crash: func(t *testing.T, s store.Store) store.Store { return open(t, fakes[s], urls[s]) },
	})
}
