// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// fan is the number of segments of similar size that are merged into one.
const fan = 8

// leastRows is a limit: segments with fewer rows count as equal in size.
const leastRows = 2048

// flush writes pending items as segments, merges segments, and makes the result visible. With all, small
// segments are merged even if there are only two. If it fails, the items are pending again.
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

// restore makes items pending again after a failed flush. Items put meanwhile replace those with the same id.
func (g *generation) restore(records map[string]*pending[store.Record], triples *pending[store.Triple]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for tableName, newer := range g.records {
		records[tableName].update(newer)
	}
	triples.update(g.edges)
	g.records, g.edges = records, triples
}

// flush builds the state of a generation after a flush.
type flush struct {
	g      *generation
	mu     sync.Mutex // guards the fields below
	stacks map[string]*stack
	made   []*segment // segments written, some of them merged again since
}

// write flushes the tables concurrently: most of the time they wait for the disk.
func (f *flush) write(ctx context.Context, records map[string]*pending[store.Record], triples *pending[store.Triple], all bool) error {
	tables := slices.Collect(f.g.tables())
	return par.Each(ctx, len(tables), len(tables), func(i int) error { return f.one(ctx, tables[i], records[tables[i]], triples, all) })
}

func (f *flush) one(ctx context.Context, name string, records *pending[store.Record], triples *pending[store.Triple], all bool) error {
	s, o := f.of(name), f.g.home.store.o
	var write func(dir string) error
	if records != nil {
		if put, h := records.sorted(s.segments); len(put)+len(h) > 0 {
			write = func(dir string) error {
				return writeTable(ctx, dir, f.g.schema.Tables[name], len(put), values(records.all(put)), h, nil, o)
			}
		}
	} else if put, h := triples.sorted(s.segments); len(put)+len(h) > 0 {
		write = func(dir string) error { return writeEdges(ctx, dir, triples.all(put), h, o) }
	}
	if write != nil {
		if err := f.push(name, len(s.segments), write); err != nil {
			return err
		}
	}
	for {
		from := f.of(name).crowded(o.SegmentRows, all)
		if from < 0 {
			return nil
		}
		if err := f.merge(ctx, name, from); err != nil {
			return err
		}
	}
}

func (f *flush) of(name string) *stack {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stacks[name]
}

// push writes a segment, which follows the first on segments of a stack and replaces all later ones.
func (f *flush) push(tableName string, on int, write func(dir string) error) error {
	n := f.g.home.store.number()
	dir := f.g.home.store.folder(n)
	err := os.RemoveAll(dir)
	if err == nil {
		err = write(dir)
	}
	if err == nil { // the entry of the segment in its parent folder has to be durable too
		err = errors.Join(flat.SyncDir(dir), flat.SyncDir(filepath.Dir(dir)))
	}
	var s *segment
	if err == nil {
		s, err = f.g.openSegment(tableName, n)
	}
	if err != nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.made = append(f.made, s)
	f.stacks[tableName] = f.stacks[tableName].push(on, s)
	return nil
}

// crowded returns the index from which on all segments should be merged, or -1. Only small segments are merged,
// so that the result has hardly more rows than large. With all, every small segment is merged, and every
// segment of which most rows are dead.
func (s *stack) crowded(large int, all bool) int {
	top, small := len(s.segments), max(1, large/fan)
	below := func(rows int) (from int) {
		for from = top; from > 0 && s.segments[from-1].len() < rows; from-- {
		}
		return from
	}
	for rows := leastRows; rows < small*fan; rows *= fan {
		if from := below(min(rows, small)); top-from >= fan {
			return from
		}
	}
	above := 0
	for i := top - 1; i >= 0; i-- { // segments with mostly dead rows, unless more rows follow them
		rows := s.segments[i].len()
		if 2*s.dead[i].Len() > rows && (all || rows >= above) {
			return i
		}
		above += rows
	}
	if !all {
		return -1
	}
	if from := below(small); top-from > 1 || top-from == 1 && s.dead[from].Len() > 0 {
		return from
	}
	return -1
}

// merge replaces all segments from the index from onward by a single segment with their live rows.
func (f *flush) merge(ctx context.Context, tableName string, from int) error {
	old := f.of(tableName)
	top := &stack{segments: old.segments[from:], dead: old.dead[from:]}
	n := 0
	for i, s := range top.segments {
		n += s.len() - top.dead[i].Len()
	}
	h, o := hidden(top.segments, old.segments[:from]), f.g.home.store.o
	return f.push(tableName, from, func(dir string) error {
		var err error
		if tableName == edgesName {
			err = writeEdges(ctx, dir, top.triples(""), h, o)
		} else {
			words := func(dir string) error { return bm25.MergeOrdered(ctx, dir, top.order()...) }
			err = writeTable(ctx, dir, f.g.schema.Tables[tableName], n, values(top.records("")), h, words, o)
		}
		return cmp.Or(err, top.err())
	})
}

