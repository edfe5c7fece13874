// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/flat"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// Corpus is the input of a recipe's Build. If a retriever is to leave the texts of a corpus in the store, it
// must not keep the corpus, its chunks or its graph, but may keep the Ranking, the results of other methods and
// of [Keep], and numbers.
type Corpus struct {
	retrieve.Ranking
	// Chunks are sorted by ID; the index of a chunk is its number in the Ranking and its passage in the graph.
	Chunks []graphrag.Chunk
	// Graph is the knowledge graph of the chunks; nil without an extractor.
	Graph *kg.Graph

	kit    Kit
	fitted func(context.Context) (embed.Embedder, error)
	mapped *mappings // nil if the corpus is in memory
}

// Corpus returns a corpus for retrievers that are built without a [System]. Passage i of g, if not nil, must be
// chunk i.
func (k Kit) Corpus(chunks []graphrag.Chunk, g *kg.Graph) *Corpus {
	c := &Corpus{Ranking: retrieve.NewRanking(chunks), Chunks: chunks, Graph: g, kit: k}
	texts := chunks // nil after the embedder has learnt from them
	var lock sync.Mutex
	var embedder embed.Embedder
	c.fitted = func(ctx context.Context) (embed.Embedder, error) {
		lock.Lock()
		defer lock.Unlock()
		if embedder != nil {
			return embedder, nil
		}
		e, err := k.Embed(ctx, slices.Collect(retrieve.TitledTexts(texts).All()))
		if err == nil && e == nil {
			err = errors.New("the kit's Embed returned no embedder and no error")
		}
		if embedder = e; e != nil {
			texts = nil
		}
		return e, err
	}
	return c
}

// Embedder returns the kit's embedder, fitted to the chunks if it learns from them.
func (c *Corpus) Embedder(ctx context.Context) (embed.Embedder, error) { return c.fitted(ctx) }

// Finder returns a function like Find, for texts that are found while questions are answered.
func (c *Corpus) Finder() func(ctx context.Context, texts text.List) (retrieve.Texts, error) {
	find, fitted := c.kit.Find, c.fitted
	return func(ctx context.Context, texts text.List) (retrieve.Texts, error) { return find(ctx, fitted, texts) }
}

// Find makes an index that compares texts with questions, by the kit's Find.
func (c *Corpus) Find(ctx context.Context, texts text.List) (retrieve.Texts, error) {
	t, err := c.kit.Find(ctx, c.fitted, texts)
	return mapIndex(ctx, c.mapped, t, err)
}

// Vectors indexes texts to compare them by the vectors of the kit's embedder, as [retrieve.NewVectors] does.
func (c *Corpus) Vectors(ctx context.Context, texts text.List) (*retrieve.Vectors, error) {
	e, err := c.fitted(ctx)
	if err != nil {
		return nil, err
	}
	v, err := retrieve.NewVectors(ctx, e, texts)
	return mapIndex(ctx, c.mapped, v, err)
}

// Sparse returns a retriever that ranks the chunks by their words, as [retrieve.NewSparse] does.
func (c *Corpus) Sparse(ctx context.Context, o bm25.Options) (graphrag.Retriever, error) {
	ix, err := bm25.Build(ctx, c.Chunks, o)
	w, err := mapIndex(ctx, c.mapped, &retrieve.Words{Index: ix}, err)
	return c.nearest(w.Found, "bm25", err)
}

// Dense returns a retriever that ranks the chunks by the kit's embedder, as [retrieve.NewDense] does.
func (c *Corpus) Dense(ctx context.Context) (graphrag.Retriever, error) {
	v, err := c.Vectors(ctx, retrieve.TitledTexts(c.Chunks))
	return c.nearest(v.Best, "dense", err)
}

// nearest returns a retriever of the chunks that find returns, unless err is an error.
func (c *Corpus) nearest(find func(ctx context.Context, query string, k int) ([]rank.Scored[int32], error), by string, err error) (graphrag.Retriever, error) {
	if err != nil {
		return nil, err
	}
	r := c.Ranking
	r.PerDoc = 0
	return graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		best, err := find(ctx, q.Text, q.Want())
		if err != nil {
			return graphrag.Found{}, err
		}
		hits, err := r.Scored(ctx, best, q.Want(), by)
		return graphrag.Found{Ranked: hits}, err
	}), nil
}

// Triples makes an index of triples, as [triples.New] does.
func (c *Corpus) Triples(ctx context.Context, from iter.Seq2[triples.Triple, error]) (*triples.Index, error) {
	if c.mapped == nil {
		return triples.New(ctx, from, triples.Options{})
	}
	dir := c.mapped.next()
	if err := triples.Build(ctx, dir, from, triples.Options{}); err != nil {
		return nil, err
	}
	ix, err := triples.Open(dir, nil)
	if err == nil {
		c.mapped.until(ix.Close)
	}
	return ix, err
}

// Keep returns a function with the values at(0) to at(n-1), for use while questions are answered. For a corpus
// in a store the values are written to a file as JSON and read one by one, and at is not kept.
func Keep[T any](c *Corpus, n int, at func(i int32) T) (func(i int32) T, error) {
	if c.mapped == nil {
		return at, nil
	}
	var err error
	list, failed := c.mapped.list(text.NewList(n, func(i int) string {
		data, wrong := json.Marshal(at(int32(i)))
		err = errors.Join(err, wrong)
		return string(data)
	}))
	return func(i int32) (v T) {
		_ = json.Unmarshal([]byte(list.At(int(i))), &v) // Keep has encoded it
		return v
	}, errors.Join(err, failed)
}

