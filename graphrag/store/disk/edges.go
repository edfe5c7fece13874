// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// edges implements [store.Triples].
type edges struct{ handle *handle }

func (e edges) wrap(doing string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("disk: triples: %s: %w", doing, err)
}

func (e edges) read(ctx context.Context, doing string, do func(*stack) error) error {
	return e.wrap(doing, e.handle.read(ctx, edgesName, do))
}

func (e edges) PutTriples(ctx context.Context, ts ...store.Triple) error {
	good, bad := store.Accept(ts, store.Triple.ID, store.CheckTriple)
	err := e.handle.put(ctx, func(g *generation) {
		for _, t := range good {
			id := t.ID()
			size := len(id) + len(t.Source)
			for _, s := range []string{t.Head.ID, t.Relation.ID, t.Tail.ID, t.Head.Label, t.Relation.Label, t.Tail.Label} {
				size += len(s)
			}
			g.edges.put(id, &t, size)
		}
	})
	return e.wrap("put", cmp.Or(err, bad))
}

func (e edges) DeleteTriples(ctx context.Context, ids ...string) error {
	return e.wrap("delete", e.handle.put(ctx, func(g *generation) {
		for _, id := range ids {
			g.edges.put(id, nil, len(id))
		}
	}))
}

func (e edges) SearchTriples(ctx context.Context, queries ...store.TextQuery) ([][]store.TripleHit, error) {
	hits := make([][]store.TripleHit, len(queries))
	err := e.read(ctx, "search", func(s *stack) error {
		return par.Each(ctx, len(queries), 0, func(i int) error {
			q := queries[i]
			words, err := s.words()
			if err = cmp.Or(store.CheckTriples(q), err); err != nil {
				return err
			}
			for _, p := range s.search(words, q.Text, q.K, s.keep()) {
				hits[i] = append(hits[i], store.TripleHit{Triple: s.segments[p.segment].triple(p.row), Score: p.score})
			}
			return nil
		})
	})
	return hits, err
}

// keep returns a function that reports whether a triple is live; nil if all triples are.
func (s *stack) keep() func(part int, row int32) bool {
	if !slices.ContainsFunc(s.dead, func(d bm25.Docs) bool { return d.Len() > 0 }) {
		return nil
	}
	return func(part int, row int32) bool { return !s.dead[part].Has(row) }
}

// condition reports whether a row of a segment is wanted.
type condition func(row int32) bool

func (e edges) Neighbors(ctx context.Context, entities []string, o store.Near) ([][]store.Triple, error) {
	found := make([][]store.Triple, len(entities))
	err := e.read(ctx, "neighbors", func(s *stack) error {
		return par.Each(ctx, len(entities), 0, func(i int) (err error) {
			found[i], err = s.neighbors(entities[i], o)
			return err
		})
	})
	return found, err
}

// neighbors returns the triples of an entity.
func (s *stack) neighbors(entity string, o store.Near) ([]store.Triple, error) {
	limit := cmp.Or(o.Limit, math.MaxInt)
	rows, total := make([][]int32, len(s.segments)), 0
	keep := make([]condition, len(s.segments))
	for n, seg := range s.segments {
		keep[n] = noRow
		if number, ok := seg.edges.Entity(entity); ok {
			keep[n] = seg.near(number, o, s.dead[n])
			rows[n] = seg.edges.Of(number)
			total += len(rows[n])
		}
	}
	if o.Like == "" {
		return s.merged(nil, rows, keep, limit), nil
	}
	best, err := s.like(o.Like, min(limit, total), rows, keep)
	return s.merged(best, rows, keep, limit), err
}

// like returns the k of the given rows that a search for a text finds first. It scores only these rows: an
// entity has few triples compared with all that contain a word of the text.
func (s *stack) like(text string, k int, rows [][]int32, keep []condition) ([]place, error) {
	words, err := s.words()
	if err != nil {
		return nil, err
	}
	var found []place
	var scores []float64
	var top rank.Top[int32] // numbers in found
	top.Reset(k)
	for n, list := range rows {
		scores = words.Scores(text, n, list, scores)
		for i, row := range list {
			if scores[i] > 0 && scores[i] >= top.Threshold() && keep[n](row) {
				top.Push(int32(len(found)), scores[i])
				found = append(found, place{n, int(row), scores[i]})
			}
		}
	}
	return s.best(found, k), nil
}

// merged returns the triples at first, in their order, then the triples of the other rows by id, up to a limit.
// The rows of each segment are sorted by id.
func (s *stack) merged(first []place, rows [][]int32, keep []condition, limit int) (list []store.Triple) {
	held := make(map[place]bool, len(first))
	for _, p := range first {
		list = append(list, s.segments[p.segment].triple(p.row))
		held[place{segment: p.segment, row: p.row}] = true
	}
	for len(list) < limit {
		least := -1
		var id []byte
		for n := range rows {
			for len(rows[n]) > 0 && (!keep[n](rows[n][0]) || held[place{segment: n, row: int(rows[n][0])}]) {
				rows[n] = rows[n][1:]
			}
			if len(rows[n]) == 0 {
				continue
			}
			if next := s.segments[n].ids.bytes(int(rows[n][0])); least < 0 || bytes.Compare(next, id) < 0 {
				least, id = n, next
			}
		}
		if least < 0 {
			break
		}
		list = append(list, s.segments[least].triple(int(rows[least][0])))
		rows[least] = rows[least][1:]
	}
	return list
}

// near returns a condition: the triple is live and is one of the entity that the options select.
func (s *segment) near(entity int32, o store.Near, dead bm25.Docs) condition {
	return func(row int32) bool {
		head, tail := s.edges.Ends(row)
		at := head == entity && o.End != store.Tail || tail == entity && o.End != store.Head
		return at && !dead.Has(row) && (o.Relation == "" || s.edges.Triple(row).Relation.ID == o.Relation)
	}
}

func noRow(int32) bool { return false }

func (e edges) AllTriples(ctx context.Context, after string) iter.Seq2[store.Triple, error] {
	return every(ctx, e.read, func(s *stack) iter.Seq2[string, store.Triple] { return s.triples(after) })
}

func (e edges) CountTriples(ctx context.Context) (n int, err error) {
	err = e.read(ctx, "count", func(s *stack) error { n = s.live; return nil })
	return n, err
}
