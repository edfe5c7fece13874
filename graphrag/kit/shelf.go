// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Fitted returns the embedder of a corpus. One that learns is fitted at the first call.
type Fitted func(context.Context) (embed.Embedder, error)

// Finder makes an index that compares questions with texts.
type Finder func(ctx context.Context, fitted Fitted, texts text.List) (retrieve.Texts, error)

// ByWords is the [Finder] that compares by BM25. Short texts, such as facts and names, have
// too few words for LSA, and LSA of a fixed rank does not separate the subjects of a large
// corpus.
func ByWords(ctx context.Context, _ Fitted, texts text.List) (retrieve.Texts, error) {
	return retrieve.NewWords(ctx, texts)
}

// ByVectors is the [Finder] that compares by the cosine of the embedder's vectors.
func ByVectors(ctx context.Context, fitted Fitted, texts text.List) (retrieve.Texts, error) {
	e, err := fitted(ctx)
	if err != nil {
		return nil, err
	}
	return retrieve.NewVectors(ctx, e, texts)
}

// Place is where the indexes of a system are: in memory, or in a store.
type Place struct {
	// Store, if set, holds them in collections named Prefix-1, Prefix-2 and so on, so each
	// system needs a Prefix of its own.
	Store  store.Store
	Prefix string
	// Encoder names the source of the vectors.
	Encoder string
}

// Shelf makes and holds the indexes of one state of a system. In a store, each is the
// published generation of a collection and replaces that of the previous state; running
// questions end with the previous one.
type Shelf struct {
	place Place

	mu    sync.Mutex
	n     int // collections
	open  []store.Generation
	built bool
}

// NewShelf returns an empty one.
func NewShelf(p Place) *Shelf { return &Shelf{place: p} }

// next returns the number of the next collection; 0 means memory.
func (s *Shelf) next() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.place.Store == nil || s.built {
		return 0
	}
	s.n++
	return s.n
}

// Finish ends building: indexes made from now on are for one question, and in memory.
func (s *Shelf) Finish() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.built = true
}

// Close closes the indexes.
func (s *Shelf) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for _, g := range s.open {
		errs = append(errs, g.Close())
	}
	s.open = nil
	return errors.Join(errs...)
}

// tableName is the name of the only table of each collection.
const tableName = "texts"

// put publishes a new generation of a collection, filled by fill, in place of the published
// one, and pins it.
func (s *Shelf) put(ctx context.Context, n int, analyzer string, schema store.TableSchema, fill func(store.Table) error) (_ store.Table, err error) {
	name := fmt.Sprintf("%s-%d", s.place.Prefix, n)
	defer func() {
		if err != nil {
			err = fmt.Errorf("collection %q: %w", name, err)
		}
	}()
	whole := store.Schema{Analyzer: analyzer, Tables: map[string]store.TableSchema{tableName: schema}}
	c, err := s.place.Store.Create(ctx, name, whole)
	if errors.Is(err, store.ErrMismatch) && s.own(ctx, name) { // vectors of another length, for example
		if err = s.place.Store.Drop(ctx, name); err == nil {
			c, err = s.place.Store.Create(ctx, name, whole)
		}
	}
	if err != nil {
		return nil, err
	}
	was, now, err := turn(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := write(ctx, c, now, fill); err != nil {
		return nil, errors.Join(err, c.Discard(context.WithoutCancel(ctx), now))
	}
	if err := c.Publish(ctx, now, was); err != nil {
		return nil, err
	}
	g, err := c.Pin(ctx)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.open = append(s.open, g)
	s.mu.Unlock()
	if was != "" {
		if err := c.Discard(ctx, was); err != nil {
			return nil, err
		}
	}
	return g.Table(tableName)
}

// own reports whether a shelf made a collection.
func (s *Shelf) own(ctx context.Context, name string) bool {
	c, err := s.place.Store.Open(ctx, name)
	if err != nil {
		return false
	}
	tables := c.Schema().Tables
	_, ok := tables[tableName]
	return ok && len(tables) == 1
}

// turn returns the names of the published generation and of the next, and removes generations
// that were never published.
func turn(ctx context.Context, c store.Collection) (was, now string, err error) {
	names, was, err := c.Generations(ctx)
	for _, name := range names {
		if err == nil && name != was {
			err = c.Discard(ctx, name)
		}
	}
	n := 0
	if was != "" {
		n, _ = strconv.Atoi(was[1:])
	}
	return was, fmt.Sprintf("g%d", n+1), err
}

func write(ctx context.Context, c store.Collection, generation string, fill func(store.Table) error) (err error) {
	g, err := c.Write(ctx, generation)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.Close()) }()
	t, err := g.Table(tableName)
	if err == nil {
		err = fill(t)
	}
	if err == nil {
		err = g.Flush(ctx)
	}
	return err
}

