// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"
)

// ErrFormat is wrapped by the errors of [Load] for data that is not an index,
// or not a whole one.
var ErrFormat = errors.New("not a vector index file")

// The file: eight bytes of magic with the version, flags, dimension and
// number of rows, the rows without padding, and the CRC-32C of all that.
// Everything is little-endian. Codes are computed again when it is read.
const (
	magic       = "WGVEC\x00\x00\x01"
	headerBytes = len(magic) + 4 + 4 + 8

	flagCosine    = 1 << 0
	flagQuantized = 1 << 1
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the index. Equal indexes give equal bytes. Searches go on
// meanwhile, Add waits.
func (x *Index) Save(w io.Writer) error {
	x.mu.RLock()
	defer x.mu.RUnlock()
	sum := crc32.New(castagnoli)
	out := io.MultiWriter(w, sum)
	var flags uint32
	if x.opts.Cosine {
		flags |= flagCosine
	}
	if x.opts.Quantized {
		flags |= flagQuantized
	}
	buf := append(make([]byte, 0, blockRows*4*x.opts.Dim), magic...)
	buf = binary.LittleEndian.AppendUint32(buf, flags)
	buf = binary.LittleEndian.AppendUint32(buf, uint32(x.opts.Dim))
	buf = binary.LittleEndian.AppendUint64(buf, uint64(x.n))
	for i := range x.n {
		if len(buf) > cap(buf)-4*x.opts.Dim {
			if _, err := out.Write(buf); err != nil {
				return fmt.Errorf("vector: save: %w", err)
			}
			buf = buf[:0]
		}
		for _, c := range x.row(i)[:x.opts.Dim] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(c))
		}
	}
	if _, err := out.Write(buf); err != nil {
		return fmt.Errorf("vector: save: %w", err)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return fmt.Errorf("vector: save: %w", err)
	}
	return nil
}

// Load reads an index that Save wrote, and not a byte more. Workers is not
// saved; it is that of opts, whose other fields are ignored. Damaged data
// gives an error that wraps [ErrFormat] and never costs more memory than
// about four times what was really read.
func Load(r io.Reader, opts Options) (*Index, error) {
	x, err := load(r, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("vector: load: %w", err)
	}
	return x, nil
}

func load(r io.Reader, workers int) (*Index, error) {
	sum := crc32.New(castagnoli)
	in := io.TeeReader(r, sum)
	header := make([]byte, headerBytes)
	if err := readFull(in, header); err != nil {
		return nil, err
	}
	if string(header[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: it starts with %q", ErrFormat, header[:len(magic)])
	}
	flags := binary.LittleEndian.Uint32(header[len(magic):])
	dim := binary.LittleEndian.Uint32(header[len(magic)+4:])
	rows := binary.LittleEndian.Uint64(header[len(magic)+8:])
	if flags&^(flagCosine|flagQuantized) != 0 || dim < 1 || dim > MaxDim || rows > math.MaxInt32 {
		return nil, fmt.Errorf("%w: flags %#x, dimension %d, %d rows", ErrFormat, flags, dim, rows)
	}
	x, err := New(Options{Dim: int(dim), Quantized: flags&flagQuantized != 0, Workers: workers})
	if err != nil {
		return nil, err
	}
	if err := x.read(in, int(rows), flags&flagCosine != 0); err != nil {
		return nil, err
	}
	var want [4]byte
	got := sum.Sum32()
	if err := readFull(r, want[:]); err != nil {
		return nil, err
	}
	if binary.LittleEndian.Uint32(want[:]) != got {
		return nil, fmt.Errorf("%w: checksum does not match", ErrFormat)
	}
	return x, nil
}

// read adds rows as they are: those of an index for cosines have length 1 or
// 0 already and would change if they were scaled again.
func (x *Index) read(in io.Reader, rows int, cosine bool) error {
	dim := x.opts.Dim
	buf := make([]byte, min(rows, blockRows)*4*dim)
	values := make([]float32, len(buf)/4)
	vectors := make([][]float32, 0, blockRows)
	for first := 0; first < rows; first += len(vectors) {
		n := min(rows-first, blockRows)
		if err := readFull(in, buf[:n*4*dim]); err != nil {
			return err
		}
		for i := range values[:n*dim] {
			values[i] = math.Float32frombits(binary.LittleEndian.Uint32(buf[4*i:]))
		}
		vectors = vectors[:0]
		for i := range n {
			v := values[i*dim : (i+1)*dim]
			if length := norm(v); cosine && length != 0 && math.Abs(length-1) > 1e-5 {
				return fmt.Errorf("%w: row %d has length %g, want 1", ErrFormat, first+i, length)
			}
			vectors = append(vectors, v)
		}
		if err := x.Add(vectors...); err != nil {
			return fmt.Errorf("%w: rows from %d on: %w", ErrFormat, first, err)
		}
	}
	x.opts.Cosine = cosine
	return nil
}

func readFull(r io.Reader, buf []byte) error {
	if _, err := io.ReadFull(r, buf); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: it ends early", ErrFormat)
		}
		return err
	}
	return nil
}
