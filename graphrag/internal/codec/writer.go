// SPDX-License-Identifier: Apache-2.0

package codec

import (
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
)

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

// Float64 writes a number in eight bytes.
func (w *Writer) Float64(x float64) {
	w.buf = binary.LittleEndian.AppendUint64(w.buf, math.Float64bits(x))
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
