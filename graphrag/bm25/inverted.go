// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"maps"
	"math"
	"slices"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Documents are searched in windows of windowSize documents: the sums of a window fit into the first-level
// cache, and a document's number within it into 16 bits.
const (
	windowBits = 13
	windowSize = 1 << windowBits
)

// denseShare decides how the frequencies of a term are stored: if more than 1/denseShare of the documents
// contain it, as a column with a byte for every document, otherwise as a list of documents.
const denseShare = 6

// inverted holds the postings of an index.
type inverted struct {
	options Options
	terms   *text.Vocabulary
	lengths []uint32 // by document: its number of terms
	total   float64  // sum of the lengths of all documents
	average float64
	norms   []float32

	entries []entry   // one entry for each term
	blocks  []block   // of all lists, and one more that marks the end of docs
	docs    []uint16  // lists: document's number in its window
	tfs     []uint8   // lists: term frequency in that document
	columns []uint8   // columns: term frequency in each document
	maxima  []float32 // columns: largest saturation in each window

	large   map[uint64]uint32 // frequencies of largeTF and more by key
	written written
	folder  *flat.Folder // holds the mapped slices; nil if they are in memory
}

// written counts the elements that a merge has written to the folder already.
type written struct {
	docs            uint64
	terms           int
	blocks, columns uint32
}

// entry describes a term: it has a list of blocks, or a column if blocks is 0.
type entry struct {
	df     uint32
	first  uint32 // the list's first block, or the column's number
	blocks uint32
}

// block is the part of a term's list that falls into one window.
type block struct {
	start  uint64 // start in docs and tfs; the end is the next block's start
	window uint32
	max    float32 // largest saturation of the postings
}

// largeTF is the byte of a frequency that is stored in large, because it does not fit a byte.
const largeTF = math.MaxUint8

func newInverted(o Options, terms *text.Vocabulary, lengths []uint32) inverted {
	ix := inverted{options: o, terms: terms, lengths: lengths, large: map[uint64]uint32{}}
	for _, l := range lengths {
		ix.total += float64(l)
	}
	if len(lengths) > 0 {
		ix.average = ix.total / float64(len(lengths))
	}
	ix.norms = ix.normsFor(ix.average)
	return ix
}

// normsFor returns the norms of all documents for an average length, padded to whole windows. None is 0, so
// that a frequency of 0 has the saturation 0.
func (ix *inverted) normsFor(average float64) []float32 {
	norms := make([]float32, ix.windows()*windowSize)
	_ = par.Each(context.Background(), ix.windows(), 0, func(w int) error {
		ix.windowNorms(norms[w*windowSize:][:windowSize], w, average)
		return nil
	}) // the function returns no error
	return norms
}

// norm returns what a document's length adds to the denominator of a saturation, for an average length.
func (o *Options) norm(length uint32, average float64) float32 {
	ratio := 1.0
	if average > 0 {
		ratio = float64(length) / average
	}
	return float32(max(o.K1*(1-o.B+o.B*ratio), Zero))
}

// windows returns the number of windows.
func (ix *inverted) windows() int { return (len(ix.lengths) + windowSize - 1) >> windowBits }

// saturation returns tf/(tf+norm), the part of a score that is below 1.
func saturation(tf, norm float32) float32 { return tf / (tf + norm) }

// dense reports whether a term in df of n documents has a column.
func dense(df, n int) bool { return df*denseShare > n }

// addTerm adds the postings of the next term, in ascending order of documents.
func (ix *inverted) addTerm(docs, tfs []uint32) {
	term := ix.written.terms + len(ix.entries)
	e := entry{df: uint32(len(docs))}
	if dense(len(docs), len(ix.lengths)) {
		e.first = ix.addColumn(term, docs, tfs)
	} else {
		e.first, e.blocks = ix.addList(term, docs, tfs)
	}
	ix.entries = append(ix.entries, e)
}

func (ix *inverted) addList(term int, docs, tfs []uint32) (first, blocks uint32) {
	begin := len(ix.blocks)
	for len(docs) > 0 {
		b := block{start: ix.written.docs + uint64(len(ix.docs)), window: docs[0] >> windowBits}
		norms, n := ix.norms[b.window<<windowBits:][:windowSize], 0
		for ; n < len(docs) && docs[n]>>windowBits == b.window; n++ {
			d, tf := docs[n]%windowSize, tfs[n]
			if s := saturation(float32(tf), norms[d]); s > b.max {
				b.max = s
			}
			ix.docs = append(ix.docs, uint16(d))
			ix.tfs = append(ix.tfs, ix.small(term, docs[n], tf))
		}
		ix.blocks = append(ix.blocks, b)
		docs, tfs = docs[n:], tfs[n:]
	}
	return ix.written.blocks + uint32(begin), uint32(len(ix.blocks) - begin)
}

func (ix *inverted) addColumn(term int, docs, tfs []uint32) (column uint32) {
	n, windows := len(ix.lengths), ix.windows()
	at := len(ix.maxima) / windows
	ix.columns = append(ix.columns, make([]uint8, n)...)
	ix.maxima = append(ix.maxima, make([]float32, windows)...)
	tf, maxima := ix.columns[at*n:], ix.maxima[at*windows:]
	for i, d := range docs {
		tf[d] = ix.small(term, d, tfs[i])
		w := d >> windowBits
		maxima[w] = max(maxima[w], saturation(float32(tfs[i]), ix.norms[d]))
	}
	return ix.written.columns + uint32(at)
}

// small returns the byte for a frequency, and stores in large what does not fit a byte.
func (ix *inverted) small(term int, doc, tf uint32) uint8 {
	if tf < largeTF {
		return uint8(tf)
	}
	ix.large[key(term, doc)] = tf
	return largeTF
}

