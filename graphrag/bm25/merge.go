// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
)

// Merge writes the documents of all parts, in the order of the parts, as one index into a folder, which [Open]
// reads. It needs memory for a few numbers per document and for the postings of one term, so a corpus that does
// not fit into memory can be built in parts. The parts must have the same options; they stay open. A failed
// merge leaves a folder without an index.
func Merge(ctx context.Context, dir string, parts ...*Index) error {
	numbered := make([]Part, len(parts))
	first := 0
	for i, ix := range parts {
		numbers := make([]int32, ix.Len())
		for d := range numbers {
			numbers[d] = int32(first + d)
		}
		numbered[i] = Part{ix, numbers}
		first += len(numbers)
	}
	return MergeOrdered(ctx, dir, numbered...)
}

// Part is an index to be merged, with the new numbers of its documents.
type Part struct {
	Index *Index
	// Numbers are the documents' numbers in the merged index, ascending; -1 omits a document.
	Numbers []int32
}

// MergeOrdered is [Merge] with the documents in the order of their numbers, and without omitted ones: the
// folder equals the folder of an index of these texts in this order. The numbers of all parts together are 0 to
// n-1 for some n, each once.
func MergeOrdered(ctx context.Context, dir string, parts ...Part) error {
	lengths, err := merges(parts)
	if err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	w, err := flat.Create(dir, folderKind, folderVersion)
	if err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	m := &merging{Index: newIndex(parts[0].Index.options, nil, lengths), w: w}
	meta, err := m.run(ctx, parts)
	if err != nil {
		return errors.Join(fmt.Errorf("bm25: merge: %w", err), w.Abort())
	}
	if err := w.Close(meta); err != nil {
		return fmt.Errorf("bm25: merge: %w", err)
	}
	return nil
}

// merges returns the lengths of the documents of the merged index, or an error if the indexes cannot be merged.
func merges(parts []Part) (lengths []uint32, err error) {
	if len(parts) == 0 {
		return nil, errors.New("no index to merge")
	}
	indexes := make([]*Index, len(parts))
	for i, p := range parts {
		indexes[i] = p.Index
	}
	if err := alike(indexes); err != nil {
		return nil, err
	}
	return renumberedLengths(parts)
}

// merging is an index that is written to a folder term by term.
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