// vectors writes the vectors of texts to a collection, with ids in their order. The table is
// nil without texts.
func (s *Shelf) vectors(ctx context.Context, n int, e embed.Embedder, texts text.List, record func(i int) store.Record) (store.Table, error) {
	next, stop := iter.Pull2(embed.Batches(ctx, e, texts))
	defer stop()
	rows, err, ok := next()
	if err != nil || !ok {
		return nil, err
	}
	return s.put(ctx, n, "", store.TableSchema{Dim: len(rows[0]), Model: s.place.Encoder}, func(t store.Table) error {
		for i := 0; ok; rows, err, ok = next() {
			if err != nil {
				return err
			}
			records := make([]store.Record, len(rows))
			for j, row := range rows {
				records[j] = record(i)
				records[j].Vector = row
				i++
			}
			if err := t.Put(ctx, records...); err != nil {
				return err
			}
		}
		return nil
	})
}

// storedTexts implements [retrieve.Texts] by vectors in a table, with ids by placeID.
type storedTexts struct {
	table    store.Table // nil without texts
	embedder embed.Embedder
	n        int
}

// placeID returns the id of a text by its index; ids have the order of indexes.
func placeID(i int) string { return fmt.Sprintf("%010d", i) }

// Texts makes an index of texts: in memory by find, in a store by the vectors of the
// embedder.
func (s *Shelf) Texts(ctx context.Context, find Finder, fitted Fitted, texts text.List) (retrieve.Texts, error) {
	n := s.next()
	if n == 0 {
		return find(ctx, fitted, texts)
	}
	e, err := fitted(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.vectors(ctx, n, e, texts, func(i int) store.Record { return store.Record{ID: placeID(i)} })
	return &storedTexts{t, e, texts.Len()}, err
}

// Len implements [retrieve.Texts].
func (t *storedTexts) Len() int { return t.n }

// Best implements [retrieve.Texts].
func (t *storedTexts) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	return t.search(ctx, query, k, 0)
}

// Scores implements [retrieve.Texts].
func (t *storedTexts) Scores(ctx context.Context, query string, dst []float64) ([]float64, error) {
	dst = append(dst[:0], make([]float64, t.n)...)
	all, err := t.search(ctx, query, t.n, 1)
	for _, s := range all {
		dst[s.ID] = s.Score
	}
	return dst, err
}

func (t *storedTexts) search(ctx context.Context, query string, k int, effort float64) ([]rank.Scored[int32], error) {
	if k = min(k, t.n); k <= 0 {
		return nil, ctx.Err()
	}
	row, err := embed.Query(ctx, t.embedder, query)
	if err != nil || row == nil {
		return nil, err
	}
	hits, err := t.table.SearchVectors(ctx, store.VectorQuery{Vector: row, K: k, Effort: effort})
	if err != nil {
		return nil, err
	}
	found := make([]rank.Scored[int32], 0, k)
	for _, h := range hits[0] {
		i, err := strconv.Atoi(h.ID)
		if err != nil || i < 0 || i >= t.n {
			return nil, fmt.Errorf("%w: the store found %.40q, which was not put there", store.ErrMismatch, h.ID)
		}
		found = append(found, rank.Scored[int32]{ID: int32(i), Score: h.Score})
	}
	return found, nil
}

// atOnce is the number of chunks in one call of Put.
const atOnce = 256

// Sparse ranks chunks by BM25.
func (s *Shelf) Sparse(ctx context.Context, chunks []graphrag.Chunk, o bm25.Options) (graphrag.Retriever, error) {
	n := s.next()
	if n == 0 {
		return retrieve.NewSparse(ctx, chunks, o)
	}
	schema := store.TableSchema{Text: true, TitleWeight: o.TitleWeight, K1: o.K1, B: o.B}
	analyzer := ""
	if o.Analyzer != nil {
		analyzer = o.Analyzer.Name()
	}
	t, err := s.put(ctx, n, analyzer, schema, func(t store.Table) error {
		for some := range slices.Chunk(chunks, atOnce) {
			records := make([]store.Record, len(some))
			for i, c := range some {
				records[i] = retrieve.ToRecord(c)
			}
			if err := t.Put(ctx, records...); err != nil {
				return err
			}
		}
		return nil
	})
	return retrieve.Stored{Table: t}.Sparse(), err
}

// Dense ranks chunks with their titles by their vectors.
func (s *Shelf) Dense(ctx context.Context, chunks []graphrag.Chunk, e embed.Embedder) (graphrag.Retriever, error) {
	n := s.next()
	if n == 0 || len(chunks) == 0 {
		return retrieve.NewDense(ctx, chunks, e)
	}
	t, err := s.vectors(ctx, n, e, retrieve.TitledTexts(chunks), func(i int) store.Record { return retrieve.ToRecord(chunks[i]) })
	return retrieve.Stored{Table: t}.Dense(e), err
}