func key(term int, doc uint32) uint64 { return uint64(term)<<32 | uint64(doc) }

// exact returns the frequency for its byte, which may be largeTF.
func (ix *inverted) exact(small uint8, term int, doc uint32) uint32 {
	if small == largeTF {
		return ix.large[key(term, doc)]
	}
	return uint32(small)
}

// sound reports whether the blocks of a term are consistent with the arrays, since a file may be damaged.
func (ix *inverted) sound(term int) bool {
	e, n, windows := ix.entries[term], uint64(0), uint32(ix.windows())
	if e.blocks == 0 {
		return uint64(e.df) <= uint64(len(ix.lengths))
	}
	if uint64(e.first)+uint64(e.blocks) >= uint64(len(ix.blocks)) {
		return false
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		start, end := ix.span(b)
		if start > end || end > uint64(len(ix.docs)) || end-start > windowSize || ix.blocks[b].window >= windows || b > e.first && ix.blocks[b].window <= ix.blocks[b-1].window {
			return false
		}
		n += end - start
	}
	return n == uint64(e.df)
}

// find returns the number of a term, -1 if it is missing or damaged.
func (ix *inverted) find(term []byte) int32 {
	if t := ix.terms.Find(term); t >= 0 && ix.sound(t) {
		return int32(t)
	}
	return -1
}

// finish appends the block that marks the end of docs.
func (ix *inverted) finish() {
	ix.blocks = append(ix.blocks, block{start: ix.written.docs + uint64(len(ix.docs))})
}

// span returns the range in docs and tfs of a block.
func (ix *inverted) span(b uint32) (start, end uint64) {
	return ix.blocks[b].start, ix.blocks[b+1].start
}

// frequencies writes the frequency of a term in the given documents, which ascend, to dst.
func (ix *inverted) frequencies(term int, docs []int32, dst []uint32) []uint32 {
	dst = append(dst[:0], make([]uint32, len(docs))...)
	e, blockNumber := ix.entries[term], uint32(0)
	for rest := dst; len(docs) > 0; {
		w, n := uint32(docs[0])>>windowBits, 1
		for n < len(docs) && uint32(docs[n])>>windowBits == w {
			n++
		}
		if e.blocks == 0 {
			column := ix.column(e.first, int(w))
			for i, doc := range docs[:n] {
				rest[i] = ix.exact(column[doc&(windowSize-1)], term, uint32(doc))
			}
		} else {
			var ok bool
			if blockNumber, ok = ix.blockIn(e, blockNumber, w); ok {
				ix.listed(rest[:n], docs[:n], e.first+blockNumber, term)
			} else if blockNumber == e.blocks {
				break
			}
		}
		rest, docs = rest[n:], docs[n:]
	}
	return dst
}

// listed writes the frequencies of a term in the given documents, which are in the window of a block, to dst.
func (ix *inverted) listed(dst []uint32, docs []int32, blockNumber uint32, term int) {
	start, end := ix.span(blockNumber)
	list, tfs, at := ix.docs[start:end], ix.tfs[start:end], 0
	for i, doc := range docs {
		d := uint16(doc & (windowSize - 1))
		if at = gallop16(list, at, d); at == len(list) {
			return
		}
		if list[at] == d {
			dst[i] = ix.exact(tfs[at], term, uint32(doc))
		}
	}
}

// blockIn returns the first block of a term in window w or later, counted from the term's first block. The
// search starts at the block from.
func (ix *inverted) blockIn(e entry, from, w uint32) (blockNumber uint32, ok bool) {
	list := ix.blocks[e.first+from : e.first+e.blocks]
	i := sort.Search(len(list), func(i int) bool { return list[i].window >= w })
	return from + uint32(i), i < len(list) && list[i].window == w
}

// gallop16 returns the first index from i on whose element is at least x, in an ascending list.
func gallop16(list []uint16, i int, x uint16) int {
	step := 1
	for i+step <= len(list) && list[i+step-1] < x {
		i += step
		step *= 2
	}
	hi := min(i+step, len(list))
	for i < hi {
		if mid := int(uint(i+hi) >> 1); list[mid] < x {
			i = mid + 1
		} else {
			hi = mid
		}
	}
	return i
}

// invert numbers the terms of all batches, in the order of first occurrence, and joins their postings.
func invert(ctx context.Context, n int, batches []*batch, o Options) (*Index, error) {
	lengths := make([]uint32, 0, n)
	for _, b := range batches {
		lengths = append(lengths, b.lengths...)
	}
	terms, local := numberTerms(batches)
	ix := newIndex(o, terms, lengths)
	return ix, ix.fill(ctx, series{batches, local})
}

// numberTerms numbers the terms of all batches: terms of the first batch keep their numbers. local[b][t] is the
// number of term t in batch b, or -1.
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

// series joins the postings of all batches.
type series struct {
	batches []*batch
	local   [][]int32 // by batch and term: the term's number in the batch, or -1
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

// read appends the postings of a term in all batches.
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

// fillAt is the least number of postings in the range of terms that a worker takes.
const fillAt = 1 << 18

// fill adds the postings of all terms. Workers fill ranges of terms, each at its own offset in the arrays.
func (ix *Index) fill(ctx context.Context, from series) error {
	var starts []int // first term of each range
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
		sizes[i] = s // only once, because workers that write to one cache line delay each other
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

// extent is the number of array elements that a range of terms needs.
type extent struct{ docs, blocks, columns int }

// add counts what one more term needs in an index of n documents.
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

// carve allocates the arrays, and gives each range of terms an index over its part of them.
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

// room returns an empty slice whose capacity is a part of a list.
func room[T any](list []T, from, to int) []T { return list[from:from:to] }