func (m *merging) run(ctx context.Context, parts []Part) (folderMeta, error) {
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

// flushAt is the number of postings that are buffered before they are written.
const flushAt = 1 << 22

// looked is the number of terms that are merged between two checks of the context.
const looked = 1 << 8

// terms writes the postings of all terms, in the order of the terms.
func (m *merging) terms(ctx context.Context, parts []Part) error {
	from := newCursors(parts)
	var g gathered
	for n := 0; ; n++ {
		if n%looked == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if more, err := g.next(from); err != nil || !more {
			return err
		}
		if len(g.docs) == 0 {
			continue // all documents that contain the term are omitted
		}
		m.arena.Append(g.term...)
		m.ends.Append(m.arena.Len())
		m.addTerm(g.docs, g.tfs)
		if len(m.Index.docs)+len(m.Index.columns) > flushAt {
			if m.flush(); m.w.Err() != nil {
				return m.w.Err()
			}
		}
	}
}

// flush writes the buffered postings.
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

// renumberedLengths returns the lengths of the documents in the order of their new numbers.
func renumberedLengths(parts []Part) (lengths []uint32, err error) {
	n := 0
	for i, p := range parts {
		if len(p.Numbers) != p.Index.Len() {
			return nil, fmt.Errorf("index %d has %d documents and %d numbers, want one number for each", i+1, p.Index.Len(), len(p.Numbers))
		}
		last := int32(-1)
		for d, number := range p.Numbers {
			if number == -1 {
				continue
			}
			if number <= last {
				return nil, fmt.Errorf("index %d: document %d has the number %d after %d: numbers must ascend from 0 on, and -1 omits a document", i+1, d, number, last)
			}
			last = number
			n++
		}
	}
	lengths = make([]uint32, n)
	taken := make([]uint64, (n+63)/64)
	for i, p := range parts {
		for d, number := range p.Numbers {
			if number < 0 {
				continue
			}
			if int(number) >= n {
				return nil, fmt.Errorf("index %d: document %d has the number %d, but the numbers of the %d documents are 0 to %d", i+1, d, number, n, n-1)
			}
			if taken[number>>6]&(1<<(number&63)) != 0 {
				return nil, fmt.Errorf("index %d: document %d has the number %d, which a document of another index has", i+1, d, number)
			}
			taken[number>>6] |= 1 << (number & 63)
			lengths[number] = p.Index.lengths[d]
		}
	}
	return lengths, nil
}

// gathered is a term with its postings in the merged index.
type gathered struct {
	term      []byte
	docs, tfs []uint32
	keys      []uint64 // sort's buffer: document and frequency of each posting
}

// next gathers the postings of the first term at any cursor, if there is one, and advances the cursors at that
// term. There are no postings if all documents that contain the term are omitted.
func (g *gathered) next(from []cursor) (more bool, err error) {
	g.docs, g.tfs = g.docs[:0], g.tfs[:0]
	for i := range from {
		if term, ok := from[i].term(); ok && (!more || bytes.Compare(term, g.term) < 0) {
			g.term, more = append(g.term[:0], term...), true
		}
	}
	for i := range from {
		c := &from[i]
		if term, ok := c.term(); !ok || !bytes.Equal(term, g.term) {
			continue
		}
		if !g.add(c.Index, c.id(), c.Numbers) {
			return false, fmt.Errorf("%w: the postings of the term %.40q are damaged; build the index again", ErrFolder, g.term)
		}
		c.at++
	}
	if !slices.IsSorted(g.docs) {
		g.sort()
	}
	return more, nil
}

// sort sorts the postings by document.
func (g *gathered) sort() {
	g.keys = g.keys[:0]
	for i, d := range g.docs {
		g.keys = append(g.keys, uint64(d)<<32|uint64(g.tfs[i]))
	}
	slices.Sort(g.keys)
	for i, k := range g.keys {
		g.docs[i], g.tfs[i] = uint32(k>>32), uint32(k)
	}
}

// add appends the postings of a term of one index, with new document numbers. It returns false for damaged
// ones.
func (g *gathered) add(ix *Index, term int, numbers []int32) bool {
	if !ix.sound(term) {
		return false
	}
	e, at := ix.entries[term], len(g.docs)
	g.docs, g.tfs = slices.Grow(g.docs, int(e.df)), slices.Grow(g.tfs, int(e.df))
	docs, tfs := g.docs[:at+int(e.df)], g.tfs[:at+int(e.df)]
	if e.blocks == 0 {
		n := len(ix.lengths)
		for d, small := range ix.columns[int(e.first)*n : (int(e.first)+1)*n] {
			if small != 0 && numbers[d] >= 0 {
				if at == len(docs) {
					return false
				}
				docs[at], tfs[at] = uint32(numbers[d]), ix.exact(small, term, uint32(d))
				at++
			}
		}
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		base := ix.blocks[b].window << windowBits
		for i, end := ix.span(b); i < end; i++ {
			doc := base | uint32(ix.docs[i])
			if int(doc) >= len(numbers) {
				return false
			}
			if number := numbers[doc]; number >= 0 {
				docs[at], tfs[at] = uint32(number), ix.exact(ix.tfs[i], term, doc)
				at++
			}
		}
	}
	g.docs, g.tfs = docs[:at], tfs[:at]
	return true
}

// cursor iterates over the terms of an index in alphabetical order.
type cursor struct {
	Part
	order []int32 // numbers of the terms in alphabetical order; nil if that is 0, 1, 2 …
	at    int
}

// id returns the number of the current term.
func (c *cursor) id() int {
	if c.order != nil {
		return int(c.order[c.at])
	}
	return c.at
}

// term returns the current term, false at the end.
func (c *cursor) term() (term []byte, ok bool) {
	if c.at == c.Index.terms.Len() {
		return nil, false
	}
	return c.Index.terms.At(c.id()), true
}

func newCursors(parts []Part) []cursor {
	all := make([]cursor, len(parts))
	for i, p := range parts {
		all[i].Part = p
		if terms := p.Index.terms; p.Index.folder == nil {
			order := make([]int32, terms.Len())
			for t := range order {
				order[t] = int32(t)
			}
			slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(terms.At(int(a)), terms.At(int(b))) })
			all[i].order = order
		}
	}
	return all
}
