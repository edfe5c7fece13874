// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Each worker analyzes one batch of this many bytes of text. More batches would spread better over
// busy processors, but every batch builds its own vocabulary.
const (
	leastBytes = 1 << 20
	mostBytes  = 1 << 26
)

// Build indexes the texts of the chunks, and their titles where the options
// say so. Documents of the index are positions in chunks. Work is spread over
// GOMAXPROCS goroutines; the index does not depend on their number. A
// cancelled build returns the context's error.
func Build(ctx context.Context, chunks []graphrag.Chunk, o Options) (*Index, error) {
	return build(ctx, len(chunks), func(i int) (string, string) { return chunks[i].Title, chunks[i].Text }, o, mostBytes)
}

// BuildTexts is [Build] for texts without titles.
func BuildTexts(ctx context.Context, texts []string, o Options) (*Index, error) {
	return BuildList(ctx, text.Strings(texts), o)
}

// BuildList is [BuildTexts] for texts that are generated when they are read. Each is read at
// most twice.
func BuildList(ctx context.Context, texts text.List, o Options) (*Index, error) {
	return build(ctx, texts.Len(), func(i int) (string, string) { return "", texts.At(i) }, o, mostBytes)
}

// build indexes n texts that at returns, in batches of about the given size at most.
func build(ctx context.Context, n int, at func(i int) (title, text string), o Options, most int) (*Index, error) {
	o, err := o.resolve()
	if err != nil {
		return nil, err
	}
	if n > math.MaxInt32 {
		return nil, fmt.Errorf("bm25: build: %d texts: split them over several indexes of at most %d", n, math.MaxInt32)
	}
	batches, err := analyze(ctx, n, at, o, most)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	ix, err := invert(ctx, n, batches, o)
	if err != nil {
		return nil, fmt.Errorf("bm25: build: %w", err)
	}
	return ix, nil
}

// batch is the analysis of a run of documents. Terms are numbered within the
// batch, in the order of their first appearance.
type batch struct {
	first    uint32   // document
	lengths  []uint32 // of the documents, in terms
	terms    *text.Vocabulary
	found    partitions        // the postings, until they are in order
	starts   []uint32          // where those of each partition begin in postings
	postings []posting         // term by term
	ends     []uint32          // ends[t] is where the postings of term t end
	large    map[uint64]uint32 // frequencies of largeTF and more, by key, documents from the first
}

// room allocates the postings in the order of their terms.
func (b *batch) room() {
	b.starts, b.ends = b.found.starts(), make([]uint32, b.terms.Len())
	b.postings = make([]posting, b.starts[len(b.found.of)])
}

// order sorts the postings of a partition by term.
func (b *batch) order(i int) {
	b.found.byTerm(i, b.starts[i], b.postings, b.ends)
	b.found.of[i] = partition{}
}

