// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"sync"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// maxName is the length in bytes up to which a text is taken for a name, and goes to Graph.Rejected otherwise
// (LightRAG cuts at 512, lightrag/constants.py; we do not cut: two long names with one beginning are two).
const maxName = 512

// Options of a [Base].
type Options struct {
	// Folding tells which names are one, by default FoldUnicode.
	Folding Folding
	// OnlyDescribed leaves out names that no chunk describes or types, and facts about
	// them: a model relates names that it did not list as entities.
	OnlyDescribed bool
}

// Base is the extractions by chunk. Insert and Delete change it, [Base.Graph] makes the
// graph of it. It is safe for concurrent use.
type Base struct {
	opts Options

	mu     sync.Mutex
	chunks *btree.Map[string, *noted]
	words  *dictionary
	graph  *Graph // of the state as it is, or nil
	// changes counts how often there was another state.
	changes int
}

// NewBase returns an empty base.
func NewBase(opts Options) (*Base, error) {
	opts.Folding = cmp.Or(opts.Folding, FoldUnicode)
	checks := opt.Checks{Of: "kg"}
	checks.Want(opts.Folding == FoldUnicode || opts.Folding == FoldASCII, "Folding", strconv.Quote(string(opts.Folding)), fmt.Sprintf("%q or %q", FoldUnicode, FoldASCII))
	if err := checks.Err(); err != nil {
		return nil, err
	}
	return &Base{opts: opts, chunks: btree.NewMap[string, *noted](0), words: newDictionary(opts.Folding)}, nil
}

// Insert adds extractions. One of a chunk that is there already takes its place, so inserting twice is
// inserting once. If one has no chunk or document, two are of one chunk, or a weight is negative or not
// finite, none is added. Bytes that are not UTF-8 become U+FFFD.
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
	for _, x := range extractions {
		b.chunks.Set(x.Chunk, b.words.note(x))
		b.changed()
	}
	return nil
}

// copied is a copy that shares no list with an extraction.
func copied(x Extraction) Extraction {
	x.Mentions, x.Facts = clipped(x.Mentions), clipped(x.Facts)
	x.Attributes, x.Problems = clipped(x.Attributes), clipped(x.Problems)
	for i := range x.Facts {
		x.Facts[i].Keywords = clipped(x.Facts[i].Keywords)
	}
	return x
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
	before := b.chunks.Len()
	for _, x := range b.chunks.Values() {
		if gone[x.Doc] {
			b.chunks.Delete(x.Chunk)
			b.changed()
		}
	}
	return before - b.chunks.Len()
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
	return &Base{opts: b.opts, chunks: b.chunks.Copy(), words: b.words, graph: b.graph, changes: b.changes}
}

// Extractions yields the extractions, sorted by chunk, as of the beginning of the iteration.
func (b *Base) Extractions() iter.Seq[Extraction] {
	return func(yield func(Extraction) bool) {
		for _, x := range b.Clone().chunks.Values() {
			if !yield(copied(x.Extraction)) {
				return
			}
		}
	}
}

// Graph makes the graph of all extractions. It is kept until the base changes; the only error is the context's.
func (b *Base) Graph(ctx context.Context) (*Graph, error) {
	now := b.Clone() // others may change b meanwhile
	if now.graph != nil {
		return now.graph, nil
	}
	if now.words.tooLarge(now.chunks.Len()) {
		if err := now.renumber(ctx); err != nil {
			return nil, err
		}
	}
	g, err := build(ctx, b.opts, now.words.now(now.chunks.Len()), now.chunks.Values())
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.changes == now.changes {
		b.chunks, b.words, b.graph = now.chunks, now.words, g
	}
	return g, nil
}
