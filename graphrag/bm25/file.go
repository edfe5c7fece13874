// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The file: magic and version; then, under the checksum, k1 and b (float64,
// little endian), title weight, the analyzer's language and switches, the
// lengths of the documents, the terms, and the postings of each term; then the
// checksum, CRC-32C, little endian. Integers are varints, strings and lists
// have their length in front. A posting is twice the distance from the document
// before, plus 1 if the frequency is above 1, which then follows less 2.

// magic begins every file; its last byte is the version of the format.
const magic = "WGBM25\x00\x01"

// ErrFormat is wrapped by the errors of [ReadIndex] about bytes that are not an
// index, not whole, or not of a version that is known.
var ErrFormat = errors.New("not a valid index file")

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Switches of the analyzer.
const (
	noStems = 1 << iota
	noStopWords
	noBigrams
	noMarks
)

// flushBytes is how much is written or read at once.
const flushBytes = 1 << 16

// WriteTo writes the index. It implements [io.WriterTo].
func (ix *Index) WriteTo(w io.Writer) (int64, error) {
	e := encoder{w: w, buf: make([]byte, 0, 2*flushBytes)}
	e.buf = append(e.buf, magic...)
	e.flush()
	e.sum = 0
	o, a := ix.options, ix.options.Analyzer.Options()
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(o.K1))
	e.buf = binary.LittleEndian.AppendUint64(e.buf, math.Float64bits(o.B))
	e.uint(uint64(o.TitleWeight))
	e.bytes([]byte(a.Language))
	e.uint(on(a.NoStems, noStems) | on(a.NoStopWords, noStopWords) | on(a.NoBigrams, noBigrams) | on(a.NoMarks, noMarks))
	e.uint(uint64(len(ix.lengths)))
	for _, l := range ix.lengths {
		e.uint(uint64(l))
	}
	e.uint(uint64(ix.terms.len()))
	for t := range ix.terms.len() {
		e.bytes(ix.terms.at(t))
	}
	for t := range ix.entries {
		e.uint(uint64(ix.entries[t].df))
		next := uint32(0)
		ix.postings(t, func(doc, tf uint32) {
			if tf == 1 {
				e.uint(uint64(doc-next) << 1)
			} else {
				e.uint(uint64(doc-next)<<1 | 1)
				e.uint(uint64(tf - 2))
			}
			next = doc + 1
		})
	}
	e.flush()
	e.buf = binary.LittleEndian.AppendUint32(e.buf, e.sum)
	e.flush()
	if e.err != nil {
		return e.written, fmt.Errorf("bm25: write index: %w", e.err)
	}
	return e.written, nil
}

// on returns the bit of a switch that is on.
func on(is bool, bit uint64) uint64 {
	if is {
		return bit
	}
	return 0
}

// postings yields the documents of a term in order.
func (ix *Index) postings(term int, yield func(doc, tf uint32)) {
	e := ix.entries[term]
	if e.blocks == 0 {
		n := len(ix.lengths)
		for d, small := range ix.columns[int(e.first)*n : (int(e.first)+1)*n] {
			if small != 0 {
				yield(uint32(d), ix.exact(small, term, uint32(d)))
			}
		}
		return
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		start, end := ix.span(b)
		for i := start; i < end; i++ {
			d := ix.blocks[b].window<<windowBits | uint32(ix.docs[i])
			yield(d, ix.exact(ix.tfs[i], term, d))
		}
	}
}

// encoder appends to a buffer and keeps the checksum of what was written.
type encoder struct {
	w       io.Writer
	buf     []byte
	sum     uint32
	written int64
	err     error
}

func (e *encoder) uint(x uint64) {
	e.buf = binary.AppendUvarint(e.buf, x)
	if len(e.buf) >= flushBytes {
		e.flush()
	}
}

func (e *encoder) bytes(b []byte) {
	e.uint(uint64(len(b)))
	e.buf = append(e.buf, b...)
}

func (e *encoder) flush() {
	e.sum = crc32.Update(e.sum, castagnoli, e.buf)
	if e.err == nil {
		var n int
		n, e.err = e.w.Write(e.buf)
		e.written += int64(n)
	}
	e.buf = e.buf[:0]
}

// ReadIndex reads an index that [Index.WriteTo] wrote. It may read ahead of
// the index's end. Bytes that are not an index give an error that wraps
// [ErrFormat], and never take more memory than in proportion to what was read.
func ReadIndex(r io.Reader) (*Index, error) {
	d := decoder{r: r, buf: make([]byte, flushBytes)}
	ix, err := d.index()
	if err != nil {
		return nil, fmt.Errorf("bm25: read index: %w", err)
	}
	return ix, nil
}

// decoder reads through a buffer. The first error sticks, and everything read
// after it is zero.
type decoder struct {
	r          io.Reader
	buf        []byte
	start, end int // unread part of buf
	summed     int // bytes of buf before this are in sum
	sum        uint32
	err        error
}

