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

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
)

// found is the answer to a search.
type found struct {
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

// Get implements [engine.Engine]: what a search finds, and of what is not there, what was
// put since. One copy of a shard may be ahead of another.
func (c *cluster) Get(ctx context.Context, index string, ids []string) (hits []engine.Hit, err error) {
	for part := range slices.Chunk(ids, maxItems) {
		missing := make(map[string]string, len(part)) // by the names there
		for _, id := range part {
			missing[engine.Hash(id)] = id
		}
		for _, latest := range []bool{false, true} {
			if len(missing) == 0 {
				break
			}
			found, err := c.documents(ctx, index, slices.Sorted(maps.Keys(missing)), latest)
			if err != nil {
				return nil, err
			}
			for key, body := range found {
				hits = append(hits, engine.Hit{ID: missing[key], Body: []byte(body)})
				delete(missing, key)
			}
		}
	}
	return hits, nil
}

func (c *cluster) documents(ctx context.Context, index string, keys []string, latest bool) (bodies map[string]string, err error) {
	err = c.client.Again(ctx, false, func() error {
		var answer struct {
			Docs []struct {
				ID     string `json:"_id"`
				Found  bool   `json:"found"`
				Source source `json:"_source"`
				Error  *cause `json:"error"`
			} `json:"docs"`
		}
		path := fmt.Sprintf("/%s/_mget?realtime=%t", c.index(index), latest)
		if err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: path, Body: object{"ids": keys}}, &answer); err != nil {
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

// Search implements [engine.Engine].
func (c *cluster) Search(ctx context.Context, index string, queries []engine.Query) (lists [][]engine.Hit, err error) {
	var lines bytes.Buffer
	e := json.NewEncoder(&lines)
	for _, q := range queries {
		header := object{"index": c.index(index), "allow_partial_search_results": false}
		if q.Terms != nil {
			header["search_type"] = "dfs_query_then_fetch" // frequencies of all shards
		}
		if err := cmp.Or(e.Encode(header), e.Encode(c.query(q))); err != nil {
			return nil, err
		}
	}
	err = c.client.Again(ctx, false, func() error {
		var answer struct {
			Responses []found `json:"responses"`
		}
		err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: "/_msearch", Body: lines.Bytes(), Type: "application/x-ndjson"}, &answer)
		if err == nil && len(answer.Responses) != len(queries) {
			err = fmt.Errorf("%w: %d answers to %d queries", store.ErrUnavailable, len(answer.Responses), len(queries))
		}
		lists = nil
		for _, r := range answer.Responses {
			if err == nil {
				err = r.Error.error(r.Status)
			}
			var list []engine.Hit
			if err == nil {
				list, err = r.hits(queries[len(lists)])
			}
			lists = append(lists, list)
		}
		return err
	})
	return lists, err
}

func (f found) hits(q engine.Query) ([]engine.Hit, error) {
	list := make([]engine.Hit, len(f.Hits.Hits))
	for i, h := range f.Hits.Hits {
		score := h.Score
		if q.Vector != nil {
			score = similarity(score)
		}
		if h.Explanation != nil && len(h.Fields.Length) == 1 {
			score = h.Explanation.exact(h.Fields.Length[0])
		}
		list[i] = engine.Hit{Score: score, Body: []byte(h.Source.Body)}
		if len(h.Sort) == 0 || json.Unmarshal(h.Sort[len(h.Sort)-1], &list[i].ID) != nil {
			return nil, fmt.Errorf("%w: a hit without an id", store.ErrMismatch)
		}
	}
	return list, nil
}

// similarity is the dot product of which Lucene made a score above 0.
func similarity(score float64) float64 {
	if score >= 1 {
		return score - 1
	}
	return 1 - 1/max(score, 1e-30)
}

// query is a search as OpenSearch has it. The id is the last that hits are sorted by.
func (c *cluster) query(q engine.Query) object {
	where := filter(q.Where)
	out := object{"size": q.K, "_source": q.Bodies, "track_total_hits": false, "sort": []object{{"_score": "desc"}, {"id": "asc"}}, "track_scores": true}
	switch {
	case q.Terms != nil:
		should := make([]object, len(q.Terms))
		for i, t := range q.Terms {
			should[i] = object{"term": object{"words": object{"value": t.Text, "boost": t.Times}}}
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

// filter is a filter as OpenSearch has it; none is for all.
func filter(f store.Filter) []object {
	if f.Op == "" {
		return []object{}
	}
	return []object{clause(f)}
}

func clause(f store.Filter) object {
	switch f.Op {
	case store.OpIn:
		return object{"terms": object{f.Field: f.Values}}
	case store.OpRange:
		return object{"range": object{f.Field: object{"gte": f.Low, "lte": f.High}}}
	}
	parts := make([]object, len(f.Filters))
	for i, part := range f.Filters {
		parts[i] = clause(part)
	}
	switch f.Op {
	case store.OpNot:
		return object{"bool": object{"must_not": parts}}
	case store.OpOr:
		return object{"bool": object{"should": parts, "minimum_should_match": 1}}
	}
	return object{"bool": object{"filter": parts}}
}

// All implements [engine.Engine]: of a point in time.
func (c *cluster) All(ctx context.Context, index, after string) iter.Seq2[engine.Hit, error] {
	const keep = "5m"
	return func(yield func(engine.Hit, error) bool) {
		var pit struct {
			ID string `json:"pit_id"`
		}
		if err := c.client.Do(ctx, engine.Request{Method: http.MethodPost, Path: "/" + c.index(index) + "/_search/point_in_time?keep_alive=" + keep}, &pit); err != nil {
			yield(engine.Hit{}, err)
			return
		}
		defer func() {
			// It ends by itself after keep.
			_ = c.client.Once(context.WithoutCancel(ctx), engine.Request{Method: http.MethodDelete, Path: "/_search/point_in_time", Body: object{"pit_id": []string{pit.ID}}}, nil)
		}()
		q := engine.Query{K: maxItems, Bodies: true, After: after}
		for {
			body := c.query(q)
			body["pit"] = object{"id": pit.ID, "keep_alive": keep}
			var answer found
			err := c.client.Do(ctx, engine.Request{Method: http.MethodPost, Path: "/_search?allow_partial_search_results=false", Body: body}, &answer)
			var list []engine.Hit
			if err == nil {
				list, err = answer.hits(q)
			}
			if err != nil {
				yield(engine.Hit{}, err)
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

// Count implements [engine.Engine].
func (c *cluster) Count(ctx context.Context, index string) (int, error) {
	var answer struct {
		Count  int `json:"count"`
		Shards struct {
			Failed int `json:"failed"`
		} `json:"_shards"`
	}
	err := c.client.Do(ctx, engine.Request{Method: http.MethodGet, Path: "/" + c.index(index) + "/_count"}, &answer)
	if err == nil && answer.Shards.Failed > 0 {
		err = fmt.Errorf("%w: %d shards did not count", store.ErrUnavailable, answer.Shards.Failed)
	}
	return answer.Count, err
}
