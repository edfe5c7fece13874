// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// edges implements [store.Triples].
type edges struct{ handle *handle }

func (e edges) read(ctx context.Context, doing string, do func(*stack) error) error {
	if err := e.handle.read(ctx, edgesName, do); err != nil {
		return fmt.Errorf("disk: triples: %s: %w", doing, err)
	}
	return nil
}

// PutTriples implements [store.Triples].
func (e edges) PutTriples(ctx context.Context, ts ...store.Triple) error {
	if err := errors.Join(ctx.Err(), e.handle.writable()); err != nil {
		return fmt.Errorf("disk: triples: put: %w", err)
	}
	var bad store.ItemsError
	ids, good := make([]string, 0, len(ts)), make([]*store.Triple, 0, len(ts))
	for i, t := range ts {
		id := t.ID()
		if err := store.CheckTriple(t); err != nil {
			bad.Items = append(bad.Items, store.ItemError{Index: i, ID: id, Err: err})
			continue
		}
		ids, good = append(ids, id), append(good, &t)
	}
	g := e.handle.g
	err := g.put(ctx, func() {
		for i, t := range good {
			size := len(ids[i]) + len(t.Source)
			for _, s := range []string{t.Head.ID, t.Relation.ID, t.Tail.ID, t.Head.Label, t.Relation.Label, t.Tail.Label} {
				size += len(s)
			}
			g.edges.put(ids[i], t, size)
		}
	})
	if err == nil && len(bad.Items) > 0 {
		err = &bad
	}
	if err != nil {
		return fmt.Errorf("disk: triples: put: %w", err)
	}
	return nil
}

// DeleteTriples implements [store.Triples].
func (e edges) DeleteTriples(ctx context.Context, ids ...string) error {
	err := errors.Join(ctx.Err(), e.handle.writable())
	if g := e.handle.g; err == nil {
		err = g.put(ctx, func() {
			for _, id := range ids {
				g.edges.put(id, nil, len(id))
			}
		})
	}
	if err != nil {
		return fmt.Errorf("disk: triples: delete: %w", err)
	}
	return nil
}

// SearchTriples implements [store.Triples].
func (e edges) SearchTriples(ctx context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	hits := make([][]store.TripleHit, len(queries))
	err := e.read(ctx, "search", func(s *stack) error {
		return par.Each(ctx, len(queries), e.handle.g.o.Workers, func(i int) error {
			q := queries[i]
			f, err := store.TripleFields.CheckFilter(q.Where)
			if err != nil {
				return err
			}
			keep := make([]condition, len(s.segments))
			for n, segment := range s.segments {
				keep[n] = s.living(n, segment.where(f))
			}
			places, err := s.search(ctx, q.Text, q.K, keep)
			if err != nil {
				return err
			}
			for _, p := range places {
				hits[i] = append(hits[i], store.TripleHit{Triple: s.segments[p.segment].triple(p.row), Score: p.score})
			}
			return nil
		})
	})
	return hits, err
}

// where makes a condition of a filter of triples.
func (s *segment) where(f store.Filter) condition {
	if f.Op == "" {
		return nil
	}
	return func(row int32) bool {
		t := s.triple(int(row))
		return f.Holds(store.Fields{"head": t.Head.ID, "relation": t.Relation.ID, "tail": t.Tail.ID, "source": t.Source})
	}
}

// Neighbors implements [store.Triples].
func (e edges) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	found := make([][]store.Triple, len(entities))
	err := e.read(ctx, "neighbors", func(s *stack) error {
		return par.Each(ctx, len(entities), e.handle.g.o.Workers, func(i int) error {
			lists := make([][]int32, len(s.segments))
			for n, segment := range s.segments {
				lists[n] = segment.neighbors(entities[i], o, s.living(n, nil))
			}
			found[i] = s.merged(lists, o.Limit)
			return nil
		})
	})
	return found, err
}

// merged are the triples of rows of each segment, which are in the order of their ids,
// in the order of all ids, up to a limit.
func (s *stack) merged(rows [][]int32, limit int) (list []store.Triple) {
	for limit == 0 || len(list) < limit {
		first := -1
		var least []byte
		for n, left := range rows {
			if len(left) == 0 {
				continue
			}
			if id := s.segments[n].ids.bytes(int(left[0])); first < 0 || bytes.Compare(id, least) < 0 {
				first, least = n, id
			}
		}
		if first < 0 {
			break
		}
		list = append(list, s.segments[first].triple(int(rows[first][0])))
		rows[first] = rows[first][1:]
	}
	return list
}

// neighbors are the first triples of an entity, which are in the order of their ids.
func (s *segment) neighbors(id string, o store.Near, keep condition) (rows []int32) {
	entity, ok := s.edges.Entity(id)
	if !ok {
		return nil
	}
	all := s.edges.Of(entity)
	if keep == nil && o.End == store.Either && o.Relation == "" {
		if o.Limit > 0 {
			all = all[:min(o.Limit, len(all))]
		}
		return all
	}
	for _, row := range all {
		head, tail := s.edges.Ends(row)
		if keep != nil && !keep(row) || o.End == store.Head && head != entity || o.End == store.Tail && tail != entity || o.Relation != "" && s.edges.Triple(row).Relation.ID != o.Relation {
			continue
		}
		if rows = append(rows, row); len(rows) == o.Limit {
			break
		}
	}
	return rows
}

// AllTriples implements [store.Triples].
func (e edges) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	return func(yield func(store.Triple, error) bool) {
		err := e.read(ctx, "read all", func(s *stack) error {
			for _, t := range s.triples(after) {
				if err := ctx.Err(); err != nil {
					return err
				}
				if !yield(t, nil) {
					return errStop
				}
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(store.Triple{}, err)
		}
	}
}

// CountTriples implements [store.Triples].
func (e edges) CountTriples(ctx context.Context) (n int, err error) {
	err = e.read(ctx, "count", func(s *stack) error { n = s.live; return nil })
	return n, err
}
