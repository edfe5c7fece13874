// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/codec"
)

// A saved base is its options, its merges, and its extractions sorted by chunk.

const (
	fileKind    = "WGKNOWL"
	fileVersion = 2
	maxRecord   = 64 << 20 // bytes
	maxRecords  = 1 << 32
)

// ErrFormat is wrapped by the errors of [Read] for files that are not a base, not
// whole, damaged or of another version.
var ErrFormat = codec.ErrFormat

// ErrOptions is wrapped by the errors of [Read] for a base that was saved with
// other options.
var ErrOptions = errors.New("the base was saved with other options")

// WriteTo writes the base. Equal bases give equal bytes. It implements
// [io.WriterTo].
func (b *Base) WriteTo(to io.Writer) (int64, error) {
	now := b.Clone()
	w := codec.NewWriter(to, fileKind, fileVersion)
	w.String(string(now.opts.Folding))
	w.Uint(uint64(now.opts.MaxName))
	w.Uint(uint64(len(now.merges)))
	for _, from := range slices.Sorted(maps.Keys(now.merges)) {
		w.String(from)
		w.String(now.merges[from])
	}
	w.Uint(uint64(len(now.chunks)))
	var problems []error
	for x := range now.Extractions() {
		data, err := json.Marshal(x)
		problems = append(problems, err)
		w.Bytes(data)
	}
	n, err := w.Close()
	return n, errors.Join(append(problems, err)...)
}

// Read reads what WriteTo wrote. The options must be those it was saved with;
// Resolve is not saved and may be any.
func Read(from io.Reader, opts Options) (*Base, error) {
	b, err := NewBase(opts)
	if err != nil {
		return nil, err
	}
	r := codec.NewReader(from, fileKind, fileVersion)
	text := func() string { return string(r.Bytes(nil, maxRecord)) }
	folding, maxName := Folding(text()), r.Uint(maxRecord)
	if r.Err() == nil && (folding != b.opts.Folding || maxName != uint64(b.opts.MaxName)) {
		return nil, fmt.Errorf("kg: %w: folding %q and names of up to %d bytes there, %q and %d here", ErrOptions, folding, maxName, b.opts.Folding, b.opts.MaxName)
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil; n-- {
		if from, into := text(), text(); r.Err() == nil {
			if err := b.Merge(from, into); err != nil {
				r.Fail("%v", err)
			}
		}
	}
	for n := r.Uint(maxRecords); n > 0 && r.Err() == nil; n-- {
		var x Extraction
		data := r.Bytes(nil, maxRecord)
		if r.Err() != nil {
			break
		}
		err := json.Unmarshal(data, &x)
		if _, twice := b.chunks[x.Chunk]; twice {
			err = errors.New("a second extraction of its chunk")
		}
		if err = errors.Join(err, b.Insert(x)); err != nil {
			r.Fail("extraction of %q: %v", x.Chunk, err)
		}
	}
	if err := r.Close(); err != nil {
		return nil, fmt.Errorf("kg: %w", err)
	}
	return b, nil
}
