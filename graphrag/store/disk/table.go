// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// table implements [store.Table].
type table struct {
	handle *handle
	name   string
	schema store.TableSchema
}

// wrap adds the name of the table and the operation to an error.
func (t *table) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("disk: table %q: %s: %w", t.name, doing, err)
}

func (t *table) read(ctx context.Context, doing string, do func(*stack) error) error {
	return t.wrap(doing, t.handle.read(ctx, t.name, do))
}

func (t *table) Put(ctx context.Context, records ...store.Record) error {
	good, bad := store.Accept(records, func(r store.Record) string { return r.ID }, t.schema.CheckRecord)
	for i := range good {
		r := &good[i]
		r.Vector, r.Data, r.Fields = slices.Clone(r.Vector), bytes.Clone(r.Data), maps.Clone(r.Fields)
	}
	err := t.handle.put(ctx, func(g *generation) {
		for i := range good {
			g.records[t.name].put(good[i].ID, &good[i], sizeOf(good[i]))
		}
	})
	return t.wrap("put", cmp.Or(err, bad))
}

func (t *table) Get(ctx context.Context, ids ...string) (records []store.Record, err error) {
	err = t.read(ctx, "get", func(s *stack) error {
		places := make([]place, 0, len(ids))
		for _, id := range ids {
			if i, row, ok := s.find(id); ok {
				s.segments[i].soon(row)
				places = append(places, place{segment: i, row: row})
			}
		}
		for _, p := range places {
			records = append(records, s.segments[p.segment].record(p.row))
		}
		return ctx.Err()
	})
	return records, err
}

func (t *table) Delete(ctx context.Context, ids ...string) error {
	return t.wrap("delete", t.handle.put(ctx, func(g *generation) {
		for _, id := range ids {
			g.records[t.name].put(id, nil, len(id))
		}
	}))
}

func (t *table) DeleteScope(ctx context.Context, scope string) error {
	if err := t.handle.writable(); err != nil {
		return t.wrap("delete scope", err)
	}
	g := t.handle.g
	g.flushing.Lock()
	var ids []string
	err := t.handle.read(ctx, t.name, func(s *stack) error {
		for i, seg := range s.segments {
			for row := range seg.len() {
				if string(seg.scopes.bytes(row)) == scope && !s.dead[i].Has(int32(row)) {
					ids = append(ids, seg.ids.at(row))
				}
			}
		}
		return ctx.Err()
	})
	g.mu.Lock()
	for id, r := range g.records[t.name].items {
		if r != nil && r.Scope == scope {
			ids = append(ids, id)
		}
	}
	// A record of the scope that was put again with another scope, and is pending, stays.
	ids = slices.DeleteFunc(ids, func(id string) bool {
		r := g.records[t.name].items[id]
		return r != nil && r.Scope != scope
	})
	g.mu.Unlock()
	g.flushing.Unlock()
	if err != nil {
		return t.wrap("delete scope", err)
	}
	return t.Delete(ctx, ids...)
}

func (t *table) All(ctx context.Context, after string) iter.Seq2[store.Record, error] {
	return every(ctx, t.read, func(s *stack) iter.Seq2[string, store.Record] { return s.records(after) })
}

