// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"fmt"
	"io"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
)

// A file holds flags, the dimension, the number of rows, the rows without padding, and
// the graph. Codes are computed again when it is read.
const (
	kind    = "WGVEC"
	version = 2

	flagCosine    = 1 << 0
	flagQuantized = 1 << 1
	flagGraph     = 1 << 2
)

// ErrFormat is wrapped by the errors of [Read] for data that is not an index, or
// not a whole one.
var ErrFormat = codec.ErrFormat

// WriteTo writes the index. Equal indexes give equal bytes. Searches go on
// meanwhile, Add waits. It implements [io.WriterTo].
func (x *Index) WriteTo(w io.Writer) (int64, error) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	var flags uint64
	if x.opts.Cosine {
		flags |= flagCosine
	}
	if x.opts.Quantized {
		flags |= flagQuantized
	}
	if x.graph != nil {
		flags |= flagGraph
	}
	out := codec.NewWriter(w, kind, version)
	out.Uint(flags)
	out.Uint(uint64(x.opts.Dim))
	out.Uint(uint64(x.n))
	for i := range x.n {
		out.Float32s(x.row(i)[:x.opts.Dim])
	}
	if x.graph != nil {
		x.graph.write(out)
	}
	n, err := out.Close()
	if err != nil {
		return n, fmt.Errorf("vector: write: %w", err)
	}
	return n, nil
}

// Read reads an index that WriteTo wrote, and not a byte more. Workers is not saved;
// it is that of opts, whose other fields are ignored. Damaged data gives an error
// that wraps [ErrFormat] and never costs more memory than about four times what was
// really read.
func Read(r io.Reader, opts Options) (*Index, error) {
	in := codec.NewReader(r, kind, version)
	flags, dim, rows := in.Uint(flagCosine|flagQuantized|flagGraph), in.Uint(MaxDim), in.Uint(math.MaxInt32)
	if dim < 1 {
		in.Fail("dimension %d", dim)
	}
	if flags&flagGraph != 0 && flags != flagCosine|flagQuantized|flagGraph {
		in.Fail("a graph without codes of cosines")
	}
	err := in.Err()
	var x *Index
	if err == nil {
		x, err = New(Options{Dim: int(dim), Quantized: flags&flagQuantized != 0, Workers: opts.Workers})
	}
	if err == nil {
		x.opts.Graph = flags&flagGraph != 0
		err = x.read(in, int(rows), flags&flagCosine != 0)
	}
	if err != nil {
		return nil, fmt.Errorf("vector: read: %w", err)
	}
	return x, nil
}

// read adds rows as they are: those of an index for cosines have length 1 or
// 0 already and would change if they were scaled again.
func (x *Index) read(in *codec.Reader, rows int, cosine bool) error {
	v := make([]float32, x.opts.Dim)
	for i := 0; i < rows && in.Err() == nil; i++ {
		in.Float32s(v)
		if length := norm(v); cosine && length != 0 && math.Abs(length-1) > 1e-5 {
			in.Fail("row %d has length %g, want 1", i, length)
		}
		if err := x.Add(v); err != nil {
			in.Fail("row %d: %w", i, err)
		}
	}
	x.opts.Cosine = cosine
	if x.opts.Graph && in.Err() == nil {
		x.graph = readGraph(in, rows)
	}
	return in.Close()
}
