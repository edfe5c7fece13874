// SPDX-License-Identifier: Apache-2.0

package opensearch

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// table implements [store.Table].
type table struct {
	part
	schema store.TableSchema
}

// The properties of documents that are compared: the scope of a record, and the terms of its fields
// ([graphrag.Fields.Terms]).
const (
	scopeField = "scope"
	termsField = "terms"
)

// body is the part of a record that only this package reads.
type body struct {
	Scope  string          `json:"s,omitempty"`
	Title  string          `json:"t,omitempty"`
	Text   string          `json:"x,omitempty"`
	Vector []byte          `json:"v,omitempty"` // little-endian
	Fields graphrag.Fields `json:"f,omitempty"`
	Data   []byte          `json:"d,omitempty"`
}

// Put implements [store.Records].
func (t *table) Put(ctx context.Context, records ...store.Record) error {
	return put(ctx, t.part, records, func(r store.Record) string { return r.ID }, t.schema.CheckRecord, t.doc)
}

func (t *table) doc(r store.Record) (document, error) {
	d := document{ID: r.ID, Fields: map[string]any{scopeField: fieldKey(r.Scope), termsField: r.Fields.Terms()}}
	whole := body{Scope: r.Scope, Title: r.Title, Text: r.Text, Fields: r.Fields, Data: r.Data}
	if len(r.Vector) > 0 {
		whole.Vector, _ = binary.Append(nil, binary.LittleEndian, r.Vector)
		d.Vector = direction(r.Vector)
	}
	if a := t.analyzer; t.schema.Text {
		d.Terms = terms(terms(nil, a, r.Title, t.schema.TitleWeight), a, r.Text, 1)
	}
	var err error
	d.Body, err = json.Marshal(whole)
	return d, err
}

// direction is a vector at length 1, so that dot products are cosines.
func direction(v []float32) []float32 {
	sum := 0.0
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	out := make([]float32, len(v))
	if sum > 0 {
		for i, x := range v {
			out[i] = float32(float64(x) / math.Sqrt(sum))
		}
	}
	return out
}

func record(h result) (store.Record, error) {
	var b body
	if err := json.Unmarshal(h.Body, &b); err != nil {
		return store.Record{}, fmt.Errorf("record %.60q: %w: %w", h.ID, store.ErrMismatch, err)
	}
	r := store.Record{ID: h.ID, Scope: b.Scope, Title: b.Title, Text: b.Text, Fields: b.Fields, Data: b.Data}
	if len(b.Vector) > 0 {
		r.Vector = make([]float32, len(b.Vector)/4)
		if _, err := binary.Decode(b.Vector, binary.LittleEndian, r.Vector); err != nil {
			return r, fmt.Errorf("record %.60q: %w: %w", h.ID, store.ErrMismatch, err)
		}
	}
	return r, nil
}

// Get implements [store.Records].
func (t *table) Get(ctx context.Context, ids ...string) ([]store.Record, error) {
	if err := t.open(ctx, false); err != nil {
		return nil, t.wrap("get", err)
	}
	once := slices.Compact(slices.Sorted(slices.Values(ids)))
	hits, err := t.c.get(ctx, t.index, once)
	found := make(map[string]result, len(hits))
	for _, h := range hits {
		found[h.ID] = h
	}
	var records []store.Record
	for _, id := range ids {
		h, ok := found[id]
		if err != nil || !ok {
			continue
		}
		var r store.Record
		if r, err = record(h); err == nil {
			records = append(records, r)
		}
	}
	return records, t.wrap("get", err)
}

// Delete implements [store.Records].
func (t *table) Delete(ctx context.Context, ids ...string) error {
	err := t.open(ctx, true)
	if err == nil {
		err = t.c.delete(ctx, t.index, slices.Compact(slices.Sorted(slices.Values(ids))))
	}
	return t.wrap("delete", err)
}

// DeleteScope implements [store.Records].
func (t *table) DeleteScope(ctx context.Context, scope string) error {
	err := t.open(ctx, true)
	if err == nil {
		err = t.c.deleteWhere(ctx, t.index, scopeField, fieldKey(scope))
	}
	return t.wrap("delete scope", err)
}

// All implements [store.Records].
func (t *table) All(ctx context.Context, after string) iter.Seq2[store.Record, error] {
	return allOf(ctx, t.part, after, record)
}

// Count implements [store.Records].
func (t *table) Count(ctx context.Context, where graphrag.Condition) (n int, err error) {
	if err = cmp.Or(t.open(ctx, false), store.CheckCondition(where)); err == nil {
		n, err = t.c.count(ctx, t.index, filter(where))
	}
	return n, t.wrap("count", err)
}

// SearchText implements [store.TextIndex].
func (t *table) SearchText(ctx context.Context, queries ...store.TextQuery) ([][]store.Hit, error) {
	b := &batch{part: t.part}
	for _, q := range queries {
		if err := t.schema.CheckText(q); err != nil {
			return nil, t.wrap("search", err)
		}
		list := queryTerms(t.analyzer, q.Text)
		b.add(query{Terms: list, K1: cmp.Or(t.schema.K1, bm25.DefaultK1), K: q.K, Where: filter(q.Where)}, len(list) > 0)
	}
	hits, err := b.search(ctx)
	return plain(hits), t.wrap("search", err)
}

// SearchVectors implements [store.VectorIndex].
func (t *table) SearchVectors(ctx context.Context, queries ...store.VectorQuery) ([][]store.Hit, error) {
	b := &batch{part: t.part}
	for _, q := range queries {
		if err := t.schema.CheckVector(q); err != nil {
			return nil, t.wrap("search vectors", err)
		}
		b.add(query{Vector: direction(q.Vector), Exact: q.Effort == 1, K: q.K, Where: filter(q.Where)}, true)
	}
	hits, err := b.search(ctx)
	return plain(hits), t.wrap("search vectors", err)
}

func plain(lists [][]result) [][]store.Hit {
	out := make([][]store.Hit, len(lists))
	for i, list := range lists {
		out[i] = make([]store.Hit, len(list))
		for j, h := range list {
			out[i][j] = store.Hit{ID: h.ID, Score: h.Score}
		}
	}
	return out
}
