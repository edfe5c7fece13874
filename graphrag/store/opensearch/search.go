// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// foundBody is the body of the answer to one search.
type foundBody struct {
	PIT  string `json:"pit_id"`
	Hits struct {
		Hits []hit `json:"hits"`
	} `json:"hits"`
	Error  *cause `json:"error"`
	Status int    `json:"status"`
}

type hit struct {
	DocID  string            `json:"_id"`
	Score  float64           `json:"_score"`
	Sort   []json.RawMessage `json:"sort"`
	Source source            `json:"_source"`
	Fields struct {
		Length []float64 `json:"length"`
	} `json:"fields"`
	Explanation *explanation `json:"_explanation"`
}

type source struct {
	Body string `json:"body"`
}

// get reads documents by id: first from the index that searches see, then the missing ones from the log of
// recent puts, because the copies of a shard may differ.
func (c *cluster) get(ctx context.Context, index string, ids []string) (hits []result, err error) {
	for names := range slices.Chunk(ids, maxItems) {
		missing := make(map[string]string, len(names)) // ids by their hashes, the document names
		for _, id := range names {
			missing[hash(id)] = id
		}
		for _, latest := range []bool{false, true} {
			if len(missing) == 0 {
				break
			}
			found, err := c.documents(ctx, index, slices.Sorted(maps.Keys(missing)), latest)
			if err != nil {
				return nil, err
			}
			for key, data := range found {
				hits = append(hits, result{ID: missing[key], Body: []byte(data)})
				delete(missing, key)
			}
		}
	}
	return hits, nil
}

func (c *cluster) documents(ctx context.Context, index string, keys []string, latest bool) (bodies map[string]string, err error) {
	err = c.client.again(ctx, false, func() error {
		var answer struct {
			Docs []struct {
				ID     string `json:"_id"`
				Found  bool   `json:"found"`
				Source source `json:"_source"`
				Error  *cause `json:"error"`
			} `json:"docs"`
		}
		path := fmt.Sprintf("/%s/_mget?realtime=%t", c.index(index), latest)
		if err := c.client.once(ctx, request{method: http.MethodPost, path: path, body: object{"ids": keys}}, &answer); err != nil {
			return err
		}
		bodies = make(map[string]string, len(keys))
		for _, d := range answer.Docs {
			if err := d.Error.error(http.StatusServiceUnavailable); err != nil {
				return err
			}
			if d.Found {
				bodies[d.ID] = d.Source.Body
			}
		}
		return nil
	})
	return bodies, err
}

// search answers queries in one round trip. Hits are in order, best first.
func (c *cluster) search(ctx context.Context, index string, queries []query) (lists [][]result, err error) {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	for _, q := range queries {
		header := object{"index": c.index(index), "allow_partial_search_results": false}
		if q.Terms != nil {
			header["search_type"] = "dfs_query_then_fetch" // document frequencies of all shards
		}
		if err := cmp.Or(e.Encode(header), e.Encode(c.body(q))); err != nil {
			return nil, err
		}
	}
	err = c.client.again(ctx, false, func() error {
		var answer struct {
			Responses []foundBody `json:"responses"`
		}
		err := c.client.once(ctx, request{method: http.MethodPost, path: "/_msearch", body: lines.Bytes(), contentType: "application/x-ndjson"}, &answer)
		if err == nil && len(answer.Responses) != len(queries) {
			err = fmt.Errorf("%w: the server sent %d answers to %d queries", store.ErrUnavailable, len(answer.Responses), len(queries))
		}
		lists = nil
		for _, r := range answer.Responses {
			if err == nil {
				err = r.Error.error(r.Status)
			}
			var list []result
			if err == nil {
				list, err = r.hits(queries[len(lists)])
			}
			lists = append(lists, list)
		}
		return err
	})
	return lists, err
}

func (f foundBody) hits(q query) ([]result, error) {
	list := make([]result, len(f.Hits.Hits))
	for i, h := range f.Hits.Hits {
		score := h.Score
		if q.Vector != nil {
			score = similarity(score)
		}
		if h.Explanation != nil && len(h.Fields.Length) == 1 {
			score = h.Explanation.exact(h.Fields.Length[0])
		}
		list[i] = result{Score: score, Body: []byte(h.Source.Body)}
		if len(h.Sort) == 0 || json.Unmarshal(h.Sort[len(h.Sort)-1], &list[i].ID) != nil {
			return nil, fmt.Errorf("%w: the server sent a hit without an id", store.ErrMismatch)
		}
	}
	return list, nil
}

// similarity returns the dot product from Lucene's score of it, which is never negative.
func similarity(score float64) float64 {
	if score >= 1 {
		return score - 1
	}
	return 1 - 1/max(score, 1e-30)
}

// body returns the body of the request for a query. Hits with equal scores are sorted by id.
func (c *cluster) body(q query) object {
	where := append([]object{}, q.Where...) // never nil, which is null in JSON
	out := object{"size": q.K, "_source": q.Bodies, "track_total_hits": false, "sort": []object{{"_score": "desc"}, {"id": "asc"}}, "track_scores": true}
	switch {
	case q.Terms != nil:
		should := make([]object, len(q.Terms))
		for i, t := range q.Terms {
			should[i] = object{"term": object{"words": object{"value": t.Text, "boost": float64(t.Times) * (q.K1 + 1)}}}
		}
		out["query"] = object{"bool": object{"should": should, "minimum_should_match": 1, "filter": where}}
		if q.K <= maxExplained && !q.Bodies {
			out["size"], out["explain"], out["docvalue_fields"] = 2*q.K+20, true, []string{"length"}
		}
	case q.Vector != nil && q.Exact:
		out["query"] = object{"script_score": object{
			"query":  object{"bool": object{"filter": append(where, object{"exists": object{"field": "vector"}})}},
			"script": object{"lang": "knn", "source": "knn_score", "params": object{"field": "vector", "query_value": q.Vector, "space_type": "innerproduct"}}}}
	case q.Vector != nil:
		near := object{"vector": q.Vector, "k": max(q.K, c.o.EfSearch)}
		if len(where) > 0 {
			near["filter"] = where[0]
		}
		out["query"] = object{"knn": object{"vector": near}}
	default:
		out["query"] = object{"bool": object{"filter": where}}
		out["sort"] = []object{{"id": "asc"}}
		if q.After != "" {
			out["search_after"] = []string{q.After}
		}
	}
	return out
}

