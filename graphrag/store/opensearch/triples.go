// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// edges implements [store.Triples].
type edges struct{ part }

// PutTriples implements [store.Triples].
func (e edges) PutTriples(ctx context.Context, ts ...store.Triple) error {
	return put(ctx, e.part, ts, store.Triple.ID, store.CheckTriple, e.doc)
}

func (e edges) doc(t store.Triple) (d document, err error) {
	d = document{ID: t.ID(), Fields: map[string]any{"head": fieldKey(t.Head.ID), "relation": fieldKey(t.Relation.ID), "tail": fieldKey(t.Tail.ID)}}
	for _, label := range []string{t.Head.Label, t.Relation.Label, t.Tail.Label} {
		d.Terms = terms(d.Terms, e.analyzer, label, 1)
	}
	d.Body, err = json.Marshal(t)
	return d, err
}

func triple(h result) (t store.Triple, err error) {
	if err = json.Unmarshal(h.Body, &t); err != nil {
		err = fmt.Errorf("triple %s: %w: %w", h.ID, store.ErrMismatch, err)
	}
	return t, err
}

// DeleteTriples implements [store.Triples].
func (e edges) DeleteTriples(ctx context.Context, ids ...string) error {
	err := e.open(ctx, true)
	if err == nil {
		err = e.c.delete(ctx, e.index, slices.Compact(slices.Sorted(slices.Values(ids))))
	}
	return e.wrap("delete", err)
}

// SearchTriples implements [store.Triples].
func (e edges) SearchTriples(ctx context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	b := &batch{part: e.part}
	for _, q := range queries {
		if err := store.CheckTriples(q); err != nil {
			return nil, e.wrap("search", err)
		}
		list := queryTerms(e.analyzer, q.Text)
		b.add(query{Terms: list, K1: bm25.DefaultK1, K: q.K, Bodies: true}, len(list) > 0)
	}
	lists, err := b.search(ctx)
	out := make([][]store.TripleHit, len(lists))
	for i, list := range lists {
		for _, h := range list {
			t, errTriple := triple(h)
			if errTriple != nil {
				return nil, e.wrap("search", errTriple)
			}
			out[i] = append(out[i], store.TripleHit{Triple: t, Score: h.Score})
		}
	}
	return out, e.wrap("search", err)
}

// Neighbors implements [store.Triples]. Without a limit an entity of more than MaxK triples
// takes more than one round trip, and Like finds that many at most.
func (e edges) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	most := e.c.maxK
	limit := o.Limit
	if limit <= 0 {
		limit = most
	}
	like := queryTerms(e.analyzer, o.Like)
	b := &batch{part: e.part}
	for _, entity := range entities {
		b.add(query{Terms: like, K: limit, Bodies: true, Where: nearClauses(entity, o)}, len(like) > 0)
		b.add(query{K: limit, Bodies: true, Where: nearClauses(entity, o)}, true)
	}
	lists, err := b.search(ctx)
	if err != nil {
		return nil, e.wrap("neighbors", err)
	}
	out := make([][]store.Triple, len(entities))
	for i, entity := range entities {
		liked, listed := lists[2*i], lists[2*i+1]
		for more := listed; len(more) == most && (o.Limit <= 0 || len(listed) < o.Limit); listed = append(listed, more...) {
			b := &batch{part: e.part}
			b.add(query{K: limit, After: more[len(more)-1].ID, Bodies: true, Where: nearClauses(entity, o)}, true)
			next, err := b.search(ctx)
			if err != nil {
				return nil, e.wrap("neighbors", err)
			}
			more = next[0]
		}
		if out[i], err = merge(liked, listed, o.Limit); err != nil {
			return nil, e.wrap("neighbors", err)
		}
	}
	return out, nil
}

// nearClauses is met by the neighbors of an entity.
func nearClauses(entity string, o store.Near) []object {
	is := func(field, id string) object { return object{"term": object{field: fieldKey(id)}} }
	at := is(string(o.End), entity)
	if o.End == store.Either {
		at = join("or", []object{is("head", entity), is("tail", entity)})
	}
	if o.Relation != "" {
		at = join("and", []object{at, is("relation", o.Relation)})
	}
	return []object{at}
}

// merge returns the liked triples, and then the others, up to a limit.
func merge(liked, listed []result, limit int) (out []store.Triple, err error) {
	seen := make(map[string]bool, len(liked))
	for i, h := range slices.Concat(liked, listed) {
		if seen[h.ID] {
			continue
		}
		if i < len(liked) {
			seen[h.ID] = true
		}
		if limit > 0 && len(out) == limit {
			break
		}
		t, err := triple(h)
		if err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	return out, nil
}

// AllTriples implements [store.Triples].
func (e edges) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	return allOf(ctx, e.part, after, triple)
}

// CountTriples implements [store.Triples].
func (e edges) CountTriples(ctx context.Context) (n int, err error) {
	if err = e.open(ctx, false); err == nil {
		n, err = e.c.count(ctx, e.index, nil)
	}
	return n, e.wrap("count", err)
}
