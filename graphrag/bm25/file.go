// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// A file holds k1 and b, the title weight, the analyzer's name, the lengths of the
// documents, the terms, and the postings of each term, lists behind their lengths.
// A posting is twice the distance from the document before, plus 1 if the
// frequency is above 1, which then follows less 2.
const (
	kind    = "WGBM25"
	version = 2
)

// ErrFormat is wrapped by the errors of [Read] about bytes that are not an index,
// not whole, or not of a version that is known.
var ErrFormat = codec.ErrFormat

// WriteTo writes the index. Equal indexes give equal bytes. It implements
// [io.WriterTo].
func (ix *Index) WriteTo(w io.Writer) (int64, error) {
	out := codec.NewWriter(w, kind, version)
	out.Float64(ix.options.K1)
	out.Float64(ix.options.B)
	out.Uint(uint64(ix.options.TitleWeight))
	out.String(ix.options.Analyzer.Name())
	out.Uint(uint64(len(ix.lengths)))
	for _, l := range ix.lengths {
		out.Uint(uint64(l))
	}
	out.Uint(uint64(ix.terms.Len()))
	for t := range ix.terms.Len() {
		out.Bytes(ix.terms.At(t))
	}
	ix.encoded(func(postings []byte) { _, _ = out.Write(postings) }) // an error sticks
	n, err := out.Close()
	if err != nil {
		return n, fmt.Errorf("bm25: write index: %w", err)
	}
	return n, nil
}

// encoded yields the postings of all terms in order, as they are in a file. Ranges of terms are
// encoded while one before them is yielded.
func (ix *Index) encoded(yield func(postings []byte)) {
	var starts []int
	postings := encodeAt
	for t, e := range ix.entries {
		if postings >= encodeAt {
			starts, postings = append(starts, t), 0
		}
		postings += int(e.df)
	}
	starts = append(starts, len(ix.entries))
	encoded := make([][]byte, par.Workers(0))
	var turns par.Chain // two of each range: it waits for the first, and ends with the second
	_ = par.Ranges(context.Background(), len(starts)-1, 1, len(encoded), func(worker, i, _ int) error {
		b := encoded[worker][:0]
		for t := starts[i]; t < starts[i+1]; t++ {
			b = ix.appendPostings(b, t)
		}
		encoded[worker] = b
		turns.Add(2*i, 0)
		yield(b)
		turns.Add(2*i+1, 0)
		return nil
	}) // which never fails
}

// encodeAt is how many postings are held by each processor before they are written.
const encodeAt = 1 << 16

// mostBytesOfPosting are those of two numbers of 32 bits.
const mostBytesOfPosting = 2 * binary.MaxVarintLen32

func (ix *Index) appendPostings(dst []byte, term int) []byte {
	e, next := ix.entries[term], uint32(0)
	dst = binary.AppendUvarint(dst, uint64(e.df))
	n := len(dst)
	dst = slices.Grow(dst, int(e.df)*mostBytesOfPosting)
	dst = dst[:cap(dst)]
	if e.blocks == 0 {
		docs := len(ix.lengths)
		for d, small := range ix.columns[int(e.first)*docs : (int(e.first)+1)*docs] {
			if small != 0 {
				n += putPosting(dst[n:], uint32(d)-next, ix.exact(small, term, uint32(d)))
				next = uint32(d) + 1
			}
		}
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		start, end := ix.span(b)
		docs, tfs, first := ix.docs[start:end], ix.tfs[start:end], ix.blocks[b].window<<windowBits
		for i, doc := range docs {
			d := first | uint32(doc)
			n += putPosting(dst[n:], d-next, ix.exact(tfs[i], term, d))
			next = d + 1
		}
	}
	return dst[:n]
}

// putPosting writes a frequency and how many documents were left out before it, and returns
// how many bytes they take.
func putPosting(dst []byte, gap, tf uint32) int {
	more := uint32(0)
	if tf > 1 {
		more = 1
	}
	if gap < 1<<6 && tf < 1<<7+2 { // mostly, and without a branch on more
		dst[0], dst[1] = byte(gap<<1|more), byte(tf-2)
		return 1 + int(more)
	}
	n := binary.PutUvarint(dst, uint64(gap)<<1|uint64(more))
	if more > 0 {
		n += binary.PutUvarint(dst[n:], uint64(tf-2))
	}
	return n
}

// Read reads an index that [Index.WriteTo] wrote, and not a byte more. The analyzer
// must be that of the index; nil means [text.Default]. Bytes that are not an index
// give an error that wraps [ErrFormat], and never take more memory than in
// proportion to what was read.
func Read(r io.Reader, a text.Analyzer) (*Index, error) {
	in := codec.NewReader(r, kind, version)
	ix, err := read(in, a)
	if err == nil {
		err = in.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("bm25: read index: %w", err)
	}
	return ix, nil
}

// maxText is the longest name or term of a file.
const maxText = math.MaxInt32

func read(in *codec.Reader, a text.Analyzer) (*Index, error) {
	o, err := Options{K1: in.Float64(), B: in.Float64(), TitleWeight: int(in.Uint(maxTitleWeight)), Analyzer: a}.resolve()
	if err != nil {
		in.Fail("%w", err)
	}
	if name := string(in.Bytes(nil, maxText)); in.Err() == nil && name != o.Analyzer.Name() {
		return nil, fmt.Errorf("its analyzer is %q, this one %q: read it with the other, or build it again", name, o.Analyzer.Name())
	}
	var lengths []uint32
	for n := in.Uint(math.MaxInt32); n > 0 && in.Err() == nil; n-- {
		lengths = append(lengths, uint32(in.Uint(math.MaxUint32)))
	}
	terms := text.NewVocabulary()
	var word []byte
	for n := in.Uint(math.MaxInt32); n > 0 && in.Err() == nil; n-- {
		word = in.Bytes(word[:0], maxText)
		if _, added := terms.Add(word); !added {
			in.Fail("term %q is there twice", word)
		}
	}
	if in.Err() != nil {
		return nil, in.Err()
	}
	ix := newIndex(o, terms, lengths)
	var docs, tfs []uint32
	for range terms.Len() {
		if docs, tfs = readPostings(in, docs[:0], tfs[:0], uint64(len(lengths))); in.Err() != nil {
			return nil, in.Err()
		}
		ix.addTerm(docs, tfs)
	}
	ix.finish()
	return ix, nil
}

func readPostings(in *codec.Reader, docs, tfs []uint32, documents uint64) (_, _ []uint32) {
	df := in.Uint(documents)
	if df == 0 {
		in.Fail("a term without documents")
	}
	for next := uint64(0); df > 0 && in.Err() == nil; df-- {
		x, tf := in.Uint(math.MaxUint32), uint64(1)
		if x&1 != 0 {
			tf = in.Uint(math.MaxUint32-2) + 2
		}
		doc := next + x>>1
		if doc >= documents {
			in.Fail("document %d of %d", doc, documents)
			break
		}
		docs, tfs = append(docs, uint32(doc)), append(tfs, uint32(tf))
		next = doc + 1
	}
	return docs, tfs
}
