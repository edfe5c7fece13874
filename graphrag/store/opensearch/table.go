// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// table implements [store.Table].
type table struct {
	part
	schema store.TableSchema
}

// The names of keyword properties: the scope of a record, and the terms of its fields
// ([graphrag.Fields.Terms]).
const (
	scopeField = "scope"
	termsField = "terms"
)

// body holds the parts of a record that OpenSearch stores without searching them.
type body struct {
	Scope  string          `json:"s,omitempty"`
	Title  string          `json:"t,omitempty"`
	Text   string          `json:"x,omitempty"`
	Vector []byte          `json:"v,omitempty"` // little-endian float32
	Fields graphrag.Fields `json:"f,omitempty"`
	Data   []byte          `json:"d,omitempty"`
}

func (t *table) Put(ctx context.Context, records ...store.Record) error {
	return put(ctx, t.part, records, func(r store.Record) string { return r.ID }, t.schema.CheckRecord, t.doc)
}

func (t *table) doc(r store.Record) (document, error) {
	d := document{ID: r.ID, Fields: map[string]any{scopeField: fieldKey(r.Scope), termsField: r.Fields.Terms()}}
	whole := body{Scope: r.Scope, Title: r.Title, Text: r.Text, Fields: r.Fields, Data: r.Data}
	if len(r.Vector) > 0 {
		whole.Vector, _ = binary.Append(nil, binary.LittleEndian, r.Vector)
		d.Vector = vector.Unit(slices.Clone(r.Vector)) // so that dot products are cosines
	}
	if a := t.analyzer; t.schema.Text {
		d.Terms = terms(terms(nil, a, r.Title, t.schema.TitleWeight), a, r.Text, 1)
	}
	var err error
	d.Body, err = json.Marshal(whole)
	return d, err
}

func record(h result) (store.Record, error) {
	var b body
	v, err := decode(h, &b, &b.Vector)
	return store.Record{ID: h.ID, Scope: b.Scope, Title: b.Title, Text: b.Text, Vector: v, Fields: b.Fields, Data: b.Data}, err
}

// decode decodes the body of a record, or the parts of it that into has, and returns the vector that it then
// finds in packed.
func decode(h result, into any, packed *[]byte) (v []float32, err error) {
	if err = json.Unmarshal(h.Body, into); err == nil && len(*packed) > 0 {
		v = make([]float32, len(*packed)/4)
		_, err = binary.Decode(*packed, binary.LittleEndian, v)
	}
	if err != nil {
		err = fmt.Errorf("decode record %.60q: %w: %w", h.ID, store.ErrMismatch, err)
	}
	return v, err
}

func (t *table) Get(ctx context.Context, ids ...string) ([]store.Record, error) {
	if err := t.open(ctx, false); err != nil {
		return nil, t.wrap("get", err)
	}
	hits, err := t.c.get(ctx, t.index, slices.Compact(slices.Sorted(slices.Values(ids))))
	found := make(map[string]store.Record, len(hits))
	for _, h := range hits {
		r, errRecord := record(h)
		found[h.ID], err = r, cmp.Or(err, errRecord)
	}
	if err != nil {
		return nil, t.wrap("get", err)
	}
	var records []store.Record
	for _, id := range ids {
		if r, ok := found[id]; ok {
			records = append(records, r)
		}
	}
	return records, nil
}

func (t *table) Delete(ctx context.Context, ids ...string) error { return t.remove(ctx, ids) }

func (t *table) DeleteScope(ctx context.Context, scope string) error {
	err := t.open(ctx, true)
	if err == nil {
		err = t.c.deleteWhere(ctx, t.index, scopeField, fieldKey(scope))
	}
	return t.wrap("delete scope", err)
}

func (t *table) All(ctx context.Context, after string) iter.Seq2[store.Record, error] {
	return allOf(ctx, t.part, after, record)
}

func (t *table) Count(ctx context.Context, where graphrag.Condition) (n int, err error) {
	if err = cmp.Or(t.open(ctx, false), store.CheckCondition(where)); err == nil {
		n, err = t.c.count(ctx, t.index, filter(where))
	}
	return n, t.wrap("count", err)
}

func (t *table) SearchText(ctx context.Context, queries ...store.TextQuery) ([][]store.Hit, error) {
	b := &batch{part: t.part}
	for _, q := range queries {
		if err := t.schema.CheckText(q); err != nil {
			return nil, t.wrap("search", err)
		}
		list := queryTerms(t.analyzer, q.Text)
		b.add(query{Terms: list, K1: cmp.Or(t.schema.K1, bm25.DefaultK1), K: q.K, Where: filter(q.Where)}, len(list) > 0)
	}
	lists, err := b.search(ctx)
	hits := make([][]store.Hit, len(lists))
	for i, list := range lists {
		for _, h := range list {
			hits[i] = append(hits[i], store.Hit{ID: h.ID, Score: h.Score})
		}
	}
	return hits, t.wrap("search", err)
}

func (t *table) SearchVectors(ctx context.Context, queries ...store.VectorQuery) ([][]store.Hit, error) {
	hits, err := t.schema.Nearest(queries, false, func(asked []store.VectorQuery) ([][]store.Candidate, error) {
		b := &batch{part: t.part}
		for _, q := range asked {
			b.add(query{Vector: vector.Unit(slices.Clone(q.Vector)), Exact: q.Effort == 1, K: q.K, Bodies: true, Where: filter(q.Where)}, true)
		}
		lists, err := b.search(ctx)
		found := make([][]store.Candidate, len(lists))
		for i, list := range lists {
			for _, h := range list {
				var b struct {
					Vector []byte `json:"v"`
				}
				v, errVector := decode(h, &b, &b.Vector)
				err = cmp.Or(err, errVector)
				found[i] = append(found[i], store.Candidate{ID: h.ID, Vector: v, Score: h.Score})
			}
		}
		return found, err
	})
	return hits, t.wrap("search vectors", err)
}

// edges implements [store.Triples].
type edges struct{ part }

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
		err = fmt.Errorf("decode triple %s: %w: %w", h.ID, store.ErrMismatch, err)
	}
	return t, err
}

func (e edges) DeleteTriples(ctx context.Context, ids ...string) error { return e.remove(ctx, ids) }

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

// Neighbors implements [store.Triples]. Without a limit an entity with more than maxK triples takes more than
// one round trip, and Like ranks at most maxK triples.
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

// nearClauses returns a filter that matches the triples of an entity.
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

// merge returns the triples that were found for Like, then the other ones, up to a limit.
func merge(liked, listed []result, limit int) (out []store.Triple, err error) {
	seen := make(map[string]bool, len(liked))
	for _, h := range slices.Concat(liked, listed) {
		if seen[h.ID] {
			continue
		}
		seen[h.ID] = true
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

func (e edges) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	return allOf(ctx, e.part, after, triple)
}

func (e edges) CountTriples(ctx context.Context) (n int, err error) {
	if err = e.open(ctx, false); err == nil {
		n, err = e.c.count(ctx, e.index, nil)
	}
	return n, e.wrap("count", err)
}
