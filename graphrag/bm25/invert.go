// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"maps"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// invert numbers the terms over all batches, in the order of their first
// appearance, and turns the postings from document order to term order.
func invert(ctx context.Context, n int, batches []*batch, o Options) (*Index, error) {
	terms, ends, next := number(batches)
	lengths := make([]uint32, 0, n)
	first := make([]uint32, len(batches)) // document of each batch
	for i, b := range batches {
		first[i] = uint32(len(lengths))
		lengths = append(lengths, b.lengths...)
	}
	total := 0
	if len(ends) > 0 {
		total = ends[len(ends)-1]
	}
	docs, tfs := make([]uint32, total), make([]uint32, total)
	err := par.Each(ctx, len(batches), 0, func(i int) error {
		batches[i].scatter(first[i], next[i], docs, tfs)
		batches[i] = nil
		return ctx.Err()
	})
	if err != nil {
		return nil, err
	}
	ix := newIndex(o, terms, lengths)
	return ix, ix.fill(ctx, ends, docs, tfs)
}

// number numbers the terms over all batches: those of the first keep their numbers. It
// returns where the postings of each end in all, and where those of each term of a batch begin.
func number(batches []*batch) (terms *text.Vocabulary, ends []int, next [][]int) {
	terms = text.NewVocabulary()
	global := make([][]int32, len(batches))
	for i, b := range batches {
		n := b.terms.Len()
		if i == 0 {
			terms = b.terms
		}
		global[i] = make([]int32, n)
		for t := range global[i] {
			id := t
			if i > 0 {
				id, _ = terms.Add(b.terms.At(t))
			}
			if id >= len(ends) {
				ends = append(ends, 0)
			}
			global[i][t] = int32(id)
			ends[id] += int(b.counts[t])
		}
	}
	begin := make([]int, len(ends))
	total := 0
	for t, df := range ends {
		begin[t] = total
		total += df
		ends[t] = total
	}
	next = make([][]int, len(batches))
	for i, b := range batches {
		next[i] = make([]int, len(global[i]))
		for t, id := range global[i] {
			next[i][t] = begin[id]
			begin[id] += int(b.counts[t])
		}
		b.terms, b.counts = nil, nil
	}
	return terms, ends, next
}

// scatter writes the postings of a batch to where those of their terms are.
func (b *batch) scatter(doc uint32, next []int, docs, tfs []uint32) {
	start := 0
	for _, end := range b.ends {
		for _, p := range b.postings[start:end] {
			i := next[p.term]
			next[p.term] = i + 1
			docs[i], tfs[i] = doc, p.tf
		}
		start = end
		doc++
	}
}

// fillAt is how many postings one worker takes at a time.
const fillAt = 1 << 18

// fill adds the postings of all terms. Ranges of terms are filled by several workers, each
// where its own begin in the whole.
func (ix *Index) fill(ctx context.Context, ends []int, docs, tfs []uint32) error {
	starts := []int{0} // terms where ranges begin
	for t := 0; t < len(ends); {
		t = max(t+1, sort.SearchInts(ends, begin(ends, t)+fillAt))
		starts = append(starts, min(t, len(ends)))
	}
	parts, sizes := make([]inverted, len(starts)-1), make([]size, len(starts)-1)
	each := func(do func(i, from, to int)) error {
		return par.Each(ctx, len(parts), 0, func(i int) error { do(i, starts[i], starts[i+1]); return ctx.Err() })
	}
	err := each(func(i, from, to int) {
		for t := from; t < to; t++ {
			sizes[i].add(docs[begin(ends, t):ends[t]], len(ix.lengths))
		}
	})
	if err != nil {
		return err
	}
	ix.carve(parts, starts, sizes)
	err = each(func(i, from, to int) {
		for t := from; t < to; t++ {
			parts[i].addTerm(docs[begin(ends, t):ends[t]], tfs[begin(ends, t):ends[t]])
		}
	})
	for i := range parts {
		maps.Copy(ix.large, parts[i].large)
	}
	ix.finish()
	return err
}

// begin is where the list of a term begins that ends at ends[t].
func begin(ends []int, t int) int {
	if t == 0 {
		return 0
	}
	return ends[t-1]
}

// size is how much terms take of an index.
type size struct{ docs, blocks, columns int }

// add counts a term whose documents, of n, are ascending.
func (s *size) add(docs []uint32, n int) {
	if dense(len(docs), n) {
		s.columns++
		return
	}
	s.docs += len(docs)
	for i, d := range docs {
		if i == 0 || d>>windowBits != docs[i-1]>>windowBits {
			s.blocks++
		}
	}
}

// carve makes room for ranges of terms that take so much, and makes each an index of its
// own there.
func (ix *Index) carve(parts []inverted, starts []int, sizes []size) {
	var all size
	for _, s := range sizes {
		all = size{all.docs + s.docs, all.blocks + s.blocks, all.columns + s.columns}
	}
	n, windows := len(ix.lengths), ix.windows()
	ix.entries, ix.blocks = make([]entry, starts[len(parts)]), make([]block, all.blocks, all.blocks+1)
	ix.docs, ix.tfs = make([]uint16, all.docs), make([]uint8, all.docs)
	ix.columns, ix.maxima = make([]uint8, all.columns*n), make([]float32, all.columns*windows)
	var at size
	for i, s := range sizes {
		to := size{at.docs + s.docs, at.blocks + s.blocks, at.columns + s.columns}
		parts[i] = inverted{
			lengths: ix.lengths, norms: ix.norms, large: map[uint64]uint32{},
			written: written{docs: uint64(at.docs), terms: starts[i], blocks: uint32(at.blocks), columns: uint32(at.columns)},
			entries: room(ix.entries, starts[i], starts[i+1]), blocks: room(ix.blocks, at.blocks, to.blocks),
			docs: room(ix.docs, at.docs, to.docs), tfs: room(ix.tfs, at.docs, to.docs),
			columns: room(ix.columns, at.columns*n, to.columns*n), maxima: room(ix.maxima, at.columns*windows, to.columns*windows),
		}
		at = to
	}
}

// room is an empty list in a part of another.
func room[T any](list []T, from, to int) []T { return list[from:from:to] }
