// SPDX-License-Identifier: Apache-2.0

// Package codec writes and reads binary files that notice damage.
//
// A file begins with eight bytes, seven that name its kind and one for the
// version of its format. Blocks of up to 64 KiB follow: the length as uint32, the
// bytes, and the CRC-32C of the file up to there; a block of no bytes ends it.
// What the blocks hold is for the caller to say. All is little-endian.
//
// A [Reader] reads a file and not a byte more, trusts no block before its checksum
// is found right, and takes no more memory than in proportion to what it has
// read. Errors of both kinds stick: only that of the last call needs to be checked.
package codec

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// ErrFormat is wrapped by the errors for bytes that are not a file of the kind,
// not whole, damaged, or of another version.
var ErrFormat = errors.New("not a valid file")

const (
	blockBytes = 1 << 16
	kindBytes  = 7
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is what a file of a kind begins with.
func header(kind string, version byte) []byte {
	b := make([]byte, kindBytes+1)
	copy(b[:kindBytes], kind)
	b[kindBytes] = version
	return b
}

// Reader reads a file that a [Writer] wrote. After an error all that is read is
// zero or nothing.
type Reader struct {
	r    io.Reader
	buf  []byte // a block
	rest []byte // what is unread of it
	sum  uint32
	err  error
}

// NewReader begins to read a file.
func NewReader(r io.Reader, kind string, version byte) *Reader {
	in := &Reader{r: r}
	want := header(kind, version)
	switch got := in.raw(len(want)); {
	case in.err != nil:
	case string(got[:kindBytes]) != string(want[:kindBytes]):
		in.Fail("it begins with %q", got)
	case got[kindBytes] != version:
		in.Fail("its format has the version %d, this program reads %d", got[kindBytes], version)
	}
	in.sum = crc32.Checksum(want, castagnoli)
	return in
}

// raw reads n bytes, which are valid until it is called again.
func (r *Reader) raw(n int) []byte {
	if cap(r.buf) < n {
		r.buf = make([]byte, n)
	}
	r.buf = r.buf[:n]
	if r.err != nil {
		return r.buf
	}
	if _, err := io.ReadFull(r.r, r.buf); errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		r.Fail("it ends too early")
	} else if err != nil {
		r.err = err
	}
	return r.buf
}

// next reads a block and returns how many bytes it has.
func (r *Reader) next() int {
	length := r.raw(lengthBytes)
	n := binary.LittleEndian.Uint32(length)
	if r.sum = crc32.Update(r.sum, castagnoli, length); n > blockBytes {
		r.Fail("a block of %d bytes", n)
	}
	if r.err != nil {
		return 0
	}
	block := r.raw(int(n) + crc32.Size)
	block, sum := block[:n], binary.LittleEndian.Uint32(block[n:])
	if r.sum = crc32.Update(r.sum, castagnoli, block); r.err == nil && sum != r.sum {
		r.Fail("the checksum of a block is %08x, it says %08x", r.sum, sum)
	}
	if r.err != nil {
		return 0
	}
	r.rest = block
	return len(block)
}

// fill tells whether there is a byte to read.
func (r *Reader) fill() bool {
	if len(r.rest) > 0 {
		return true
	}
	if r.err == nil && r.next() == 0 {
		r.Fail("it holds less than it says")
	}
	return r.err == nil
}

// read fills b.
func (r *Reader) read(b []byte) {
	for len(b) > 0 && r.fill() {
		n := copy(b, r.rest)
		b, r.rest = b[n:], r.rest[n:]
	}
	clear(b)
}

// Uint reads a number of at most limit.
func (r *Reader) Uint(limit uint64) (x uint64) {
	for shift := 0; ; shift += 7 {
		if !r.fill() {
			return 0
		}
		b := r.rest[0]
		r.rest = r.rest[1:]
		if shift == 63 && b > 1 {
			r.Fail("a number of more than 64 bits")
			return 0
		}
		x |= uint64(b&0x7F) << shift
		if b < 0x80 {
			break
		}
	}
	if x > limit {
		r.Fail("%d where at most %d can be", x, limit)
		return 0
	}
	return x
}

