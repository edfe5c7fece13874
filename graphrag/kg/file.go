// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"io"
	"iter"
	"os"

	"github.com/wildgraph/wildgraph/llm/journal"
)

// A saved base is a text of JSON lines: a header, the extractions sorted by
// chunk, and a last line with their number and the CRC-32C of all before it.

// FormatVersion is the version of the files that [Base.Save] writes.
const FormatVersion = 1

const formatName = "wildgraph knowledge"

// maxLine is the longest line that is read, in bytes.
const maxLine = 64 << 20

// ErrFormat is wrapped by the errors for files that are not a base, not whole,
// damaged or of another version.
var ErrFormat = errors.New("not a valid knowledge file")

// ErrOptions is wrapped by the errors of [Load] for a base that was saved with
// other options.
var ErrOptions = errors.New("the base was saved with other options")

type header struct {
	Format  string      `json:"format"`
	Version int         `json:"version"`
	Folding Folding     `json:"folding"`
	MaxName int         `json:"max_name"`
	Merges  [][2]string `json:"merges,omitempty"`
}

type footer struct {
	End    *int   `json:"end"`
	CRC32C string `json:"crc32c"`
}

// Save writes the base to a file. A crash leaves the old file or the new one.
func (b *Base) Save(name string) error {
	err := journal.WriteFile(name, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
	if err != nil {
		return fmt.Errorf("kg: %w", err)
	}
	return nil
}

// WriteTo writes the base. Equal bases give equal bytes. It implements
// [io.WriterTo].
func (b *Base) WriteTo(w io.Writer) (int64, error) {
	b.mu.Lock()
	h := header{formatName, FormatVersion, b.opts.Folding, b.opts.MaxName, sortedPairs(b.merges)}
	extractions := b.sortedLocked()
	b.mu.Unlock()
	sum := &summing{w: bufio.NewWriter(w), sum: crc32.New(castagnoli)}
	enc := lines(sum)
	if err := enc.Encode(h); err != nil {
		return sum.n, err
	}
	for _, x := range extractions {
		if err := enc.Encode(x); err != nil {
			return sum.n, err
		}
	}
	n := len(extractions)
	if err := enc.Encode(footer{&n, fmt.Sprintf("%08x", sum.sum.Sum32())}); err != nil {
		return sum.n, err
	}
	return sum.n, sum.w.Flush()
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

type summing struct {
	w   *bufio.Writer
	sum hash.Hash32
	n   int64
}

func (s *summing) Write(p []byte) (int, error) {
	n, err := s.w.Write(p)
	s.sum.Write(p[:n])
	s.n += int64(n)
	return n, err
}

// Load reads a base that Save wrote. The options must be those it was saved
// with; Resolve is not saved and may be any.
func Load(name string, opts Options) (*Base, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("kg: %w", err)
	}
	b, err := Read(f, opts)
	if err := errors.Join(err, f.Close()); err != nil {
		return nil, fmt.Errorf("kg: reading %s: %w", name, err)
	}
	return b, nil
}

// Read reads what WriteTo wrote, see [Load].
func Read(r io.Reader, opts Options) (*Base, error) {
	b, err := NewBase(opts)
	if err != nil {
		return nil, err
	}
	sum := crc32.New(castagnoli)
	var h header
	read := 0
	for line, err := range eachLine(r) {
		switch {
		case err != nil:
			return nil, err
		case line.number == 1:
			if err := h.read(line.text, b.opts); err != nil {
				return nil, err
			}
			for _, m := range h.Merges {
				if err := b.Merge(m[0], m[1]); err != nil {
					return nil, fmt.Errorf("%w: %w", ErrFormat, err)
				}
			}
		default:
			var end footer
			if json.Unmarshal(line.text, &end) == nil && end.End != nil {
				return b, end.check(line, read, sum.Sum32())
			}
			x, err := readExtraction(line)
			if err == nil {
				err = b.Insert(x)
			}
			if err != nil {
				return nil, fmt.Errorf("%w: line %d: %w", ErrFormat, line.number, err)
			}
			if read++; b.Len() != read {
				return nil, fmt.Errorf("%w: line %d: a second extraction of chunk %q", ErrFormat, line.number, x.Chunk)
			}
		}
		sum.Write(line.text)
		sum.Write([]byte{'\n'})
	}
	return nil, fmt.Errorf("%w: it ends after %d extractions, without its last line", ErrFormat, read)
}

func (h *header) read(text []byte, o Options) error {
	if err := json.Unmarshal(text, h); err != nil || h.Format != formatName {
		return fmt.Errorf("%w: the first line is not its header", ErrFormat)
	}
	if h.Version != FormatVersion {
		return fmt.Errorf("%w: version %d, this program reads %d", ErrFormat, h.Version, FormatVersion)
	}
	if h.Folding != o.Folding || h.MaxName != o.MaxName {
		return fmt.Errorf("%w: folding %q and names of up to %d bytes there, %q and %d here", ErrOptions, h.Folding, h.MaxName, o.Folding, o.MaxName)
	}
	return nil
}

func (f *footer) check(line numbered, read int, sum uint32) error {
	switch {
	case *f.End != read:
		return fmt.Errorf("%w: %d extractions, its last line says %d", ErrFormat, read, *f.End)
	case f.CRC32C != fmt.Sprintf("%08x", sum):
		return fmt.Errorf("%w: the checksum is %08x, its last line says %s", ErrFormat, sum, f.CRC32C)
	case !line.last:
		return fmt.Errorf("%w: it goes on after its last line, %d", ErrFormat, line.number)
	}
	return nil
}

// WriteJSONL writes extractions as JSON lines.
func WriteJSONL(w io.Writer, extractions iter.Seq[Extraction]) error {
	b := bufio.NewWriter(w)
	enc := lines(b)
	for x := range extractions {
		if err := enc.Encode(x); err != nil {
			return fmt.Errorf("kg: chunk %q: %w", x.Chunk, err)
		}
	}
	return b.Flush()
}

// ReadJSONL reads JSON lines of extractions. It yields an error for a line that
// is none, with its number, and goes on with the next if it is let; an error of
// the reader, and a line of more than 64 MiB, end it. Empty lines are skipped.
func ReadJSONL(r io.Reader) iter.Seq2[Extraction, error] {
	return func(yield func(Extraction, error) bool) {
		for line, err := range eachLine(r) {
			if err != nil {
				yield(Extraction{}, err)
				return
			}
			if len(bytes.TrimSpace(line.text)) == 0 {
				continue
			}
			x, err := readExtraction(line)
			if err != nil {
				err = fmt.Errorf("kg: line %d: %w", line.number, err)
			}
			if !yield(x, err) {
				return
			}
		}
	}
}

func readExtraction(line numbered) (x Extraction, err error) {
	if err := json.Unmarshal(line.text, &x); err != nil {
		return Extraction{}, fmt.Errorf("not an extraction: %w", err)
	}
	if x.Chunk == "" || x.Doc == "" {
		return Extraction{}, errors.New("not an extraction: chunk or doc is missing")
	}
	return x, nil
}

func lines(w io.Writer) *json.Encoder {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	return enc
}

// numbered is a line, counted from 1. Its text is valid until the next.
type numbered struct {
	number int
	text   []byte
	last   bool
}

func eachLine(r io.Reader) iter.Seq2[numbered, error] {
	return func(yield func(numbered, error) bool) {
		in := bufio.NewScanner(r)
		in.Buffer(nil, maxLine)
		var held []byte
		n := 0
		for more := in.Scan(); more; {
			held = append(held[:0], in.Bytes()...)
			n++
			more = in.Scan()
			if !yield(numbered{n, held, !more}, nil) {
				return
			}
		}
		if err := in.Err(); err != nil {
			yield(numbered{}, fmt.Errorf("kg: line %d: %w", n+1, err))
		}
	}
}
