// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// A file holds the analyzer's name, the numbers of texts, of terms and of
// dimensions, the document frequency of each term before the term, and the
// projection term by term.
const (
	kind    = "WGLSA"
	version = 2
	maxDim  = 1 << 16
	maxTerm = 1 << 24 // bytes
	// maxValue is far above what a fit can give, 1/√σ, and far below what
	// could make a vector overflow.
	maxValue = 1e6
)

// ErrFormat is wrapped by the errors of [ReadLSA] for data that is not a model, or
// not a whole one.
var ErrFormat = codec.ErrFormat

// WriteTo writes the model. Equal models give equal bytes. It implements
// [io.WriterTo].
func (m *LSA) WriteTo(w io.Writer) (int64, error) {
	out := codec.NewWriter(w, kind, version)
	v := m.vocabulary
	out.String(m.analyzer.Name())
	out.Uint(uint64(v.texts))
	out.Uint(uint64(v.terms.Len()))
	out.Uint(uint64(m.dim))
	for i, df := range v.df {
		out.Uint(uint64(df))
		out.Bytes(v.terms.At(i))
	}
	out.Float32s(m.projection)
	n, err := out.Close()
	if err != nil {
		return n, fmt.Errorf("embed: write LSA: %w", err)
	}
	return n, nil
}

// sign names the model for its bytes. The sum is not that of the file itself,
// which is the same for all files that end with their own.
func (m *LSA) sign() {
	sum := crc32.NewIEEE()
	_, _ = m.WriteTo(sum) // a hash takes everything
	m.name = fmt.Sprintf("lsa-%d-%08x", m.dim, sum.Sum32())
}

// ReadLSA reads a model that WriteTo wrote, and not a byte more. Workers and
// Analyzer are not saved: they are those of opts, whose other fields are ignored,
// and an analyzer of another name than that of the model is an error. Damaged data
// gives an error that wraps [ErrFormat] and costs no more memory than a small
// multiple of what was really read.
func ReadLSA(r io.Reader, opts LSAOptions) (*LSA, error) {
	opts, err := opts.resolve(0)
	if err != nil {
		return nil, err
	}
	in := codec.NewReader(r, kind, version)
	m, err := readLSA(in, opts)
	if err == nil {
		err = in.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("embed: read LSA: %w", err)
	}
	m.sign()
	return m, nil
}

func readLSA(in *codec.Reader, opts LSAOptions) (*LSA, error) {
	if name := string(in.Bytes(nil, maxTerm)); in.Err() == nil && name != opts.Analyzer.Name() {
		return nil, fmt.Errorf("its analyzer is %q, this one %q: read it with the other, or fit it again", name, opts.Analyzer.Name())
	}
	v := &vocabulary{terms: text.NewVocabulary(), texts: int(in.Uint(math.MaxInt32))}
	terms, dim := int(in.Uint(math.MaxInt32)), int(in.Uint(maxDim))
	if dim < 1 {
		in.Fail("dimension %d", dim)
	}
	var term []byte
	for i := 0; i < terms && in.Err() == nil; i++ {
		df := in.Uint(uint64(v.texts))
		term = in.Bytes(term[:0], maxTerm)
		if !v.add(term, int32(df)) || df < 1 {
			in.Fail("term %q is in %d texts, or there twice", term, df)
		}
	}
	m := newLSA(v, opts)
	m.dim = dim
	row := make([]float32, dim)
	for i := 0; i < terms && in.Err() == nil; i++ {
		in.Float32s(row)
		for _, x := range row {
			if !(x >= -maxValue && x <= maxValue) {
				in.Fail("component %v of term %d", x, i)
			}
		}
		m.projection = append(m.projection, row...)
	}
	return m, in.Err()
}
