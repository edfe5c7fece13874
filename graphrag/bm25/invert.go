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

// fill adds the postings of all terms: each range of terms is an index of its own at
// first, which begins where those before it end.
func (ix *Index) fill(ctx context.Context, ends []int, docs, tfs []uint32) error {
	starts := []int{0} // terms where ranges begin
	for t := 0; t < len(ends); {
		done := 0
		if t > 0 {
			done = ends[t-1]
		}
		t = max(t+1, sort.SearchInts(ends, done+fillAt))
		starts = append(starts, min(t, len(ends)))
	}
	parts := make([]inverted, len(starts)-1)
	err := par.Each(ctx, len(parts), 0, func(i int) error {
		p := &parts[i]
		*p = inverted{lengths: ix.lengths, norms: ix.norms, large: map[uint64]uint32{}, written: written{terms: starts[i]}}
		for t := starts[i]; t < starts[i+1]; t++ {
			begin := 0
			if t > 0 {
				begin = ends[t-1]
			}
			p.addTerm(docs[begin:ends[t]], tfs[begin:ends[t]])
		}
		return ctx.Err()
	})
	if err != nil {
		return err
	}
	return ix.join(ctx, parts)
}

// join puts ranges of terms together.
func (ix *Index) join(ctx context.Context, parts []inverted) error {
	type lengths struct{ entries, blocks, docs, columns, maxima int }
	before, n := make([]lengths, len(parts)), lengths{}
	for i := range parts {
		p := &parts[i]
		before[i] = n
		n = lengths{n.entries + len(p.entries), n.blocks + len(p.blocks), n.docs + len(p.docs), n.columns + len(p.columns), n.maxima + len(p.maxima)}
		maps.Copy(ix.large, p.large)
	}
	ix.entries, ix.blocks = make([]entry, n.entries), make([]block, n.blocks, n.blocks+1)
	ix.docs, ix.tfs = make([]uint16, n.docs), make([]uint8, n.docs)
	ix.columns, ix.maxima = make([]uint8, n.columns), make([]float32, n.maxima)
	err := par.Each(ctx, len(parts), 0, func(i int) error {
		p, at := &parts[i], before[i]
		for j, e := range p.entries {
			if e.blocks > 0 {
				e.first += uint32(at.blocks)
			} else {
				e.first += uint32(at.maxima / max(ix.windows(), 1))
			}
			ix.entries[at.entries+j] = e
		}
		for j, b := range p.blocks {
			b.start += uint64(at.docs)
			ix.blocks[at.blocks+j] = b
		}
		copy(ix.docs[at.docs:], p.docs)
		copy(ix.tfs[at.docs:], p.tfs)
		copy(ix.columns[at.columns:], p.columns)
		copy(ix.maxima[at.maxima:], p.maxima)
		*p = inverted{}
		return nil
	})
	ix.finish()
	return err
}
