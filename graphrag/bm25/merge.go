// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// Merge writes the documents of all parts, those of the first before those of the
// second and so on, as one index into a folder that [Open] opens. It needs memory
// for the lengths of all documents and for the longest list of one word, so a corpus
// that does not fit into memory is built part by part. The parts must have the same
// options. They are not closed. A merge that fails leaves a folder without an index.
func Merge(ctx context.Context, dir string, parts ...*Index) error {
	if err := merges(parts); err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	w, err := flat.Create(dir, folderKind, folderVersion)
	if err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	var lengths []uint32
	for _, p := range parts {
		lengths = append(lengths, p.lengths...)
	}
	m := &merging{Index: newIndex(parts[0].options, nil, lengths), w: w}
	meta, err := m.run(ctx, parts)
	if err != nil {
		return errors.Join(fmt.Errorf("bm25: merge: %w", err), w.Abort())
	}
	if err := w.Close(meta); err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	return nil
}

// merges tells whether indexes can be merged.
func merges(parts []*Index) error {
	if len(parts) == 0 {
		return errors.New("no index to merge")
	}
	settings := func(ix *Index) string {
		o := ix.options
		return fmt.Sprintf("k1 %g, b %g, titles %d, analyzer %s", o.K1, o.B, o.TitleWeight, o.Analyzer.Name())
	}
	total := 0
	for i, p := range parts {
		if a, b := settings(parts[0]), settings(p); a != b {
			return fmt.Errorf("index %d has other options than the first: %s and %s", i+1, b, a)
		}
		total += p.Len()
	}
	if total > math.MaxInt32 {
		return fmt.Errorf("%d documents: split them over several indexes of at most %d", total, math.MaxInt32)
	}
	return nil
}

// merging is an index that goes to a folder term by term.
type merging struct {
	*Index
	w       *flat.Writer
	lengths flat.Array[uint32]
	arena   flat.Array[byte]
	ends    flat.Array[int]
	entries flat.Array[entry]
	blocks  flat.Array[block]
	docs    flat.Array[uint16]
	tfs     flat.Array[uint8]
	columns flat.Array[uint8]
	maxima  flat.Array[float32]
}

func (m *merging) run(ctx context.Context, parts []*Index) (folderMeta, error) {
	var errs []error
	array(m.w, "lengths", &m.lengths, &errs)
	array(m.w, "terms", &m.arena, &errs)
	array(m.w, "ends", &m.ends, &errs)
	array(m.w, "entries", &m.entries, &errs)
	array(m.w, "blocks", &m.blocks, &errs)
	array(m.w, "docs", &m.docs, &errs)
	array(m.w, "tfs", &m.tfs, &errs)
	array(m.w, "columns", &m.columns, &errs)
	array(m.w, "maxima", &m.maxima, &errs)
	if len(errs) > 0 {
		return folderMeta{}, errors.Join(errs...)
	}
	m.lengths.Append(m.Index.lengths...)
	if err := m.terms(ctx, parts); err != nil {
		return folderMeta{}, err
	}
	m.finish()
	m.flush()
	o := m.options
	meta := folderMeta{K1: o.K1, B: o.B, TitleWeight: o.TitleWeight, Analyzer: o.Analyzer.Name()}
	for k, tf := range m.large {
		meta.Large = append(meta.Large, [3]uint32{uint32(k >> 32), uint32(k), tf})
	}
	slices.SortFunc(meta.Large, func(a, b [3]uint32) int { return slices.Compare(a[:], b[:]) })
	return meta, m.w.Err()
}

func array[T any](w *flat.Writer, name string, a *flat.Array[T], errs *[]error) {
	var err error
	if *a, err = flat.NewArray[T](w, name); err != nil {
		*errs = append(*errs, err)
	}
}

// flushAt is how many postings are held before they are written.
const flushAt = 1 << 22

// terms writes the postings of all terms, in the order of the terms.
func (m *merging) terms(ctx context.Context, parts []*Index) error {
	from := make([]cursor, len(parts))
	first := uint32(0)
	for i, p := range parts {
		from[i] = newCursor(p, first)
		first += uint32(p.Len())
	}
	var docs, tfs []uint32
	for n := 0; ; n++ {
		term, ok := least(from)
		if !ok {
			return nil
		}
		docs, tfs = docs[:0], tfs[:0]
		for i := range from {
			if c := &from[i]; !c.done() && bytes.Equal(c.term(), term) {
				docs, tfs = c.append(docs, tfs)
				c.at++
			}
		}
		m.arena.Append(term...)
		m.ends.Append(m.arena.Len())
		m.addTerm(docs, tfs)
		if len(m.Index.docs)+len(m.Index.columns) > flushAt || n%(1<<16) == 0 {
			if err := errors.Join(ctx.Err(), m.w.Err()); err != nil {
				return err
			}
			m.flush()
		}
	}
}

// flush writes what is held.
func (m *merging) flush() {
	ix := m.Index
	m.entries.Append(ix.entries...)
	m.blocks.Append(ix.blocks...)
	m.docs.Append(ix.docs...)
	m.tfs.Append(ix.tfs...)
	m.columns.Append(ix.columns...)
	m.maxima.Append(ix.maxima...)
	ix.written.docs += uint64(len(ix.docs))
	ix.written.terms += len(ix.entries)
	ix.written.blocks += uint32(len(ix.blocks))
	if windows := ix.windows(); windows > 0 {
		ix.written.columns += uint32(len(ix.maxima) / windows)
	}
	ix.entries, ix.blocks, ix.docs, ix.tfs = ix.entries[:0], ix.blocks[:0], ix.docs[:0], ix.tfs[:0]
	ix.columns, ix.maxima = ix.columns[:0], ix.maxima[:0]
}

// cursor goes through the terms of an index in their order.
type cursor struct {
	ix    *Index
	order []int32 // of the terms; nil if they are in order
	at    int
	first uint32 // number of its first document in the whole
}

func newCursor(ix *Index, first uint32) cursor {
	c := cursor{ix: ix, first: first}
	if ix.folder == nil {
		c.order = make([]int32, ix.terms.Len())
		for i := range c.order {
			c.order[i] = int32(i)
		}
		slices.SortFunc(c.order, func(a, b int32) int { return bytes.Compare(ix.terms.At(int(a)), ix.terms.At(int(b))) })
	}
	return c
}

func (c *cursor) done() bool { return c.at == c.ix.terms.Len() }

// id is the number of the term.
func (c *cursor) id() int {
	if c.order != nil {
		return int(c.order[c.at])
	}
	return c.at
}

func (c *cursor) term() []byte { return c.ix.terms.At(c.id()) }

// append adds the postings of the term.
func (c *cursor) append(docs, tfs []uint32) (_, _ []uint32) {
	c.ix.postings(c.id(), func(doc, tf uint32) {
		docs, tfs = append(docs, c.first+doc), append(tfs, tf)
	})
	return docs, tfs
}

// least is the first term of all that are left.
func least(from []cursor) (term []byte, ok bool) {
	for i := range from {
		if c := &from[i]; !c.done() && (!ok || bytes.Compare(c.term(), term) < 0) {
			term, ok = c.term(), true
		}
	}
	return term, ok
}
