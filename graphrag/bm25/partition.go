// SPDX-License-Identifier: Apache-2.0

package bm25

import "math/bits"

// posting is a document, counted from the first of its batch, and how often a term is there,
// in tfBits: largeTF stands for a frequency that is kept aside.
type posting uint32

const (
	tfBits    = 8
	mostBatch = 1 << (32 - tfBits) // documents
)

func (p posting) doc() uint32 { return uint32(p) >> tfBits }
func (p posting) tf() uint32  { return uint32(p) & largeTF }

// partitions take the postings of a batch document by document. Each has those of a range of
// terms, few enough to be brought into the order of the terms within a cache.
type partitions struct {
	of   []partition
	free []uint64 // for chunks
	room int      // that was made for them
}

// partition has postings in chunks, behind their terms in the higher half.
type partition struct {
	full [][]uint64
	last []uint64
}

// A chunk has twice the postings of the one before, from leastChunk to mostChunk.
const (
	leastChunk = 8
	mostChunk  = 1 << 12
)

// partitionOf is the partition of a term: eight for the terms with numbers from one power of
// two to the next, of which a text has about as many everywhere.
func partitionOf(term uint32) int {
	e := max(bits.Len32(term)-4, 0)
	return 8*e + int(term>>e)
}

// firstOf is the first term of a partition.
func firstOf(partition int) int {
	e := max(partition/8-1, 0)
	return (partition - 8*e) << e
}

// newPartitions has room for about so many postings.
func newPartitions(postings int) partitions {
	return partitions{free: make([]uint64, postings), room: postings}
}

// reach makes partitions for so many terms.
func (p *partitions) reach(terms int) {
	for terms > 0 && partitionOf(uint32(terms-1)) >= len(p.of) {
		p.of = append(p.of, partition{})
	}
}

// add adds a posting of a term.
func (p *partitions) add(term uint32, of posting) {
	to := &p.of[partitionOf(term)]
	if len(to.last) == cap(to.last) {
		p.extend(to)
	}
	to.last = append(to.last, uint64(term)<<32|uint64(of))
}

// extend begins a chunk.
func (p *partitions) extend(to *partition) {
	n := leastChunk
	if cap(to.last) > 0 {
		to.full = append(to.full, to.last)
		n = min(2*cap(to.last), mostChunk)
	}
	if len(p.free) < n {
		p.free = make([]uint64, max(n, min(p.room, 16*mostChunk)))
		p.room += len(p.free)
	}
	to.last, p.free = p.free[:0:n], p.free[n:]
}

// each calls do for the chunks in order.
func (p *partition) each(do func(chunk []uint64)) {
	for _, chunk := range p.full {
		do(chunk)
	}
	do(p.last)
}

// starts are where the postings of each partition begin in the order of all terms, and how many
// there are.
func (p *partitions) starts() []uint32 {
	starts := make([]uint32, 1, len(p.of)+1)
	n := uint32(0)
	for i := range p.of {
		p.of[i].each(func(chunk []uint64) { n += uint32(len(chunk)) })
		starts = append(starts, n)
	}
	return starts
}

// byTerm writes the postings of partition i, which begin at start, in the order of their terms,
// and where those of each end.
func (p *partitions) byTerm(i int, start uint32, postings []posting, ends []uint32) {
	first := firstOf(i)
	next := ends[first:min(firstOf(i+1), len(ends))]
	p.of[i].each(func(chunk []uint64) {
		for _, x := range chunk {
			next[x>>32-uint64(first)]++
		}
	})
	for t, df := range next {
		next[t] = start
		start += df
	}
	p.of[i].each(func(chunk []uint64) {
		for _, x := range chunk {
			to := &next[x>>32-uint64(first)]
			postings[*to] = posting(x)
			*to++
		}
	})
}