func (d *decoder) index() (*Index, error) {
	if string(d.next(len(magic))) != magic {
		d.fail("it does not begin with %q", magic)
	}
	d.sum, d.summed = 0, d.start
	o := d.options()
	lengths := d.lengths()
	terms := d.terms()
	if d.err != nil {
		return nil, d.err
	}
	ix := newIndex(o, terms, lengths)
	var docs, tfs []uint32
	for range terms.len() {
		if docs, tfs = d.postings(docs[:0], tfs[:0], len(lengths)); d.err != nil {
			return nil, d.err
		}
		ix.addTerm(docs, tfs)
	}
	ix.finish()
	d.checksum()
	return ix, d.err
}

func (d *decoder) options() Options {
	float := func() float64 { return math.Float64frombits(binary.LittleEndian.Uint64(d.next(8))) }
	o := Options{K1: float(), B: float(), TitleWeight: int(d.uint(maxTitleWeight))}
	language := text.Language(d.bytes(nil))
	switches := d.uint(noStems | noStopWords | noBigrams | noMarks)
	if d.err != nil {
		return o
	}
	analyzer, err := text.New(text.Options{
		Language: language, NoStems: switches&noStems != 0, NoStopWords: switches&noStopWords != 0,
		NoBigrams: switches&noBigrams != 0, NoMarks: switches&noMarks != 0,
	})
	if err != nil {
		d.fail("%w", err)
		return o
	}
	o.Analyzer = analyzer
	if o, err = o.resolve(); err != nil {
		d.fail("%w", err)
	}
	return o
}

func (d *decoder) lengths() (lengths []uint32) {
	for n := d.uint(math.MaxInt32); n > 0 && d.err == nil; n-- {
		lengths = append(lengths, uint32(d.uint(math.MaxUint32)))
	}
	return lengths
}

func (d *decoder) terms() *vocabulary {
	terms := newVocabulary()
	var word []byte
	for n := d.uint(math.MaxInt32); n > 0 && d.err == nil; n-- {
		word = d.bytes(word[:0])
		if _, added := terms.add(word); !added {
			d.fail("term %q is there twice", word)
		}
	}
	return terms
}

func (d *decoder) postings(docs, tfs []uint32, documents int) (_, _ []uint32) {
	df := d.uint(uint64(documents))
	if df == 0 {
		d.fail("a term without documents")
	}
	for next := uint64(0); df > 0 && d.err == nil; df-- {
		x, tf := d.uint(math.MaxUint32), uint64(1)
		if x&1 != 0 {
			tf = d.uint(math.MaxUint32-2) + 2
		}
		doc := next + x>>1
		if doc >= uint64(documents) {
			d.fail("document %d of %d", doc, documents)
			break
		}
		docs, tfs = append(docs, uint32(doc)), append(tfs, uint32(tf))
		next = doc + 1
	}
	return docs, tfs
}

func (d *decoder) checksum() {
	d.add()
	if want, got := d.sum, binary.LittleEndian.Uint32(d.next(4)); d.err == nil && got != want {
		d.fail("the checksum is %08x, the file says %08x", want, got)
	}
}

// fail keeps the first error.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: "+format+": build the index again", append([]any{ErrFormat}, args...)...)
	}
}

// add brings the checksum up to what was consumed.
func (d *decoder) add() {
	d.sum = crc32.Update(d.sum, castagnoli, d.buf[d.summed:d.start])
	d.summed = d.start
}

// need makes n unread bytes available, n being far below the buffer's size.
func (d *decoder) need(n int) bool {
	if d.end-d.start >= n {
		return true
	}
	if d.err != nil {
		return false
	}
	d.add()
	copy(d.buf, d.buf[d.start:d.end])
	d.start, d.end, d.summed = 0, d.end-d.start, 0
	read, err := io.ReadAtLeast(d.r, d.buf[d.end:], n-d.end)
	d.end += read
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		d.fail("it ends too early")
	} else if err != nil && d.err == nil {
		d.err = err
	}
	return d.err == nil
}

// next returns the next n bytes, valid until the next call.
func (d *decoder) next(n int) []byte {
	if !d.need(n) {
		return make([]byte, n)
	}
	b := d.buf[d.start : d.start+n]
	d.start += n
	return b
}

// uint reads a varint of at most limit.
func (d *decoder) uint(limit uint64) (x uint64) {
	for shift := 0; ; shift += 7 {
		if d.start == d.end && !d.need(1) {
			return 0
		}
		b := d.buf[d.start]
		d.start++
		if shift == 63 && b > 1 {
			d.fail("a number of more than 64 bits")
			return 0
		}
		x |= uint64(b&0x7F) << shift
		if b < 0x80 {
			break
		}
	}
	if x > limit {
		d.fail("%d where at most %d can be", x, limit)
		return 0
	}
	return x
}

// bytes appends a string to dst.
func (d *decoder) bytes(dst []byte) []byte {
	for n := d.uint(math.MaxInt32); n > 0 && d.err == nil; {
		part := d.next(int(min(n, flushBytes/4)))
		dst = append(dst, part...)
		n -= uint64(len(part))
	}
	return dst
}