// Float32s fills xs with numbers of four bytes each.
func (r *Reader) Float32s(xs []float32) {
	for i := range xs {
		if len(r.rest) >= 4 {
			xs[i] = math.Float32frombits(binary.LittleEndian.Uint32(r.rest))
			r.rest = r.rest[4:]
			continue
		}
		var b [4]byte
		r.read(b[:])
		xs[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
	}
}

// Bytes appends a string of at most limit bytes to dst.
func (r *Reader) Bytes(dst []byte, limit int) []byte {
	for n := r.Uint(uint64(limit)); n > 0 && r.fill(); {
		part := r.rest[:min(n, uint64(len(r.rest)))]
		dst = append(dst, part...)
		n, r.rest = n-uint64(len(part)), r.rest[len(part):]
	}
	return dst
}

// Fail notes what is wrong with what was read.
func (r *Reader) Fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: "+format, append([]any{ErrFormat}, args...)...)
	}
	r.rest = nil
}

// Err returns the first error.
func (r *Reader) Err() error { return r.err }

// Close reads the end of the file, which must be here, and returns the first
// error.
func (r *Reader) Close() error {
	if r.err == nil && (len(r.rest) > 0 || r.next() > 0) {
		r.Fail("it holds more than it says")
	}
	return r.err
}

// Writer writes a file.
type Writer struct {
	w       io.Writer
	buf     []byte // a block in the making, behind its length
	sum     uint32
	written int64
	err     error
}

const lengthBytes = 4

// NewWriter begins a file; the kind has up to seven bytes.
func NewWriter(w io.Writer, kind string, version byte) *Writer {
	out := &Writer{w: w, buf: make([]byte, lengthBytes, blockBytes+1<<10)}
	out.summed(header(kind, version))
	return out
}

func (w *Writer) summed(b []byte) {
	w.sum = crc32.Update(w.sum, castagnoli, b)
	w.write(b)
}

func (w *Writer) write(b []byte) {
	if w.err == nil {
		var n int
		n, w.err = w.w.Write(b)
		w.written += int64(n)
	}
}

// flush writes a block of what has been collected.
func (w *Writer) flush() {
	n := min(len(w.buf)-lengthBytes, blockBytes)
	binary.LittleEndian.PutUint32(w.buf, uint32(n))
	w.summed(w.buf[:lengthBytes+n])
	w.write(binary.LittleEndian.AppendUint32(nil, w.sum))
	w.buf = append(w.buf[:lengthBytes], w.buf[lengthBytes+n:]...)
}

func (w *Writer) flushFull() {
	if len(w.buf) >= lengthBytes+blockBytes {
		w.flush()
	}
}

// Uint writes a number in one to ten bytes, fewer for small ones.
func (w *Writer) Uint(x uint64) {
	w.buf = binary.AppendUvarint(w.buf, x)
	w.flushFull()
}

// Float32s writes numbers of four bytes each, without their count.
func (w *Writer) Float32s(xs []float32) {
	for _, x := range xs {
		w.buf = binary.LittleEndian.AppendUint32(w.buf, math.Float32bits(x))
		w.flushFull()
	}
}

// Bytes writes a string of bytes behind its length.
func (w *Writer) Bytes(b []byte) {
	w.Uint(uint64(len(b)))
	_, _ = w.Write(b) // an error sticks
}

// String writes a string behind its length.
func (w *Writer) String(s string) { w.Bytes([]byte(s)) }

// Write writes bytes as they are. It implements [io.Writer].
func (w *Writer) Write(b []byte) (int, error) {
	for rest := b; len(rest) > 0; {
		n := min(len(rest), blockBytes)
		w.buf = append(w.buf, rest[:n]...)
		w.flushFull()
		rest = rest[n:]
	}
	return len(b), w.err
}

// Close ends the file and returns how many bytes it has, and the first error.
func (w *Writer) Close() (int64, error) {
	if len(w.buf) > lengthBytes {
		w.flush()
	}
	w.flush()
	return w.written, w.err
}
