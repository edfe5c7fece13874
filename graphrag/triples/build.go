// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"path/filepath"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Options of an index.
type Options struct {
	// Analyzer makes the terms of triples and queries; nil means [text.Default].
	Analyzer text.Analyzer
	// Progress, if set, is called with the number of triples read so far.
	Progress func(done int)
}

// New makes an index in memory. A triple that comes twice is there twice. An error
// of the source ends it.
func New(ctx context.Context, source iter.Seq2[Triple, error], o Options) (*Index, error) {
	b := newBuilder(ctx, o)
	err := b.read(source, math.MaxInt, nil)
	if err == nil {
		b.ix.words, err = b.part()
	}
	if err != nil {
		return nil, fmt.Errorf("triples: %w", err)
	}
	return b.ix, nil
}

// partSize is how many triples are indexed at a time: some hundred megabytes.
const partSize = 1 << 20

// Build makes an index in a folder, which must not hold one. It needs memory for the
// numbers and names of all triples, some forty bytes of each, but not for the index
// of their words. If it fails or is killed, what the folder holds is no index, and
// building again begins anew.
func Build(ctx context.Context, dir string, source iter.Seq2[Triple, error], o Options) error {
	if err := build(ctx, dir, source, o, partSize); err != nil {
		return fmt.Errorf("triples: build: %w", err)
	}
	return nil
}

func build(ctx context.Context, dir string, source iter.Seq2[Triple, error], o Options, partSize int) error {
	w, err := flat.Create(dir, folderKind, folderVersion)
	if err != nil {
		return err
	}
	// What a build that was killed left.
	if err := os.RemoveAll(filepath.Join(dir, wordsFolder)); err != nil {
		return err
	}
	parts := filepath.Join(dir, "parts")
	if err := os.RemoveAll(parts); err != nil {
		return err
	}
	b := newBuilder(ctx, o)
	if err = b.read(source, partSize, func() error { return b.store(parts) }); err == nil {
		b.things, b.relations, b.texts = nil, nil, nil // merging needs memory of its own
		err = bm25.Merge(ctx, filepath.Join(dir, wordsFolder), b.parts...)
	}
	err = errors.Join(err, b.closeParts(), os.RemoveAll(parts))
	if err == nil {
		err = b.ix.write(w)
	}
	if err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close(b.ix.meta)
}

// builder is an index in the making.
type builder struct {
	ctx       context.Context
	o         Options
	ix        *Index
	things    *text.Vocabulary // ids of entities, and values under a mark
	relations *text.Vocabulary
	texts     []string // of the triples since the last part
	parts     []*bm25.Index
}

func newBuilder(ctx context.Context, o Options) *builder {
	return &builder{ctx: ctx, o: o, ix: &Index{}, things: text.NewVocabulary(), relations: text.NewVocabulary()}
}

// read takes the triples in; after so many of them, and at the end if there is a
// store, the part is stored.
func (b *builder) read(source iter.Seq2[Triple, error], size int, store func() error) error {
	for t, err := range source {
		if err == nil && b.ix.Len() == math.MaxInt32 {
			err = fmt.Errorf("more than %d triples: split them over several indexes", math.MaxInt32)
		}
		if err == nil && b.ix.Len()%(1<<10) == 0 {
			err = b.ctx.Err()
		}
		if err != nil {
			return err
		}
		b.add(t)
		if len(b.texts) == size {
			if err := store(); err != nil {
				return err
			}
		}
		if b.o.Progress != nil && b.ix.Len()%(1<<16) == 0 {
			b.o.Progress(b.ix.Len())
		}
	}
	if store != nil && (len(b.texts) > 0 || len(b.parts) == 0) {
		if err := store(); err != nil {
			return err
		}
	}
	b.connect()
	return b.ctx.Err()
}

// literalMark keeps the values apart from entities with an id of the same letters.
const literalMark = "\x00"

func (b *builder) add(t Triple) {
	ix := b.ix
	e := edge{number(b.things, &ix.entities, "", t.Head), number(b.relations, &ix.kinds, "", t.Relation), 0}
	if t.Literal {
		e.tail = ^number(b.things, &ix.entities, literalMark, t.Tail)
	} else {
		e.tail = number(b.things, &ix.entities, "", t.Tail)
	}
	ix.edges = append(ix.edges, e)
	b.texts = append(b.texts, t.Text())
}

// number numbers a thing, and keeps the label that it has first.
func number(v *text.Vocabulary, n *names, mark string, e Entity) int32 {
	i, added := v.Add([]byte(mark + e.ID))
	switch {
	case added && e.Label != e.ID:
		add(n, e.ID, e.Label)
	case added:
		add(n, e.ID, "")
	}
	return int32(i)
}

// part indexes the words of the triples since the last one.
func (b *builder) part() (*bm25.Index, error) {
	ix, err := bm25.BuildTexts(b.ctx, b.texts, bm25.Options{Analyzer: b.o.Analyzer})
	clear(b.texts)
	b.texts = b.texts[:0]
	return ix, err
}

// store indexes a part, and keeps it in a folder of its own.
func (b *builder) store(parts string) error {
	ix, err := b.part()
	if err != nil {
		return err
	}
	dir := filepath.Join(parts, fmt.Sprint(len(b.parts)))
	if err := bm25.Merge(b.ctx, dir, ix); err != nil {
		return err
	}
	if ix, err = bm25.Open(dir, b.o.Analyzer); err == nil {
		b.parts = append(b.parts, ix)
	}
	return err
}

func (b *builder) closeParts() error {
	var errs []error
	for _, p := range b.parts {
		errs = append(errs, p.Close())
	}
	return errors.Join(errs...)
}

// connect lists the triples of each entity.
func (b *builder) connect() {
	ix := b.ix
	ix.sortEntities()
	ends := func(yield func(entity, triple int32)) {
		for i, e := range ix.edges {
			yield(e.head, int32(i))
			if e.tail >= 0 && e.tail != e.head {
				yield(e.tail, int32(i))
			}
		}
	}
	ix.starts = make([]int64, ix.Entities()+1)
	ends(func(entity, _ int32) { ix.starts[entity+1]++ })
	for e := range ix.Entities() {
		ix.starts[e+1] += ix.starts[e]
	}
	ix.adjacency = make([]int32, ix.starts[ix.Entities()])
	next := append([]int64(nil), ix.starts...)
	ends(func(entity, triple int32) {
		ix.adjacency[next[entity]] = triple
		next[entity]++
	})
}

// write writes the arrays of an index in memory.
func (ix *Index) write(w *flat.Writer) error {
	return errors.Join(
		write(w, "edges", ix.edges), write(w, "starts", ix.starts), write(w, "adjacency", ix.adjacency),
		write(w, "entities", ix.entities.arena), write(w, "entity-ends", ix.entities.ends),
		write(w, "relations", ix.kinds.arena), write(w, "relation-ends", ix.kinds.ends), w.Err())
}

func write[T any](w *flat.Writer, name string, values []T) error {
	a, err := flat.NewArray[T](w, name)
	if err == nil {
		a.Append(values...)
	}
	return err
}