// order returns the text indexes of the segments, with the row numbers that live rows get by a merge.
func (s *stack) order() []bm25.Part {
	indexes := make([]bm25.Part, len(s.segments))
	for i, seg := range s.segments {
		indexes[i] = bm25.Part{Index: seg.words, Numbers: slices.Repeat([]int32{-1}, seg.len())}
	}
	row := int32(0)
	s.after("", func(i, old int) bool {
		indexes[i].Numbers[old] = row
		row++
		return true
	})
	return indexes
}

// records yields the live records with an id greater than after.
func (s *stack) records(after string) iter.Seq2[string, store.Record] {
	return func(yield func(string, store.Record) bool) {
		s.after(after, func(i, row int) bool {
			r := s.segments[i].record(row)
			return yield(r.ID, r)
		})
	}
}

// triples yields the live triples with an id greater than after.
func (s *stack) triples(after string) iter.Seq2[string, store.Triple] {
	return func(yield func(string, store.Triple) bool) {
		s.after(after, func(i, row int) bool { return yield(s.segments[i].ids.at(row), s.segments[i].triple(row)) })
	}
}

// show commits the new state to the catalog and makes it visible to readers.
func (f *flush) show(old *view) error {
	now := parts{}
	for tableName, s := range f.stacks {
		for _, seg := range s.segments {
			now[tableName] = append(now[tableName], seg.number)
		}
	}
	err := f.g.home.commit(f.g, now, func() {
		f.g.home.store.drop(slices.Concat(f.made, old.segments())...)
		f.g.mu.Lock()
		defer f.g.mu.Unlock()
		f.g.view = newView(f.stacks)
	})
	if err != nil {
		return err
	}
	// A folder that cannot be removed now is removed when the store is next opened.
	_ = release(f.made)
	_ = old.release()
	return nil
}

// undo removes the segments of a failed flush.
func (f *flush) undo() error {
	for _, s := range f.made {
		s.dropped.Store(true)
	}
	return release(f.made)
}

// pending holds the items put since the last flush, by id; nil is a deletion.
type pending[T any] struct {
	items map[string]*T
	bytes int
}

// overhead estimates the memory of an item without its own bytes.
const overhead = 256

func (p *pending[T]) put(id string, item *T, bytes int) {
	if p.items == nil {
		p.items = make(map[string]*T)
	}
	p.items[id] = item
	p.bytes += bytes + overhead
}

// sorted returns the ids of puts, in order, and the rows that puts and deletions hide in the segments below.
func (p *pending[T]) sorted(below []*segment) (put []string, h hides) {
	ids := slices.Sorted(maps.Keys(p.items))
	h = hiding(ids, below)
	return slices.DeleteFunc(ids, func(id string) bool { return p.items[id] == nil }), h
}

// all yields the pending items with the given ids.
func (p *pending[T]) all(ids []string) iter.Seq2[string, T] {
	return func(yield func(string, T) bool) {
		for _, id := range ids {
			if !yield(id, *p.items[id]) {
				return
			}
		}
	}
}

// sizeOf estimates the memory of a record. Its fields are a map, which grows by groups of eight entries.
func sizeOf(r store.Record) int {
	const group = 368
	return len(r.ID) + len(r.Scope) + len(r.Title) + len(r.Text) + 4*len(r.Vector) + len(r.Data) + group*((len(r.Fields)+7)/8)
}

// values yields the values of a sequence without the keys.
func values[T any](all iter.Seq2[string, T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for _, v := range all {
			if !yield(v) {
				return
			}
		}
	}
}

// update adds newer puts and deletions.
func (p *pending[T]) update(newer *pending[T]) {
	for id, item := range newer.items {
		p.put(id, item, 0)
	}
	p.bytes += newer.bytes - overhead*len(newer.items)
}

// writeTable writes a segment of n records in the order of their ids, and the rows that it hides. merge, if
// set, builds the text index from the indexes of other segments.
func writeTable(ctx context.Context, dir string, schema store.TableSchema, n int, records iter.Seq[store.Record], h hides, merge func(dir string) error, o Options) error {
	w, err := flat.Create(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion)
	if err != nil {
		return err
	}
	t := &tableWriter{schema: schema, w: w, merge: merge, fields: map[string]*columnWriter{}}
	err = t.begin(dir, o)
	for r := range records {
		if err == nil && t.row%(1<<10) == 0 {
			err = errors.Join(ctx.Err(), w.Err())
		}
		if err != nil {
			break
		}
		err = t.add(r)
	}
	if err == nil {
		err = t.finish(ctx, dir, o)
	}
	meta := rowsMeta{Fields: t.names()}
	if err == nil {
		meta.Hides, err = h.write(w)
	}
	if err != nil {
		if t.vectors != nil {
			err = errors.Join(err, t.vectors.Abort())
		}
		return errors.Join(err, w.Abort())
	}
	return w.Close(meta)
}