// filter translates a valid condition to clauses; an empty list matches all documents.
func filter(where graphrag.Condition) []object {
	if where.String() == (graphrag.Condition{}).String() {
		return nil
	}
	return []object{graphrag.Translate(where, within, join)}
}

// within returns a clause that matches documents with a term in a span.
func within(spans []graphrag.Span) object {
	var parts []object
	var single []string
	for _, s := range spans {
		switch {
		case s.Low == s.High:
			single = append(single, s.Low)
		case s.Low < s.High:
			parts = append(parts, object{"range": object{termsField: object{"gte": s.Low, "lte": s.High}}})
		}
	}
	if len(single) > 0 {
		parts = append(parts, object{"terms": object{termsField: single}})
	}
	return join("or", parts)
}

func join(op string, parts []object) object {
	switch {
	case op == "not":
		return object{"bool": object{"must_not": parts}}
	case len(parts) == 1:
		return parts[0]
	case op == "or" && len(parts) == 0:
		return object{"match_none": object{}} // an empty bool query would match all
	case op == "or":
		return object{"bool": object{"should": parts, "minimum_should_match": 1}}
	}
	return object{"bool": object{"filter": parts}}
}

// all reads the documents of one point in time, in the order of their ids.
func (c *cluster) all(ctx context.Context, index, after string) iter.Seq2[result, error] {
	const keep = "5m"
	return func(yield func(result, error) bool) {
		var pit struct {
			ID string `json:"pit_id"`
		}
		if err := c.client.do(ctx, request{method: http.MethodPost, path: "/" + c.index(index) + "/_search/point_in_time?keep_alive=" + keep}, &pit); err != nil {
			yield(result{}, err)
			return
		}
		defer func() {
			// If this fails, the point in time ends by itself after keep.
			_ = c.client.once(context.WithoutCancel(ctx), request{method: http.MethodDelete, path: "/_search/point_in_time", body: object{"pit_id": []string{pit.ID}}}, nil)
		}()
		q := query{K: maxItems, Bodies: true, After: after}
		for {
			data := c.body(q)
			data["pit"] = object{"id": pit.ID, "keep_alive": keep}
			var answer foundBody
			err := c.client.do(ctx, request{method: http.MethodPost, path: "/_search?allow_partial_search_results=false", body: data}, &answer)
			var list []result
			if err == nil {
				list, err = answer.hits(q)
			}
			if err != nil {
				yield(result{}, err)
				return
			}
			for _, h := range list {
				if !yield(h, nil) {
					return
				}
				q.After = h.ID
			}
			if len(list) < q.K {
				return
			}
		}
	}
}

// count returns the number of documents that meet conditions.
func (c *cluster) count(ctx context.Context, index string, where []object) (int, error) {
	var answer struct {
		Count  int `json:"count"`
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
	}
	err := c.client.do(ctx, request{method: http.MethodPost, path: "/" + c.index(index) + "/_count", body: object{"query": object{"bool": object{"filter": append([]object{}, where...)}}}}, &answer)
	if err == nil && answer.Shards.Failed > 0 {
		err = fmt.Errorf("%w: %d shards failed to count their documents", store.ErrUnavailable, answer.Shards.Failed)
	}
	return answer.Count, err
}

// maxExplained is the largest K for which hits are scored again with the true lengths of their texts.
const maxExplained = 100

// explanation is Lucene's explanation of a score. Lucene stores the length of a text in one byte: exactly up to
// 40 terms, above with an error of up to one eighth. The true length is stored in a field; with it the score
// equals the score in the embedded index. 2K+20 hits are scored again, so that the error cannot hide one of the
// best K. The texts of triples are so short that their lengths are exact.
type explanation struct {
	Value       float64       `json:"value"`
	Description string        `json:"description"`
	Details     []explanation `json:"details"`
}

// exact returns the score with the true length of the text, in terms.
func (e explanation) exact(length float64) float64 {
	if !strings.HasPrefix(e.Description, "score(freq=") {
		sum := 0.0
		for _, d := range e.Details {
			sum += d.exact(length)
		}
		return sum
	}
	boost, ok := e.part("boost")
	if !ok {
		boost = 1
	}
	idf, known := e.part("idf,")
	freq, k1, b, mean := 0.0, 0.0, 0.0, 0.0
	for _, d := range e.Details {
		if strings.HasPrefix(d.Description, "tf,") {
			freq, _ = d.part("freq,")
			k1, _ = d.part("k1,")
			b, _ = d.part("b,")
			mean, _ = d.part("avgdl,")
		}
	}
	if !known || freq <= 0 || mean <= 0 { // an explanation of unknown form
		return e.Value
	}
	return boost * idf * freq / (freq + k1*(1-b+b*length/mean))
}

func (e explanation) part(begins string) (float64, bool) {
	for _, d := range e.Details {
		if strings.HasPrefix(d.Description, begins) {
			return d.Value, true
		}
	}
	return 0, false
}