// analyze cuts the documents into batches and analyzes them concurrently.
func analyze(ctx context.Context, n int, at func(int) (string, string), o Options, most int) ([]*batch, error) {
	starts, share := cut(n, at, most)
	batches := make([]*batch, len(starts)-1)
	err := par.Each(ctx, len(batches), 0, func(b int) error {
		a := newAnalysis(ctx, o, starts[b], share/bytesOfPosting)
		for i := starts[b]; i < starts[b+1]; i++ {
			a.document(at(i))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		batches[b] = a.done()
		if batches[b].room(); b < len(batches)-par.Workers(0) { // the last ones while their terms are numbered
			for i := range batches[b].found.of {
				batches[b].order(i)
			}
			batches[b].found = partitions{}
		}
		return nil
	})
	return batches, err
}

// measured limits how many texts are sampled to estimate the sizes of batches: a text.List may
// generate a text on every read.
const measured = 1 << 8

// cut returns where the batches of documents start, and n, and about how many bytes they have:
// as many as if those between the measured ones were of their lengths.
func cut(n int, at func(int) (string, string), most int) (starts []int, share int) {
	step := n/measured + 1
	sizes := make([]int, 0, min(n, measured))
	total := 0
	for i := 0; i < n; i += step {
		_, body := at(i)
		sizes = append(sizes, step*len(body))
		total += step * len(body)
	}
	share = min(max(total/par.Workers(0), leastBytes), most)
	size := share
	for i, s := range sizes {
		if size >= share || (i+1)*step-starts[len(starts)-1] > mostBatch {
			starts, size = append(starts, i*step), 0
		}
		size += s
	}
	return append(starts, n), min(share, total)
}

// analysis is the state of analyzing a batch.
type analysis struct {
	batch
	titleWeight uint32
	numbers     *text.Numbering
	ctx         context.Context
	count       func(terms []int32) bool // countTerms, bound once
	last        []uint64                 // document, from 1, of each term, behind words without one, and where it was found
	seen        []found                  // in the document
	distinct    int                      // how many these are
	weight      uint32                   // what the word being read counts
}

// found is a term with its frequency in a document.
type found struct {
	term int32
	tf   uint32
}

// bytesOfPosting estimates the bytes of text per posting, to size buffers: 8 in short passages of
// web pages, 14 in long ones.
const bytesOfPosting = 8

func newAnalysis(ctx context.Context, o Options, first, postings int) *analysis {
	a := &analysis{ctx: ctx, numbers: text.NewNumbering(o.Analyzer), titleWeight: uint32(o.TitleWeight)}
	a.batch = batch{first: uint32(first), terms: a.numbers.Terms(), large: map[uint64]uint32{}, found: newPartitions(postings)}
	a.count = a.countTerms
	return a
}

// document adds one document.
func (a *analysis) document(title, body string) {
	a.weight = 1
	a.numbers.Text(body, a.count)
	if a.titleWeight > 0 {
		a.weight = a.titleWeight
		a.numbers.Text(title, a.count)
	}
	doc, length := uint32(len(a.lengths)), uint32(0)
	a.found.reach(a.terms.Len())
	for i, f := range a.seen[:a.distinct] {
		a.seen[i].tf = 0
		if f.term < 0 {
			continue
		}
		length += f.tf
		if f.tf >= largeTF {
			a.large[key(int(f.term), doc)] = f.tf
		}
		a.found.add(uint32(f.term), posting(doc<<tfBits|min(f.tf, largeTF)))
	}
	a.lengths, a.distinct = append(a.lengths, length), 0
}

// countTerms counts terms of the document. It stops when the context has ended, since a
// document may be large.
func (a *analysis) countTerms(terms []int32) bool {
	doc := uint64(len(a.lengths)) + 1
	a.last = atLeast(a.last, a.terms.Len()+1)
	a.seen = atLeast(a.seen, a.distinct+len(terms))
	last, all, n, weight := a.last, a.seen, uint64(a.distinct), a.weight
	for _, t := range terms { // branch-free: whether a term repeats is unpredictable
		was := last[t+1]
		again := ((was>>32 ^ doc) - 1) >> 63 // 1 in the same document
		at := n ^ (n^was&math.MaxUint32)&-again
		last[t+1] = doc<<32 | at
		f := &all[at]
		f.term = t
		f.tf += weight
		n += 1 - again
	}
	a.distinct = int(n)
	return a.ctx.Err() == nil
}

// atLeast grows a list to at least the given length.
func atLeast[T any](list []T, n int) []T {
	if n <= len(list) {
		return list
	}
	list = slices.Grow(list, max(n-len(list), len(list)))
	return list[:cap(list)]
}

// done returns the batch without its working memory.
func (a *analysis) done() *batch {
	b := a.batch
	return &b
}

// posting is a document, numbered from the first of its batch, and the frequency of a term
// in tfBits bits: largeTF stands for a frequency that is stored apart.
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

// newPartitions has room for about that many postings.
func newPartitions(postings int) partitions {
	return partitions{free: make([]uint64, postings), room: postings}
}

// reach makes partitions for a number of terms.
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