// names returns the names of the fields, in order.
func (t *tableWriter) names() []string { return slices.Sorted(maps.Keys(t.fields)) }

// tableWriter writes a segment of a table, record by record.
type tableWriter struct {
	schema                            store.TableSchema
	w                                 *flat.Writer
	ids, scopes, titles, bodies, data textsWriter
	place, rows                       flat.Array[int32]
	row, vector                       int32 // number of the next row, of the next vector
	vectors                           *vector.Writer
	merge                             func(dir string) error
	chunks                            []graphrag.Chunk
	fields                            map[string]*columnWriter
}

func (t *tableWriter) begin(dir string, o Options) error {
	err := openArrays(t.w, "ids", &t.ids, "scopes", &t.scopes, "titles", &t.titles, "texts", &t.bodies, "data", &t.data)
	if err != nil || t.schema.Dim == 0 {
		return err
	}
	var err1, err2, err3 error
	t.place, err1 = flat.NewArray[int32](t.w, "vectors")
	t.rows, err2 = flat.NewArray[int32](t.w, "vector-rows")
	t.vectors, err3 = vector.Create(filepath.Join(dir, vectorsFolder), vector.Options{
		Dim: t.schema.Dim, Cosine: true, Signs: true})
	return errors.Join(err1, err2, err3)
}

// openArrays creates arrays, given as pairs of a name and a *textsWriter.
func openArrays(w *flat.Writer, pairs ...any) (err error) {
	for i := 0; i < len(pairs) && err == nil; i += 2 {
		*pairs[i+1].(*textsWriter), err = newTexts(w, pairs[i].(string))
	}
	return err
}

func (t *tableWriter) add(r store.Record) error {
	t.ids.append(r.ID)
	t.scopes.append(r.Scope)
	t.titles.append(r.Title)
	t.bodies.append(r.Text)
	t.data.append(string(r.Data))
	for field, v := range r.Fields {
		if t.fields[field] == nil {
			t.fields[field] = &columnWriter{number: map[string]int32{}}
		}
		t.fields[field].add(t.row, v)
	}
	if t.schema.Text && t.merge == nil {
		t.chunks = append(t.chunks, chunk(r))
	}
	if t.vectors != nil {
		if len(r.Vector) == 0 {
			t.place.Append(-1)
		} else {
			add := func(v []float32) error { return t.vectors.Add(v) }
			if t.merge != nil {
				add = t.vectors.AddRow
			}
			if err := add(r.Vector); err != nil {
				return err
			}
			t.place.Append(t.vector)
			t.rows.Append(t.row)
			t.vector++
		}
	}
	t.row++
	return nil
}

func (t *tableWriter) finish(ctx context.Context, dir string, o Options) error {
	for i, field := range t.names() {
		t.fields[field].fill(t.row)
		if err := t.fields[field].write(t.w, columnName(i)); err != nil {
			return err
		}
	}
	if t.schema.Text {
		if err := t.writeWords(ctx, filepath.Join(dir, wordsFolder), o); err != nil {
			return err
		}
	}
	if t.vectors == nil {
		return nil
	}
	vectors := t.vectors
	t.vectors = nil // Close releases the writer even if it fails
	return vectors.Close()
}

func (t *tableWriter) writeWords(ctx context.Context, dir string, o Options) error {
	if t.merge != nil {
		return t.merge(dir)
	}
	words, err := bm25.Build(ctx, t.chunks, settings(t.schema, o))
	if err != nil {
		return err
	}
	return bm25.Merge(ctx, dir, words)
}

// writeEdges writes a segment of triples in the order of their ids, and the rows that it hides.
func writeEdges(ctx context.Context, dir string, all iter.Seq2[string, store.Triple], h hides, o Options) error {
	w, err := flat.Create(filepath.Join(dir, rowsFolder), rowsKind, rowsVersion)
	if err != nil {
		return err
	}
	var ids, sources textsWriter
	var meta rowsMeta
	weights, err := flat.NewArray[float64](w, "weights")
	if err == nil {
		err = openArrays(w, "ids", &ids, "sources", &sources)
	}
	if err == nil {
		meta.Hides, err = h.write(w)
	}
	if err == nil {
		err = triples.Build(ctx, filepath.Join(dir, edgesFolder), func(yield func(triples.Triple, error) bool) {
			for id, t := range all {
				ids.append(id)
				sources.append(t.Source)
				weights.Append(t.Weight)
				if !yield(t.Triple, w.Err()) {
					return
				}
			}
		}, triples.Options{Analyzer: o.Analyzer})
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close(meta)
}