// every yields all items of a stack, within one read.
func every[T any](ctx context.Context, read func(context.Context, string, func(*stack) error) error, of func(*stack) iter.Seq2[string, T]) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		err := read(ctx, "read all", func(s *stack) error {
			for _, x := range of(s) {
				if err := cmp.Or(ctx.Err(), s.err()); err != nil {
					return err
				}
				if !yield(x, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			var none T
			yield(none, err)
		}
	}
}

var errStop = errors.New("enough")

func (t *table) Count(ctx context.Context, where graphrag.Condition) (n int, err error) {
	err = t.read(ctx, "count", func(s *stack) error {
		if err := store.CheckCondition(where); err != nil {
			return err
		}
		for i, rows := range s.among(where).rows {
			if n += rows.Len(); rows == nil {
				n += s.segments[i].len()
			}
		}
		return nil
	})
	return n, err
}

func (t *table) SearchText(ctx context.Context, queries ...store.TextQuery) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	err := t.read(ctx, "search", func(s *stack) error {
		return par.Each(ctx, len(queries), 0, func(i int) error {
			if err := t.schema.CheckText(queries[i]); err != nil {
				return err
			}
			words, err := s.among(queries[i].Where).words()
			if err == nil {
				hits[i] = s.hits(s.search(words, queries[i].Text, queries[i].K, nil))
			}
			return err
		})
	})
	return hits, err
}

// place is the segment and the row of a search result, with its score.
type place struct {
	segment, row int
	score        float64
}

// search returns the k best rows for a text, best first, and rows of equal score by id.
func (s *stack) search(words *bm25.Collection, text string, k int, keep func(part int, row int32) bool) []place {
	if k <= 0 {
		return nil
	}
	found := words.Search(text, min(k, s.live), keep, nil)
	places := make([]place, len(found))
	for i, f := range found {
		places[i] = place{f.Part, int(f.Doc), f.Score}
	}
	return s.best(places, k)
}

// best sorts places by score, equal scores by id, and returns the first k.
func (s *stack) best(places []place, k int) []place {
	slices.SortFunc(places, func(a, b place) int {
		return cmp.Or(cmp.Compare(b.score, a.score), bytes.Compare(s.segments[a.segment].ids.bytes(a.row), s.segments[b.segment].ids.bytes(b.row)))
	})
	return places[:min(k, len(places))]
}

func (s *stack) hits(places []place) []store.Hit {
	hits := make([]store.Hit, len(places))
	for i, p := range places {
		hits[i] = store.Hit{ID: s.segments[p.segment].ids.at(p.row), Score: p.score}
	}
	return hits
}

func (t *table) SearchVectors(ctx context.Context, queries ...store.VectorQuery) ([][]store.Hit, error) {
	hits := make([][]store.Hit, len(queries))
	err := t.read(ctx, "search", func(s *stack) error {
		for i, q := range queries {
			if err := t.schema.CheckVector(q); err != nil {
				return err
			}
			a := s.among(q.Where)
			var places []place
			for n, seg := range s.segments {
				if err := ctx.Err(); err != nil {
					return err
				}
				found, err := seg.nearest(q, a.vectors[n])
				if err != nil {
					return fmt.Errorf("compare vectors: %w: %w", store.ErrInvalid, err)
				}
				for _, f := range found {
					if row := int(seg.row[f.ID]); row >= 0 && row < seg.len() {
						places = append(places, place{n, row, f.Score})
					}
				}
			}
			hits[i] = s.hits(s.best(places, q.K))
		}
		return nil
	})
	return hits, err
}

// nearest returns the vectors of a segment that are most similar to the vector of a query. Only vectors in set
// are searched; nil is all.
func (s *segment) nearest(q store.VectorQuery, set bm25.Docs) ([]rank.Scored[int32], error) {
	p := vector.Params{K: q.K, Share: cmp.Or(q.Effort, usualShare)}
	if set != nil {
		p.Keep = set.Has
		if n := set.Len(); n <= max(fewVectors, int(usualShare*float64(s.vectors.Len()))) {
			p.IDs = slices.AppendSeq(make([]int32, 0, n), set.All()) // an approximate search reads as many
		}
	}
	return s.vectors.SearchWith(q.Vector, p, nil)
}

// fewVectors is the least number of vectors up to which a set is searched exactly.
const fewVectors = 1 << 12

// usualShare is the share of vectors that a search reads if the query sets no Effort: of half a million random
// vectors it finds 97 % of the ten nearest, of vectors of texts more (docs/performance.md, "Vectors").
const usualShare = .015
