// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// maxName is the length in bytes up to which a text counts as a name; longer ones are listed in Graph.Rejected.
// (LightRAG cuts names at 512 bytes, lightrag/constants.py, which can make one of two.)
const maxName = 512

// Options of a [Base].
type Options struct {
	// Folding decides which names are the same, by default FoldUnicode.
	Folding Folding
	// OnlyDescribed leaves out names to which no chunk gives a description or a type, and facts about them: a
	// model also relates names that it did not list as entities.
	OnlyDescribed bool
}

// Base holds extractions by chunk. Insert and Delete change it, [Base.Graph] makes the graph of all
// extractions. It is safe for concurrent use.
type Base struct {
	opts Options

	mu     sync.Mutex
	chunks *btree.Map[string, *noted]
	words  *dictionary
	graph  *Graph // graph of the current extractions, or nil
	// changes is the number of changes so far.
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

// Insert adds extractions. An extraction replaces an earlier one of the same chunk, so inserting twice has the
// same result as once. If one has no chunk or document, two are of the same chunk, or a weight is negative or
// not finite, none is added. Bytes that are not UTF-8 become U+FFFD.
func (b *Base) Insert(extractions ...Extraction) error {
	var problems []error
	seen := make(map[string]bool, len(extractions))
	for i, x := range extractions {
		switch {
		case x.Chunk == "" || x.Doc == "":
			problems = append(problems, fmt.Errorf("kg: extraction %d: the ID of its chunk (%q) or document (%q) is missing", i, x.Chunk, x.Doc))
		case seen[x.Chunk]:
			problems = append(problems, fmt.Errorf("kg: extraction %d: another extraction of the call has the same chunk %q", i, x.Chunk))
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

// copied returns a copy that shares no list with an extraction.
func copied(x Extraction) Extraction {
	x.Mentions, x.Facts = clipped(x.Mentions), clipped(x.Facts)
	x.Attributes, x.Problems = clipped(x.Attributes), clipped(x.Problems)
	for i := range x.Facts {
		x.Facts[i].Keywords = clipped(x.Facts[i].Keywords)
	}
	return x
}

// Delete removes the extractions of documents, and returns the number of removed chunks. Knowledge that other
// documents state too stays.
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

// changed discards the cached graph. The caller holds the lock.
func (b *Base) changed() {
	b.graph = nil
	b.changes++
}

// Clone returns an independent copy.
func (b *Base) Clone() *Base {
	b.mu.Lock()
	defer b.mu.Unlock()
	return &Base{opts: b.opts, chunks: b.chunks.Copy(), words: b.words, graph: b.graph, changes: b.changes}
}

// Extractions yields the extractions at the beginning of the iteration, sorted by chunk.
func (b *Base) Extractions() iter.Seq[Extraction] {
	return func(yield func(Extraction) bool) {
		for _, x := range b.Clone().chunks.Values() {
			if !yield(copied(x.Extraction)) {
				return
			}
		}
	}
}

// Graph returns the graph of all extractions, and caches it until the base changes. The only error is the error
// of the context.
func (b *Base) Graph(ctx context.Context) (*Graph, error) {
	now := b.Clone() // b may change while the graph is built
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

// noted is the extraction of a chunk with the numbers of its texts: name, type and description of each mention,
// head, tail, relation and description of each fact, and the entity of each attribute. It is immutable.
type noted struct {
	Extraction
	numbers []int32
}

// dictionary numbers the texts of extractions, beginning with the empty text as 0, and folds each name and
// label once. Numbers never change, so all copies of a base share a dictionary. It is safe for concurrent use.
type dictionary struct {
	folding Folding

	mu  sync.Mutex
	ids map[string]int32
	lexicon
	newKeys, newLabelKeys []int32
	perChunk              float64 // number of texts for each chunk of the first graph
}

// lexicon is the state of a dictionary at one time.
type lexicon struct {
	texts           []string
	names, labels   []form  // spelling and key by the number of the name or label
	keys, labelKeys []int32 // numbers of all keys, sorted by their texts
}

// form has the numbers of a spelling and of its key. Both are 0 for a name that cannot be an entity.
type form struct{ spelling, key int32 }

func newDictionary(folding Folding) *dictionary {
	d := &dictionary{folding: folding, ids: make(map[string]int32)}
	d.id("")
	return d
}

// note copies an extraction, replaces invalid UTF-8 in it, so that a saved base is restored unchanged, and
// numbers its texts.
func (d *dictionary) note(x Extraction) *noted {
	x = copied(x)
	d.mu.Lock()
	defer d.mu.Unlock()
	n := &noted{numbers: make([]int32, 0, 3*len(x.Mentions)+4*len(x.Facts)+len(x.Attributes))}
	number := func(by func(string) int32, texts ...*string) {
		for _, t := range texts {
			*t = strings.ToValidUTF8(*t, "\uFFFD")
			if by == nil {
				continue
			}
			id := by(*t)
			if n.numbers = append(n.numbers, id); d.texts[id] == *t {
				*t = d.texts[id] // equal texts share memory
			}
		}
	}
	for i := range x.Mentions {
		m := &x.Mentions[i]
		number(d.name, &m.Name)
		number(func(kind string) int32 { return d.id(strings.TrimSpace(kind)) }, &m.Type)
		number(d.id, &m.Description)
	}
	for i := range x.Facts {
		f := &x.Facts[i]
		number(d.name, &f.Head, &f.Tail)
		number(d.label, &f.Relation)
		number(d.id, &f.Description)
		for k := range f.Keywords {
			number(nil, &f.Keywords[k])
		}
	}
	for i := range x.Attributes {
		a := &x.Attributes[i]
		number(d.name, &a.Entity)
		number(nil, &a.Key, &a.Value)
	}
	for i := range x.Problems {
		p := &x.Problems[i]
		number(nil, &p.Kind, &p.Text, &p.Reason)
	}
	n.Extraction = x
	return n
}

// id returns the number of a text. The caller holds the lock, as for the methods below.
func (d *dictionary) id(text string) int32 {
	id, ok := d.ids[text]
	if !ok {
		id = int32(len(d.texts))
		d.ids[text] = id
		d.texts, d.names, d.labels = append(d.texts, text), append(d.names, form{}), append(d.labels, form{})
	}
	return id
}

// name returns the number of a name as it is written. Names that differ only in white space have the same form.
func (d *dictionary) name(text string) int32 {
	id := d.id(text)
	if d.names[id] != (form{}) || len(text) > maxName {
		return id
	}
	spelling := oneLine(text)
	if key := d.folding.Key(spelling); key != "" {
		f := form{d.id(spelling), d.id(key)}
		d.names[id], d.newKeys = f, append(d.newKeys, f.key)
	}
	return id
}

// label returns the number of a label. "born_in" and "Born in" have the same key.
func (d *dictionary) label(text string) int32 {
	id := d.id(text)
	if d.labels[id] == (form{}) {
		spelling := oneLine(text)
		if f := (form{d.id(spelling), d.id(d.folding.Key(strings.ReplaceAll(spelling, "_", " ")))}); f != (form{}) {
			d.labels[id], d.newLabelKeys = f, append(d.newLabelKeys, f.key)
		}
	}
	return id
}

// now returns the current state of the dictionary, for a graph of the given number of chunks.
func (d *dictionary) now(chunks int) lexicon {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.keys, d.newKeys = d.merge(d.keys, d.newKeys), nil
	d.labelKeys, d.newLabelKeys = d.merge(d.labelKeys, d.newLabelKeys), nil
	if d.perChunk == 0 {
		d.perChunk = float64(len(d.texts)) / float64(max(1, chunks))
	}
	return d.lexicon
}

// merge inserts numbers of texts into a list without repetitions that is sorted by the texts.
func (d *dictionary) merge(old, added []int32) []int32 {
	if len(added) == 0 {
		return old
	}
	compare := func(a, b int32) int { return strings.Compare(d.texts[a], d.texts[b]) }
	slices.SortFunc(added, compare)
	out := make([]int32, 0, len(old)+len(added))
	for _, id := range added {
		n, _ := slices.BinarySearchFunc(old, id, compare)
		out, old = append(append(out, old[:n]...), id), old[n:]
	}
	return slices.Compact(append(out, old...))
}

// tooLarge reports whether most texts are no longer used, given the number of chunks.
func (d *dictionary) tooLarge(chunks int) bool {
	const some = 1 << 12
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.perChunk > 0 && float64(len(d.texts)) > 2*d.perChunk*float64(chunks)+some
}

// renumber gives a base a new dictionary with the texts of its own chunks.
func (b *Base) renumber(ctx context.Context) error {
	b.words = newDictionary(b.opts.Folding)
	chunks := b.chunks.Copy()
	for i, x := range chunks.Values() {
		if i%stride == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		chunks.Set(x.Chunk, b.words.note(x.Extraction))
	}
	b.chunks = chunks
	return nil
}