// Known returns [kg.Graph.Known], for use while questions are answered.
func (c *Corpus) Known() (func(name string) bool, error) {
	if c.mapped == nil {
		return c.Graph.Known, nil
	}
	entities, folding := c.Graph.Entities, c.Graph.Folding()
	keys, err := c.mapped.list(text.NewList(len(entities), func(i int) string { return entities[i].Key }))
	return func(name string) bool {
		key := folding.Key(name)
		i := sort.Search(keys.Len(), func(i int) bool { return keys.At(i) >= key })
		return i < keys.Len() && keys.At(i) == key
	}, err
}

// stored moves the texts of the corpus out of memory: chunks are read from a table, lists from mapped files.
func (c *Corpus) stored(ctx context.Context, from *source, s *mappings) (err1 error) {
	var err2 error
	c.mapped = s
	c.IDs, err1 = s.list(c.IDs)
	c.Docs, err2 = s.list(c.Docs)
	ids := c.IDs
	c.Read = func(ctx context.Context, numbers []int32) ([]graphrag.Chunk, error) {
		wanted := make([]string, len(numbers))
		for i, n := range numbers {
			wanted[i] = ids.At(int(n))
		}
		return chunksOf(ctx, from.table, wanted)
	}
	return errors.Join(err1, err2, ctx.Err())
}

// source is the table from which a state reads chunks.
type source struct{ table store.Table }

// chunksOf reads chunks from a table, which has to have all of them.
func chunksOf(ctx context.Context, t store.Table, ids []string) ([]graphrag.Chunk, error) {
	out, err := readChunks(ctx, t, ids)
	if err == nil && len(out) != len(ids) {
		err = fmt.Errorf("the store has %d of %d chunks, the first of them is %.80q: another program or system changed it: index again", len(out), len(ids), ids[0])
	}
	return out, err
}

// readChunks reads the chunks with some IDs, without those that do not exist.
func readChunks(ctx context.Context, t store.Table, ids []string) ([]graphrag.Chunk, error) {
	records, err := t.Get(ctx, ids...)
	out := make([]graphrag.Chunk, len(records))
	for i, r := range records {
		c, failed := r.Chunk()
		out[i], err = c, errors.Join(err, failed)
	}
	return out, err
}

// mappings are the indexes and lists of texts that a system in a store derives from its documents. They are
// memory-mapped files in a temporary folder, which use no heap. Data read from them is valid until close.
type mappings struct {
	dir    string
	remove func() error

	mu     sync.Mutex
	made   int
	closes []func() error
}

func newMappings() (*mappings, error) {
	dir, remove, err := flat.Temporary()
	return &mappings{dir: dir, remove: remove}, err
}

// next returns the path of a new folder.
func (s *mappings) next() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.made++
	return filepath.Join(s.dir, strconv.Itoa(s.made))
}

// until registers a function that close calls.
func (s *mappings) until(end func() error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closes = append(s.closes, end)
}

// mapIndex moves an index to mapped files, if s is not nil.
func mapIndex[T retrieve.Texts](ctx context.Context, s *mappings, t T, err error) (T, error) {
	m, ok := any(t).(interface {
		Mapped(ctx context.Context, dir string) (retrieve.Texts, func() error, error)
	})
	if err != nil || s == nil || !ok {
		return t, err
	}
	there, end, err := m.Mapped(ctx, s.next())
	if err != nil {
		return t, err
	}
	s.until(end)
	return there.(T), nil
}

// list writes texts to a mapped file, and returns a list that reads them.
func (s *mappings) list(texts text.List) (text.List, error) {
	dir := s.next()
	w, err := flat.Create(dir, "texts", 1)
	if err != nil {
		return text.List{}, err
	}
	arena, err1 := flat.NewArray[byte](w, "arena")
	ends, err2 := flat.NewArray[int64](w, "ends")
	for t := range texts.All() {
		arena.Append([]byte(t)...)
		ends.Append(int64(arena.Len()))
	}
	if err := errors.Join(err1, err2, w.Err()); err != nil {
		return text.List{}, errors.Join(err, w.Abort())
	}
	if err := w.Close(struct{}{}); err != nil {
		return text.List{}, err
	}
	f, err := flat.Open(dir, "texts", 1, &struct{}{})
	if err != nil {
		return text.List{}, err
	}
	s.until(f.Close)
	bytes, err1 := flat.View[byte](f, "arena")
	places, err2 := flat.View[int64](f, "ends")
	return text.NewList(len(places), func(i int) string {
		from := int64(0)
		if i > 0 {
			from = places[i-1]
		}
		return string(bytes[from:places[i]])
	}), errors.Join(err1, err2)
}

// close closes all mapped files, and removes the folder.
func (s *mappings) close() error {
	if s == nil {
		return nil
	}
	var errs []error
	for _, end := range s.closes {
		errs = append(errs, end())
	}
	s.closes = nil
	return errors.Join(append(errs, s.remove())...)
}
