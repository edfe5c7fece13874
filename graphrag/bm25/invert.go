// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"maps"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// invert numbers the terms over all batches, in the order of their first appearance, and
// joins their postings.
func invert(ctx context.Context, n int, batches []*batch, o Options) (*Index, error) {
	lengths := make([]uint32, 0, n)
	for _, b := range batches {
		lengths = append(lengths, b.lengths...)
	}
	terms, local := numberTerms(batches)
	ix := newIndex(o, terms, lengths)
	return ix, ix.fill(ctx, series{batches, local})
}

// numberTerms numbers the terms of all batches: terms of the first batch keep their numbers. It
// also returns the number of each term in each batch, or -1.
func numberTerms(batches []*batch) (terms *text.Vocabulary, local [][]int32) {
	terms = new(text.Vocabulary)
	global := make([][]int32, len(batches))
	for i, b := range batches {
		if i == 0 {
			terms, global[i] = b.terms, make([]int32, b.terms.Len())
			for t := range global[i] {
				global[i][t] = int32(t)
			}
		} else {
			global[i] = terms.AddAll(b.terms)
		}
		b.terms = nil
	}
	for _, of := range global {
		numbers := slices.Repeat([]int32{-1}, terms.Len())
		for t, id := range of {
			numbers[id] = int32(t)
		}
		local = append(local, numbers)
	}
	return terms, local
}

// series is a sequence of batches.
type series struct {
	batches []*batch
	local   [][]int32 // the number of each term in each batch, or -1
}

// list returns the postings of a term in a batch.
func (s *series) list(batchNumber, term int) []posting {
	b, t := s.batches[batchNumber], s.local[batchNumber][term]
	switch {
	case t < 0:
		return nil
	case t == 0:
		return b.postings[:b.ends[0]]
	}
	return b.postings[b.ends[t-1]:b.ends[t]]
}

// df returns the document frequency of a term.
func (s *series) df(term int) (df int) {
	for i := range s.batches {
		df += len(s.list(i, term))
	}
	return df
}

// read appends the postings of a term.
func (s *series) read(term int, docs, tfs []uint32) (_, _ []uint32) {
	for i, b := range s.batches {
		list := s.list(i, term)
		n := len(docs)
		docs, tfs = slices.Grow(docs, len(list))[:n+len(list)], slices.Grow(tfs, len(list))[:n+len(list)]
		for k, p := range list {
			tf := p.tf()
			if tf == largeTF {
				tf = b.large[key(int(s.local[i][term]), p.doc())]
			}
			docs[n+k], tfs[n+k] = b.first+p.doc(), tf
		}
	}
	return docs, tfs
}

// fillAt is the number of postings that a worker takes at a time.
const fillAt = 1 << 18

// fill adds the postings of all terms. Several workers fill ranges of terms, each at the
// offset of its range.
func (ix *Index) fill(ctx context.Context, from series) error {
	var starts []int // terms where ranges begin
	postings := fillAt
	for t := range ix.terms.Len() {
		if postings >= fillAt {
			starts, postings = append(starts, t), 0
		}
		postings += from.df(t)
	}
	parts, sizes := make([]inverted, len(starts)), make([]extent, len(starts))
	starts = append(starts, ix.terms.Len())
	each := func(do func(i, from, to int)) error {
		return par.Each(ctx, len(parts), 0, func(i int) error { do(i, starts[i], starts[i+1]); return ctx.Err() })
	}
	err := each(func(i, start, end int) {
		var s extent
		for t := start; t < end; t++ {
			s.add(&from, t, len(ix.lengths))
		}
		sizes[i] = s // at last: workers that write side by side wait for each other
	})
	if err != nil {
		return err
	}
	ix.carve(parts, starts, sizes)
	err = each(func(i, start, end int) {
		part := parts[i]
		var docs, tfs []uint32
		for t := start; t < end; t++ {
			docs, tfs = from.read(t, docs[:0], tfs[:0])
			part.addTerm(docs, tfs)
		}
		parts[i] = part
	})
	for i := range parts {
		maps.Copy(ix.large, parts[i].large)
	}
	ix.finish()
	return err
}

// extent is the space that terms take in an index.
type extent struct{ docs, blocks, columns int }

// add counts a term of an index of n documents.
func (s *extent) add(from *series, term, n int) {
	df := from.df(term)
	if dense(df, n) {
		s.columns++
		return
	}
	s.docs += df
	last := uint32(math.MaxUint32)
	for i, b := range from.batches {
		for _, p := range from.list(i, term) {
			window := (b.first + p.doc()) >> windowBits
			if window != last {
				s.blocks++
			}
			last = window
		}
	}
}

// carve allocates ranges of terms of the given sizes and returns an index over each.
func (ix *Index) carve(parts []inverted, starts []int, sizes []extent) {
	var all extent
	for _, s := range sizes {
		all = extent{all.docs + s.docs, all.blocks + s.blocks, all.columns + s.columns}
	}
	n, windows := len(ix.lengths), ix.windows()
	ix.entries, ix.blocks = make([]entry, starts[len(parts)]), make([]block, all.blocks, all.blocks+1)
	ix.docs, ix.tfs = make([]uint16, all.docs), make([]uint8, all.docs)
	ix.columns, ix.maxima = make([]uint8, all.columns*n), make([]float32, all.columns*windows)
	var at extent
	for i, s := range sizes {
		to := extent{at.docs + s.docs, at.blocks + s.blocks, at.columns + s.columns}
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

// room returns an empty list over a part of another list.
func room[T any](list []T, from, to int) []T { return list[from:from:to] }
