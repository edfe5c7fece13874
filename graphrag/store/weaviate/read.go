// SPDX-License-Identifier: Apache-2.0

package weaviate

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/store/internal/engine"
)

// hit is an object as GraphQL gives it.
type hit struct {
	ID         string `json:"oid"`
	Body       string `json:"body"`
	Additional struct {
		ID       string      `json:"id"`
		Score    json.Number `json:"score"`
		Distance float64     `json:"distance"`
	} `json:"_additional"`
}

// get asks for objects: parts are what is asked of a class, each with the fields that
// are wanted.
func (c *cluster) get(ctx context.Context, index string, parts ...string) ([][]hit, error) {
	var q strings.Builder
	q.WriteString("{Get{")
	for i, part := range parts {
		fmt.Fprintf(&q, "q%d:%s%s ", i, c.class(index), part)
	}
	q.WriteString("}}")
	var answer struct {
		Get map[string][]hit
	}
	if err := c.graphQL(ctx, index, q.String(), &answer); err != nil {
		return nil, err
	}
	lists := make([][]hit, len(parts))
	for i := range parts {
		lists[i] = answer.Get[fmt.Sprintf("q%d", i)]
	}
	return lists, nil
}

func (c *cluster) graphQL(ctx context.Context, index, query string, into any) error {
	body, err := json.Marshal(object{"query": query})
	if err != nil {
		return err
	}
	return c.client.Again(ctx, false, func() error {
		var answer struct {
			Data   json.RawMessage `json:"data"`
			Errors []message       `json:"errors"`
		}
		err := c.client.Once(ctx, engine.Request{Method: http.MethodPost, Path: "/v1/graphql", Body: body}, &answer)
		if err == nil && len(answer.Errors) > 0 {
			err = answer.Errors[0].error(store.ErrUnavailable)
		}
		err = c.known(ctx, index, err)
		if err == nil && json.Unmarshal(answer.Data, into) != nil {
			err = fmt.Errorf("%w: no answer to a query: %.100s", store.ErrMismatch, answer.Data)
		}
		return err
	})
}

// asked are the arguments of a query. Any replica, if there are some, answers: writes
// waited for all.
func (c *cluster) asked(args ...string) string {
	args = slices.DeleteFunc(args, func(a string) bool { return a == "" })
	if c.o.Replicas > 0 {
		args = append(args, "consistencyLevel:ONE")
	}
	return "(" + strings.Join(args, ",") + ")"
}

// Get implements [engine.Engine].
func (c *cluster) Get(ctx context.Context, index string, ids []string) (hits []engine.Hit, err error) {
	for part := range slices.Chunk(ids, maxItems) {
		lists, err := c.get(ctx, index, c.asked(fmt.Sprintf(`where:{path:["id"],operator:ContainsAny,valueText:%s},limit:%d`, list(uuids(part)), len(part)))+"{oid body}")
		if err != nil {
			return nil, err
		}
		for _, h := range lists[0] {
			hits = append(hits, engine.Hit{ID: h.ID, Body: []byte(h.Body)})
		}
	}
	return hits, nil
}

// list is values as GraphQL has them, which is as JSON does.
func list[T any](values []T) string {
	data, _ := json.Marshal(values) // strings and finite numbers
	return string(data)
}

func quoted(s string) string {
	data, _ := json.Marshal(s) // UTF-8
	return string(data)
}

// Search implements [engine.Engine]. Weaviate gives those of one score in any order: where
// more of them may be than it gave, it is asked for all that it gives.
func (c *cluster) Search(ctx context.Context, index string, queries []engine.Query) ([][]engine.Hit, error) {
	parts := make([]string, len(queries))
	for i, q := range queries {
		parts[i] = c.query(q, more(q.K))
	}
	lists, err := c.search(ctx, index, queries, parts)
	if err != nil {
		return nil, err
	}
	var tied []int
	var again []engine.Query
	parts = nil
	for i, q := range queries {
		if l := lists[i]; q.Terms != nil && len(l) == more(q.K) && len(l) < maxK && l[q.K-1].Score == l[len(l)-1].Score {
			tied, again, parts = append(tied, i), append(again, q), append(parts, c.query(q, maxK))
		}
	}
	if len(tied) > 0 {
		whole, err := c.search(ctx, index, again, parts)
		if err != nil {
			return nil, err
		}
		for i, place := range tied {
			lists[place] = whole[i]
		}
	}
	return lists, nil
}

// more is how many are asked for by words where k are wanted.
func more(k int) int { return min(maxK, k+k/2+10) }

func (c *cluster) search(ctx context.Context, index string, queries []engine.Query, parts []string) ([][]engine.Hit, error) {
	found, err := c.get(ctx, index, parts...)
	if err != nil {
		return nil, err
	}
	lists := make([][]engine.Hit, len(queries))
	for i, hits := range found {
		for _, h := range hits {
			score := -h.Additional.Distance
			if queries[i].Terms != nil {
				if score, err = strconv.ParseFloat(string(h.Additional.Score), 64); err != nil {
					return nil, fmt.Errorf("%w: a score of %q", store.ErrMismatch, h.Additional.Score)
				}
			}
			lists[i] = append(lists[i], engine.Hit{ID: h.ID, Score: score, Body: []byte(h.Body)})
		}
	}
	return lists, nil
}

