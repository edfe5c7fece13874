// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strconv"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// DefaultMaxName is the length in bytes up to which a text is taken for a name
// (LightRAG cuts at 512, lightrag/constants.py; we do not cut: two long names
// with one beginning are two).
const DefaultMaxName = 512

// Options of a [Base].
type Options struct {
	// Folding tells which names are one, by default FoldUnicode.
	Folding Folding
	// MaxName is the length of the longest name in bytes, 0 for DefaultMaxName.
	// What is longer is no name and gets into Graph.Rejected.
	MaxName int
	// OnlyDescribed leaves out names that no chunk describes or types, and facts
	// about them: those that a model relates and does not list.
	OnlyDescribed bool
	// Resolve, when set, merges entities whose names differ and mean the same.
	Resolve Resolver
}

func (o Options) withDefaults() (Options, error) {
	o.Folding, o.MaxName = cmp.Or(o.Folding, FoldUnicode), cmp.Or(o.MaxName, DefaultMaxName)
	checks := opt.Checks{Of: "kg"}
	checks.Want(o.Folding == FoldUnicode || o.Folding == FoldASCII, "Folding", strconv.Quote(string(o.Folding)), fmt.Sprintf("%q or %q", FoldUnicode, FoldASCII))
	opt.Range(&checks, "MaxName", o.MaxName, 1, math.MaxInt32)
	if o.Resolve != nil {
		checks.Add(o.Resolve.Check())
	}
	return o, checks.Err()
}

// Base is what is known: extractions by chunk, and the merges that people have
// decided on. Insert, Delete and Merge change it, [Base.Graph] puts it
// together. It is safe for concurrent use.
type Base struct {
	opts Options

	mu     sync.Mutex
	chunks map[string]packed
	merges map[string]string // from key to key
	graph  *Graph            // of the state as it is, or nil
	// changes counts how often there was another state.
	changes int
}

// NewBase returns an empty base.
func NewBase(opts Options) (*Base, error) {
	opts, err := opts.withDefaults()
	if err != nil {
		return nil, err
	}
	return &Base{opts: opts, chunks: make(map[string]packed), merges: make(map[string]string)}, nil
}

// Insert adds extractions. One of a chunk that is there already takes its
// place, so inserting twice is inserting once. If one has no chunk or document,
// two are of one chunk, or a weight is negative or not finite, none is added.
// Bytes that are not UTF-8 become U+FFFD.
func (b *Base) Insert(extractions ...Extraction) error {
	var problems []error
	seen := make(map[string]bool, len(extractions))
	for i, x := range extractions {
		switch {
		case x.Chunk == "" || x.Doc == "":
			problems = append(problems, fmt.Errorf("kg: extraction %d: the ID of its chunk (%q) or document (%q) is missing", i, x.Chunk, x.Doc))
		case seen[x.Chunk]:
			problems = append(problems, fmt.Errorf("kg: extraction %d: a second one of chunk %q", i, x.Chunk))
		}
		seen[x.Chunk] = true
		for _, f := range x.Facts {
			if !(f.Weight >= 0) || math.IsInf(f.Weight, 1) {
				problems = append(problems, fmt.Errorf("kg: chunk %q: the weight %v of %q – %q is not a finite number of 0 or more", x.Chunk, f.Weight, f.Head, f.Tail))
			}
		}
	}
	if problems != nil {
		return errors.Join(problems...)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := newPacker()
	for i := range extractions {
		b.chunks[extractions[i].Chunk] = p.pack(&extractions[i])
		b.changed()
	}
	return nil
}

// Delete removes all that the documents said, and returns the number of chunks
// that are gone. What other documents say too stays.
func (b *Base) Delete(docs ...string) int {
	gone := make(map[string]bool, len(docs))
	for _, d := range docs {
		gone[d] = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(b.chunks)
	maps.DeleteFunc(b.chunks, func(_ string, x packed) bool { return gone[x.doc] })
	if before != len(b.chunks) {
		b.changed()
	}
	return before - len(b.chunks)
}

// Merge decides that two names mean one entity; into becomes its key. The
// decision holds for what is inserted later, too.
func (b *Base) Merge(from, into string) error {
	f, t := b.opts.Folding.Key(from), b.opts.Folding.Key(into)
	switch {
	case f == "" || t == "":
		return fmt.Errorf("kg: merging %q into %q: a name is empty", from, into)
	case f == t:
		return fmt.Errorf("kg: merging %q into %q: they are one name, %q", from, into, f)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for at, ok := t, true; ok; at, ok = b.merges[at] {
		if at == f {
			return fmt.Errorf("kg: merging %q into %q: %q was merged into %q before; undo that with Unmerge", from, into, into, from)
		}
	}
	b.merges[f] = t
	b.changed()
	return nil
}

// Unmerge undoes Merge for a name, and tells whether there was one.
func (b *Base) Unmerge(from string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	key := b.opts.Folding.Key(from)
	_, ok := b.merges[key]
	if ok {
		delete(b.merges, key)
		b.changed()
	}
	return ok
}

// changed forgets the graph. The lock is held.
func (b *Base) changed() {
	b.graph = nil
	b.changes++
}

// Clone returns a copy that changes on its own.
func (b *Base) Clone() *Base {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Base{opts: b.opts, chunks: maps.Clone(b.chunks), merges: maps.Clone(b.merges), graph: b.graph, changes: b.changes}
}

// Len returns the number of chunks.
func (b *Base) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.chunks)
}

// Extractions yields what was inserted, sorted by chunk, as it was when the
// iteration began.
func (b *Base) Extractions() iter.Seq[Extraction] {
	return func(yield func(Extraction) bool) {
		b.mu.Lock()
		chunks := maps.Clone(b.chunks)
		b.mu.Unlock()
		var u unpacker
		for _, id := range slices.Sorted(maps.Keys(chunks)) {
			var x Extraction
			p := chunks[id]
			if p.into(&u, id, &x); !yield(x) {
				return
			}
		}
	}
}

// Graph puts everything together. The result is kept until the base changes.
// With Options.Resolve its similarity is asked, and an error is the
// similarity's or the context's.
func (b *Base) Graph(ctx context.Context) (*Graph, error) {
	now := b.Clone() // others may change b while a similarity is asked
	if now.graph != nil {
		return now.graph, nil
	}
	g, err := build(ctx, b.opts, now.chunks, now.merges)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changes == now.changes {
		b.graph = g
	}
	return g, nil
}
