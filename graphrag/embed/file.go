// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// ErrFormat is wrapped by the errors of [LoadLSA] for data that is not a
// model, or not a whole one.
var ErrFormat = errors.New("not an LSA file")

// The file: eight bytes of magic with the version, the length of the header,
// the header as JSON, the vocabulary, the projection term by term, and the
// CRC-32C of all that. Everything is little-endian. A term is its document
// frequency, its length and its bytes.
const (
	magic     = "WGLSA\x00\x00\x01"
	maxHeader = 1 << 12
	maxDim    = 1 << 16
	maxTerm   = 1 << 24 // bytes
	block     = 1 << 16 // bytes read or written at once
	// maxValue is far above what a fit can give, 1/√σ, and far below what
	// could make a vector overflow.
	maxValue = 1e6
)

type header struct {
	Analyzer text.Options `json:"analyzer"`
	Texts    int          `json:"texts"`
	Terms    int          `json:"terms"`
	Dim      int          `json:"dim"`
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Save writes the model. Equal models give equal bytes.
func (m *LSA) Save(w io.Writer) error {
	sum := crc32.New(castagnoli)
	if err := m.write(io.MultiWriter(w, sum)); err != nil {
		return fmt.Errorf("embed: save LSA: %w", err)
	}
	if _, err := w.Write(binary.LittleEndian.AppendUint32(nil, sum.Sum32())); err != nil {
		return fmt.Errorf("embed: save LSA: %w", err)
	}
	return nil
}

// sign gives the model the name its bytes deserve.
func (m *LSA) sign() {
	sum := crc32.New(castagnoli)
	_ = m.write(sum) // a hash takes everything
	m.setName(sum)
}

func (m *LSA) setName(sum hash.Hash32) { m.name = fmt.Sprintf("lsa-%d-%08x", m.dim, sum.Sum32()) }

func (m *LSA) write(w io.Writer) error {
	v := m.vocabulary
	head, err := json.Marshal(header{Analyzer: m.analyzer.Options(), Texts: v.texts, Terms: len(v.terms), Dim: m.dim})
	if err != nil {
		return err
	}
	buf := binary.LittleEndian.AppendUint32([]byte(magic), uint32(len(head)))
	buf = append(buf, head...)
	flush := func(room int) error {
		if len(buf) < room {
			return nil
		}
		_, err := w.Write(buf)
		buf = buf[:0]
		return err
	}
	for i, term := range v.terms {
		buf = binary.LittleEndian.AppendUint32(buf, uint32(v.df[i]))
		buf = binary.LittleEndian.AppendUint32(buf, uint32(len(term)))
		buf = append(buf, term...)
		if err := flush(block); err != nil {
			return err
		}
	}
	for _, x := range m.projection {
		buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		if err := flush(block); err != nil {
			return err
		}
	}
	return flush(1)
}

// LoadLSA reads a model that Save wrote, and not a byte more. Workers is not
// saved; it is that of opts, whose other fields are ignored. Damaged data
// gives an error that wraps [ErrFormat] and costs no more memory than a small
// multiple of what was really read.
func LoadLSA(r io.Reader, opts LSAOptions) (*LSA, error) {
	sum := crc32.New(castagnoli)
	m, err := readLSA(&source{r: io.TeeReader(r, sum)}, opts.Workers)
	if err != nil {
		return nil, fmt.Errorf("embed: load LSA: %w", err)
	}
	m.setName(sum)
	want := &source{r: r}
	if want.uint32() != sum.Sum32() && want.err == nil {
		want.err = fmt.Errorf("%w: checksum does not match", ErrFormat)
	}
	if want.err != nil {
		return nil, fmt.Errorf("embed: load LSA: %w", want.err)
	}
	return m, nil
}

func readLSA(in *source, workers int) (*LSA, error) {
	if start := in.bytes(len(magic)); in.err == nil && string(start) != magic {
		return nil, fmt.Errorf("%w: it starts with %q", ErrFormat, start)
	}
	size := in.uint32()
	if size > maxHeader {
		return nil, fmt.Errorf("%w: header of %d bytes", ErrFormat, size)
	}
	var h header
	decoder := json.NewDecoder(bytes.NewReader(in.bytes(int(size))))
	decoder.DisallowUnknownFields()
	if in.err != nil {
		return nil, in.err
	}
	if err := decoder.Decode(&h); err != nil {
		return nil, fmt.Errorf("%w: header: %w", ErrFormat, err)
	}
	if h.Dim < 1 || h.Dim > maxDim || h.Texts < 0 || h.Texts > math.MaxInt32 || h.Terms < 0 || h.Terms > math.MaxInt32 || workers < 0 {
		return nil, fmt.Errorf("%w: %d texts, %d terms, dimension %d, %d workers", ErrFormat, h.Texts, h.Terms, h.Dim, workers)
	}
	a, err := text.New(h.Analyzer)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	v, err := readVocabulary(in, h)
	if err != nil {
		return nil, err
	}
	m := newLSA(v, a, workers)
	m.dim = h.Dim
	if m.projection = in.floats(h.Terms * h.Dim); in.err != nil {
		return nil, in.err
	}
	return m, nil
}

func readVocabulary(in *source, h header) (*vocabulary, error) {
	var terms []string
	var df []int32
	for i := range h.Terms {
		frequency, size := in.uint32(), in.uint32()
		if in.err == nil && (frequency < 1 || int64(frequency) > int64(h.Texts) || size > maxTerm) {
			return nil, fmt.Errorf("%w: term %d is in %d of %d texts and has %d bytes", ErrFormat, i, frequency, h.Texts, size)
		}
		term := in.bytes(int(size))
		if in.err != nil {
			return nil, in.err
		}
		terms, df = append(terms, string(term)), append(df, int32(frequency))
	}
	v := newVocabulary(terms, df, h.Texts)
	if len(v.numbers) != len(terms) {
		return nil, fmt.Errorf("%w: a term occurs twice", ErrFormat)
	}
	return v, nil
}

// source reads, until the first error.
type source struct {
	r   io.Reader
	buf []byte
	err error
}

// bytes returns the next n bytes, valid until the next call; nil after an
// error. Memory is taken as the data comes.
func (s *source) bytes(n int) []byte {
	s.buf = s.buf[:0]
	for s.err == nil && len(s.buf) < n {
		have := len(s.buf)
		s.buf = append(s.buf, make([]byte, min(n-have, max(block, have)))...)
		if _, s.err = io.ReadFull(s.r, s.buf[have:]); errors.Is(s.err, io.EOF) || errors.Is(s.err, io.ErrUnexpectedEOF) {
			s.err = fmt.Errorf("%w: it ends early", ErrFormat)
		}
	}
	if s.err != nil {
		return nil
	}
	return s.buf
}

func (s *source) uint32() uint32 {
	if b := s.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// floats returns the next n numbers, all within ±maxValue.
func (s *source) floats(n int) []float32 {
	var out []float32
	for s.err == nil && len(out) < n {
		b := s.bytes(4 * min(n-len(out), block/4))
		for ; len(b) > 0; b = b[4:] {
			x := math.Float32frombits(binary.LittleEndian.Uint32(b))
			if !(x >= -maxValue && x <= maxValue) {
				s.err = fmt.Errorf("%w: component %d is %v", ErrFormat, len(out), x)
				return nil
			}
			out = append(out, x)
		}
	}
	return out
}