// query is a search as Weaviate has it; most is how many are asked for by words.
func (c *cluster) query(q engine.Query, most int) string {
	where, limit, want := clause(q.Where), q.K, "oid"
	if q.Bodies {
		want += " body"
	}
	switch {
	case q.Terms != nil:
		var words []string
		for _, t := range q.Terms {
			words = append(words, slices.Repeat([]string{t.Text}, t.Times)...)
		}
		return c.asked(fmt.Sprintf(`bm25:{query:%s,properties:["words"]}`, quoted(strings.Join(words, " "))), filter(where), fmt.Sprintf("limit:%d", most)) +
			"{" + want + " _additional{score}}"
	case q.Vector != nil:
		if q.Exact {
			where = both(where, `{path:["vectors"],operator:Equal,valueInt:1}`)
		}
		return c.asked("nearVector:{vector:"+list(q.Vector)+"}", filter(where), fmt.Sprintf("limit:%d", limit)) + "{" + want + " _additional{distance}}"
	}
	if q.After != "" {
		where = both(where, fmt.Sprintf(`{path:["oid"],operator:GreaterThan,valueText:%q}`, q.After))
	}
	return c.asked(`sort:[{path:["oid"],order:asc}]`, filter(where), fmt.Sprintf("limit:%d", limit)) + "{" + want + "}"
}

func filter(where string) string {
	if where == "" {
		return ""
	}
	return "where:" + where
}

func both(a, b string) string {
	if a == "" {
		return b
	}
	return "{operator:And,operands:[" + a + "," + b + "]}"
}

// clause is a filter as Weaviate has it; "" is for all.
func clause(f store.Filter) string {
	switch f.Op {
	case "":
		return ""
	case store.OpIn:
		kind := "valueNumber"
		if _, isText := f.Values[0].(string); isText {
			kind = "valueText"
		}
		return fmt.Sprintf(`{path:[%q],operator:ContainsAny,%s:%s}`, f.Field, kind, list(f.Values))
	case store.OpRange:
		return fmt.Sprintf(`{operator:And,operands:[{path:[%q],operator:GreaterThanEqual,valueNumber:%g},{path:[%[1]q],operator:LessThanEqual,valueNumber:%[3]g}]}`, f.Field, f.Low, f.High)
	}
	parts := make([]string, len(f.Filters))
	for i, part := range f.Filters {
		parts[i] = clause(part)
	}
	op := map[store.Op]string{store.OpNot: "Not", store.OpAnd: "And", store.OpOr: "Or"}[f.Op]
	return "{operator:" + op + ",operands:[" + strings.Join(parts, ",") + "]}"
}

// All implements [engine.Engine]: the ids first, in the order of the server, then what they
// are of, sorted.
func (c *cluster) All(ctx context.Context, index, after string) iter.Seq2[engine.Hit, error] {
	return func(yield func(engine.Hit, error) bool) {
		ids, err := c.ids(ctx, index, after)
		if err != nil {
			yield(engine.Hit{}, err)
			return
		}
		for part := range slices.Chunk(ids, maxItems) {
			hits, err := c.Get(ctx, index, part)
			if err != nil {
				yield(engine.Hit{}, err)
				return
			}
			slices.SortFunc(hits, func(a, b engine.Hit) int { return cmp.Compare(a.ID, b.ID) })
			for _, h := range hits {
				if !yield(h, nil) {
					return
				}
			}
		}
	}
}

// ids are those after one, in order.
func (c *cluster) ids(ctx context.Context, index, after string) (ids []string, err error) {
	for last := ""; ; {
		lists, err := c.get(ctx, index, c.asked(fmt.Sprintf("limit:%d,after:%q", maxK, last))+"{oid _additional{id}}")
		if err != nil {
			return nil, err
		}
		for _, h := range lists[0] {
			if last = h.Additional.ID; h.ID > after {
				ids = append(ids, h.ID)
			}
		}
		if len(lists[0]) < maxK {
			slices.Sort(ids)
			return ids, nil
		}
	}
}

// Count implements [engine.Engine].
func (c *cluster) Count(ctx context.Context, index string) (int, error) {
	var answer struct {
		Aggregate map[string][]struct {
			Meta struct {
				Count int `json:"count"`
			} `json:"meta"`
		}
	}
	if err := c.graphQL(ctx, index, "{Aggregate{"+c.class(index)+"{meta{count}}}}", &answer); err != nil {
		return 0, err
	}
	if list := answer.Aggregate[c.class(index)]; len(list) == 1 {
		return list[0].Meta.Count, nil
	}
	return 0, fmt.Errorf("%w: no count", store.ErrMismatch)
}
