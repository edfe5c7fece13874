// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/store"
)

// fan is how many segments of about one size are merged into one.
const fan = 8

// least is the number of rows up to which segments are of one size, whatever they have.
const least = 2048

// flush writes what is pending as segments, merges segments where there are many
// (where there are two, if all is set), and shows the result. If it fails nothing is
// lost: what was pending is so again.
func (g *generation) flush(ctx context.Context, all bool) error {
	g.flushing.Lock()
	defer g.flushing.Unlock()
	g.mu.Lock()
	records, triples := g.records, g.edges
	old := g.view
	if old == nil {
		g.mu.Unlock()
		return errEnded
	}
	old.refs.Add(1)
	g.clear()
	g.mu.Unlock()

	f := &flush{g: g, stacks: maps.Clone(old.stacks)}
	err := f.write(ctx, records, triples, all)
	if err == nil && len(f.made) > 0 {
		err = f.show(old)
	}
	if err != nil {
		g.restore(records, triples)
		err = errors.Join(fmt.Errorf("disk: generation %q: flush: %w", g.name, err), f.undo())
	}
	_ = old.release()
	return err
}

// restore takes back what could not be flushed, unless there is something newer.
func (g *generation) restore(records map[string]*pending[store.Record], triples *pending[store.Triple]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for table, newer := range g.records {
		records[table].update(newer)
	}
	triples.update(g.edges)
	g.records, g.edges = records, triples
}

// flush is a new state of a generation in the making.
type flush struct {
	g      *generation
	stacks map[string]*stack
	made   []*segment // of which some were merged again
}

func (f *flush) write(ctx context.Context, records map[string]*pending[store.Record], triples *pending[store.Triple], all bool) error {
	o := f.g.o
	for table := range f.g.tables() {
		var write func(dir string) error
		if p := records[table]; p != nil && len(p.items) > 0 {
			put, gone := p.sorted()
			write = func(dir string) error {
				return writeTable(ctx, dir, f.g.schema.Tables[table], len(put), values(p.all(put)), gone, nil, o)
			}
		}
		if table == edgesName && len(triples.items) > 0 {
			put, gone := triples.sorted()
			write = func(dir string) error { return writeEdges(ctx, dir, triples.all(put), gone, o) }
		}
		if write != nil {
			if err := f.push(table, len(f.stacks[table].segments), write); err != nil {
				return err
			}
		}
		for {
			from := f.stacks[table].crowded(o.SegmentRows, all)
			if from < 0 {
				break
			}
			if err := f.merge(ctx, table, from); err != nil {
				return err
			}
		}
	}
	return nil
}

// push writes a segment and puts it on the first of a stack.
func (f *flush) push(table string, on int, write func(dir string) error) error {
	n := f.g.number()
	dir := f.g.folder(n)
	err := os.RemoveAll(dir)
	if err == nil {
		err = write(dir)
	}
	if err == nil { // that it is there, as well as what is in it
		err = errors.Join(flat.SyncDir(dir), flat.SyncDir(filepath.Dir(dir)))
	}
	var s *segment
	if err == nil {
		s, err = f.g.openSegment(table, n)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	f.made = append(f.made, s)
	f.stacks[table], err = f.stacks[table].push(on, s)
	return err
}

// crowded is the first of the segments at the top that should be one; -1 if there are
// none. They are small, so that what is merged is hardly larger than large. All merges
// whatever is small, and what is mostly dead.
func (s *stack) crowded(large int, all bool) int {
	top, small := len(s.segments), max(1, large/fan)
	below := func(rows int) (from int) {
		for from = top; from > 0 && s.segments[from-1].len() < rows; from-- {
		}
		return from
	}
	for rows := least; rows < small*fan; rows *= fan {
		if from := below(min(rows, small)); top-from >= fan {
			return from
		}
	}
	if !all {
		return -1
	}
	for i := range s.segments {
		if 2*s.dead[i].count() > s.segments[i].len() {
			return i
		}
	}
	if from := below(small); top-from > 1 || top-from == 1 && s.wasteful(from) {
		return from
	}
	return -1
}

// wasteful tells whether a segment holds what nobody reads.
func (s *stack) wasteful(i int) bool {
	return s.dead[i].count() > 0 || i == 0 && s.segments[i].gone.len() > 0
}

// merge replaces the segments from one on by one of what lives of them.
func (f *flush) merge(ctx context.Context, table string, from int) error {
	old := f.stacks[table]
	top := &stack{segments: old.segments[from:], dead: old.dead[from:]}
	n := 0
	var gone []string
	for i, s := range top.segments {
		n += s.len() - top.dead[i].count()
		if from > 0 {
			for j := range s.gone.len() {
				gone = append(gone, s.gone.at(j))
			}
		}
	}
	slices.Sort(gone)
	gone = slices.Compact(gone)
	o := f.g.o
	return f.push(table, from, func(dir string) error {
		if table == edgesName {
			return writeEdges(ctx, dir, top.triples(""), gone, o)
		}
		words := func(dir string) error { return bm25.MergeOrdered(ctx, dir, top.order()...) }
		return writeTable(ctx, dir, f.g.schema.Tables[table], n, values(top.records("")), gone, words, o)
	})
}

// order are the indexes of words, and the rows that what lives has when it is one
// segment.
func (s *stack) order() []bm25.Part {
	parts := make([]bm25.Part, len(s.segments))
	for i, segment := range s.segments {
		parts[i] = bm25.Part{Index: segment.words, Numbers: slices.Repeat([]int32{-1}, segment.len())}
	}
	row := int32(0)
	s.after("", func(i, old int) bool {
		parts[i].Numbers[old] = row
		row++
		return true
	})
	return parts
}

// records are those that live, with an id greater than after.
func (s *stack) records(after string) iter.Seq2[string, store.Record] {
	return func(yield func(string, store.Record) bool) {
		s.after(after, func(i, row int) bool {
			r := s.segments[i].record(row)
			return yield(r.ID, r)
		})
	}
}

// triples are those that live, with an id greater than after.
func (s *stack) triples(after string) iter.Seq2[string, store.Triple] {
	return func(yield func(string, store.Triple) bool) {
		s.after(after, func(i, row int) bool { return yield(s.segments[i].ids.at(row), s.segments[i].triple(row)) })
	}
}

// show makes the new state that of the generation, durably.
func (f *flush) show(old *view) error {
	now := parts{}
	for table, s := range f.stacks {
		for _, segment := range s.segments {
			now[table] = append(now[table], segment.number)
		}
	}
	shown := map[*segment]bool{}
	for _, s := range f.stacks {
		for _, segment := range s.segments {
			shown[segment] = true
		}
	}
	err := f.g.commit(f.g, now, func() {
		for _, s := range old.stacks {
			for _, segment := range s.segments {
				segment.dropped.Store(!shown[segment])
			}
		}
		f.g.mu.Lock()
		defer f.g.mu.Unlock()
		f.g.view = newView(f.stacks)
	})
	if err != nil {
		return err
	}
	// What was made and merged at once, and what nobody reads any more. A folder that
	// cannot be removed now is removed when the store is opened.
	for _, segment := range f.made {
		if !shown[segment] {
			_, _ = segment.close(), os.RemoveAll(segment.dir)
		}
	}
	_ = old.release()
	return nil
}

// undo removes what was made for nothing.
func (f *flush) undo() error {
	var errs []error
	for _, s := range f.made {
		errs = append(errs, s.close(), os.RemoveAll(s.dir))
	}
	return errors.Join(errs...)
}
