// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/internal/share"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/llm/metering"
)

// A system in a store is a collection, whose published generation is the index. No chunk is held in memory: a
// question searches the table with the question's condition, and reads the chunks that it finds. A change forks
// the published generation, and publishes the fork, whole or not at all.

// The tables of a collection: chunks by their IDs; documents by their IDs, with the lengths of their chunks;
// and one record with the settings and statistics of the index. A recipe with a Build has two more tables, of
// values of [record]: extractions by the ID of the chunk, and replies by their keys.
const (
	chunksTable      = "chunks"
	documentsTable   = "documents"
	settingsTable    = "settings"
	extractionsTable = "extractions"
	repliesTable     = "replies"
)

// contents is the single record of the table of settings; its id is contentsID.
type contents struct {
	Settings  settings    `json:"settings"`
	Documents int         `json:"documents"`
	Chunks    int         `json:"chunks"`
	Lengths   map[int]int `json:"lengths"` // number of chunks by their length in tokens
	// Recall is the recall of searches by vectors, measured with Measured chunks; 0 if all are compared.
	Recall   float64 `json:"recall,omitempty"`
	Measured int     `json:"measured,omitempty"`
}

const contentsID = "contents"

// repliesGeneration is the name of a generation that is never published. Its table of settings keeps the
// replies of models and the vectors of a change until the change is published, so that none is paid for twice
// if the change fails or its process is killed.
const repliesGeneration = "replies"

// tables are the collection of a system in a store, and the parts for its changes.
type tables struct {
	collection store.Collection
	chunker    *chunk.Chunker
	corpus     *Corpus        // has no chunks
	embedder   embed.Embedder // nil if the table has no vectors
	built      bool           // retrieval is by Build, not by searches of the table
	durable    bool           // puts are durable without a flush
}

// pinned is a generation that questions use, with its tables.
type pinned struct {
	generation           store.Generation
	chunks, docs         store.Table
	extractions, replies store.Table // nil for a recipe without Build
	contents             contents
}

// Open returns the system of a frame whose corpus is a collection of a store; it creates the collection if
// there is none. Index, Insert, Delete and Update write to the collection; [System.Refresh] reads the changes
// of other processes. A frame without a Build whose embedder does not learn from the corpus ([Kit].Trained)
// searches the store, and a change costs time for the changed documents alone. The index of any other frame is
// built from the stored chunks, extractions and replies, when the system is opened and by each change; if the
// recipe follows the comment of [Corpus], the system then holds no texts in memory, but numbers and temporary
// files ([os.TempDir]). Replies of models and vectors are stored before the next call begins: after a change
// that failed, was cancelled or was killed, the next change asks only for the missing ones, and Index uses the
// replies of the index before. A collection that was made by another recipe, cut or embedder is the error
// [ErrOptions] or [store.ErrMismatch]. Closing the system does not close the store.
func Open(ctx context.Context, f Frame, st store.Store, name string) (*System, error) {
	s, err := New(f)
	if err != nil {
		return nil, err
	}
	if s.tables, err = s.frame.tables(ctx, st, name); err == nil {
		err = s.Refresh(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: collection %q: %w", f.Name, name, err)
	}
	return s, nil
}

func (f Frame) tables(ctx context.Context, st store.Store, name string) (*tables, error) {
	t, schema, analyzer := &tables{durable: st.Can().Durable, corpus: f.Kit.Corpus(nil, nil)}, store.TableSchema{}, ""
	t.built = f.Build != nil || f.Vectors && !f.Kit.Trained
	if f.Words != nil && !t.built {
		schema = store.TableSchema{Text: true, TitleWeight: f.Words.TitleWeight, K1: f.Words.K1, B: f.Words.B}
		if f.Words.Analyzer != nil {
			analyzer = f.Words.Analyzer.Name()
		}
	}
	var err error
	if f.Vectors && !t.built {
		schema.Model = f.Kit.Encoder
		if t.embedder, err = t.corpus.Embedder(ctx); err == nil {
			schema.Dim, err = dimOf(ctx, f.Kit, t.embedder)
		}
	}
	if err == nil {
		t.chunker, err = f.Cut.Chunker()
	}
	if err == nil {
		all := map[string]store.TableSchema{chunksTable: schema, documentsTable: {}, settingsTable: {}}
		if t.built {
			all[extractionsTable], all[repliesTable] = store.TableSchema{}, store.TableSchema{}
		}
		t.collection, err = st.Create(ctx, name, store.Schema{Analyzer: analyzer, Tables: all})
	}
	if errors.Is(err, store.ErrReadOnly) {
		_, err = st.Open(ctx, name) // the store is read-only and has no such collection
	}
	return t, err
}

// Refresh reads the generation that is published in the store now. Questions in progress end with the old one.
// For a system in memory it does nothing.
func (s *System) Refresh(ctx context.Context) error {
	if s.tables == nil {
		return nil
	}
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	default:
		return nil // the running change does the same when it ends
	}
	if err := s.refresh(ctx, "", nil); err != nil {
		return fmt.Errorf("%s: refresh: %w", s.frame.Name, err)
	}
	return nil
}

// refresh makes the published generation visible. made is its state if the published generation has the name,
// else it is released.
func (s *System) refresh(ctx context.Context, name string, made *state) error {
	p, err := s.pin(ctx)
	if err != nil {
		if errors.Is(err, store.ErrNotFound) {
			err = nil // nothing was indexed yet
		}
		return errors.Join(err, made.release())
	}
	st := made
	if is := p.generation.Name(); st != nil && is != name {
		err, st = made.release(), nil
	} else if now := s.now.Load(); st == nil && s.tables.built && now != nil && now.pinned.generation.Name() == is {
		return p.generation.Close()
	}
	switch {
	case err != nil:
	case !s.tables.built:
		st = &state{docs: newLibrary()}
		st.retriever, err = s.stored(p, graphrag.Condition{})
		st.docs.chunks = p.contents.Chunks
		for tokens, n := range p.contents.Lengths {
			st.docs.lengths.Set(tokens, n)
		}
		st.refs.Store(1)
	case st == nil:
		var c *content
		if c, err = p.content(ctx, nil, true); err == nil {
			st, err = c.build(ctx, s.frame, &source{p.chunks}, true)
		}
	}
	if err != nil {
		return errors.Join(err, p.generation.Close())
	}
	if s.tables.built {
		st.strip()
		st.source.table = p.chunks
	}
	st.pinned, st.stats.Documents, st.stats.Chunks, st.stats.Recall = p, p.contents.Documents, p.contents.Chunks, p.contents.Recall
	return s.show(st)
}

// pin opens the published generation, and checks its settings.
func (s *System) pin(ctx context.Context) (*pinned, error) {
	g, err := s.tables.collection.Pin(ctx)
	if err != nil {
		return nil, err
	}
	p, err := open(ctx, g)
	if err == nil && p.contents.Settings != s.settings() {
		err = fmt.Errorf("%w: with %+v, this system has %+v: open it with the saved options, or index again", ErrOptions, p.contents.Settings, s.settings())
	}
	if err != nil {
		return nil, errors.Join(err, g.Close())
	}
	return p, nil
}

// open opens the tables of a generation, and reads its contents unless the generation is new.
func open(ctx context.Context, g store.Generation) (*pinned, error) {
	p := &pinned{generation: g}
	var err1, err2, err3 error
	p.chunks, err1 = g.Table(chunksTable)
	p.docs, err2 = g.Table(documentsTable)
	t, err3 := g.Table(settingsTable)
	if err := errors.Join(err1, err2, err3); err != nil {
		return nil, err
	}
	p.extractions, _ = g.Table(extractionsTable)
	p.replies, _ = g.Table(repliesTable)
	records, err := t.Get(ctx, contentsID)
	if err == nil && len(records) == 1 {
		err = json.Unmarshal(records[0].Data, &p.contents)
	}
	if p.contents.Lengths == nil {
		p.contents.Lengths = make(map[int]int)
	}
	return p, err
}

// checkFields returns an error if no document in scope has one of the fields.
func (p *pinned) checkFields(ctx context.Context, inScope graphrag.Condition, names []string) error {
	for _, name := range names {
		with, err := p.chunks.Count(ctx, graphrag.And(inScope, graphrag.Exists(name)))
		if err != nil {
			return err
		}
		if with > 0 {
			continue
		}
		if any, err := p.chunks.Count(ctx, inScope); any > 0 || err != nil {
			return errors.Join(err, fmt.Errorf("%w: no document has the field %.80q", ErrField, name))
		}
	}
	return nil
}

// changed makes a change of the collection and publishes it. With fresh it begins with an empty generation.
func (s *System) changed(ctx context.Context, what string, fresh bool, docs iter.Seq2[graphrag.Document, error], deleted []string) (stats graphrag.IndexStats, err error) {
	select {
	case s.writing <- struct{}{}:
		defer func() { <-s.writing }()
	case <-ctx.Done():
		return s.failed(what, ctx.Err())
	}
	ctx, meter := metering.WithMeter(metering.WithStage(ctx, "index"))
	ctx, counts := withTally(ctx, s.frame.Progress)
	name, made, err := s.turnover(ctx, fresh, docs, deleted)
	if err == nil {
		err = s.refresh(ctx, name, made)
	}
	if err != nil {
		return s.failed(what, err)
	}
	stats = s.now.Load().stats
	stats.Usage, stats.Stages = meter.Usage(), append(stats.Stages, counts.list()...)
	return stats, nil
}

// turnover writes the next generation, publishes it, and removes all others. It returns the name of the
// generation, and its state if the recipe has a Build.
func (s *System) turnover(ctx context.Context, fresh bool, docs iter.Seq2[graphrag.Document, error], deleted []string) (next string, made *state, err error) {
	c := s.tables.collection
	names, was, err := c.Generations(ctx)
	if err != nil {
		return "", nil, err
	}
	n := 0
	for _, name := range names {
		at, _ := strconv.Atoi(strings.TrimPrefix(name, "g"))
		n = max(n, at)
	}
	next = fmt.Sprintf("g%d", n+1)
	var g store.Generation
	switch {
	case fresh:
		g, err = c.Write(ctx, next)
	case was == "":
		return "", nil, errors.New("nothing is indexed yet: call Index first")
	default:
		g, err = c.Fork(ctx, next, was)
	}
	if err != nil {
		return "", nil, err
	}
	paid := s.tables.replies(slices.Contains(names, repliesGeneration))
	if share.Kept(ctx) == nil {
		ctx = paid.With(ctx)
	}
	err = s.fill(ctx, g, fresh, docs, deleted)
	if err == nil && s.tables.built {
		made, err = s.built(ctx, g, fresh)
	}
	if err == nil {
		err = c.Publish(ctx, next, was)
	}
	if err = errors.Join(err, g.Close(), paid.Close(ctx, err)); err != nil {
		discarded := c.Discard(context.WithoutCancel(ctx), next)
		if errors.Is(err, store.ErrConflict) || errors.Is(discarded, store.ErrNotFound) {
			err, discarded = fmt.Errorf("another change of the collection was published during this one: make this change again: %w", err), nil
		}
		return "", nil, errors.Join(err, made.release(), discarded)
	}
	for _, name := range slices.Compact(slices.Sorted(slices.Values(append(names, repliesGeneration)))) { // also generations left by killed changes
		if failed := c.Discard(ctx, name); !errors.Is(failed, store.ErrNotFound) {
			err = errors.Join(err, failed)
		}
	}
	return next, made, err
}

// replies opens the replies of changes that did not end, for the next change; there says that there are some.
func (t *tables) replies(there bool) *share.Replies {
	return &share.Replies{Table: settingsTable, Durable: t.durable, New: !there, Open: func(ctx context.Context) (store.Generation, error) {
		return t.collection.Write(ctx, repliesGeneration)
	}}
}

// fill deletes documents from a generation, puts others, and flushes it.
func (s *System) fill(ctx context.Context, g store.Generation, fresh bool, docs iter.Seq2[graphrag.Document, error], deleted []string) error {
	p, err := open(ctx, g)
	if err != nil {
		return err
	}
	if !fresh && p.contents.Settings != s.settings() {
		return fmt.Errorf("%w: index again with the options of this system", ErrOptions)
	}
	w := &revision{pinned: p, system: s, fresh: fresh, now: make(map[string][]int)}
	p.contents.Settings = s.settings()
	for part := range slices.Chunk(deleted, atOnce) {
		if err := w.delete(ctx, part); err != nil {
			return err
		}
	}
	if docs != nil && !s.frame.Blind {
		if err := w.all(ctx, docs); err != nil {
			return err
		}
	}
	if err := s.measure(ctx, p); err != nil {
		return err
	}
	data, err := json.Marshal(p.contents)
	if err != nil {
		return err
	}
	t, err := g.Table(settingsTable)
	if err == nil {
		err = cmp.Or(t.Put(ctx, store.Record{ID: contentsID, Data: data}), g.Flush(ctx))
	}
	return err
}

// revision is a generation that a change writes to.
type revision struct {
	*pinned
	system *System
	fresh  bool
	now    map[string][]int // lengths of the chunks of each changed document, nil for a deleted one
}

// The largest number and size in bytes of documents that are cut and put in one batch.
const (
	atOnce      = 1024
	bytesAtOnce = 16 << 20
)

func (w *revision) delete(ctx context.Context, ids []string) error {
	old, err := w.lengths(ctx, ids)
	if err != nil {
		return err
	}
	var gone []string
	for _, id := range ids {
		gone = append(gone, w.tally(id, old[id], nil)...)
	}
	return errors.Join(w.forget(ctx, old), w.chunks.Delete(ctx, gone...), w.docs.Delete(ctx, ids...))
}

// forget deletes the extractions of documents.
func (w *revision) forget(ctx context.Context, docs map[string][]int) error {
	var gone []string
	for id, lengths := range docs {
		for i := range lengths {
			gone = append(gone, chunk.ID(id, i))
		}
	}
	if w.extractions == nil || len(gone) == 0 {
		return nil
	}
	return w.extractions.Delete(ctx, gone...)
}

// lengths returns the lengths of the chunks of each document that is indexed.
func (w *revision) lengths(ctx context.Context, ids []string) (map[string][]int, error) {
	out := make(map[string][]int)
	var ask []string
	for _, id := range ids {
		if now, ok := w.now[id]; !ok {
			ask = append(ask, id)
		} else if now != nil {
			out[id] = now
		}
	}
	if w.fresh || len(ask) == 0 {
		return out, nil
	}
	records, err := w.docs.Get(ctx, ask...)
	for _, r := range records {
		list := []int{}
		err = errors.Join(err, json.Unmarshal(r.Data, &list))
		out[r.ID] = list
	}
	return out, err
}

// tally updates the statistics when the chunks of a document change from the lengths before to the lengths
// after; nil is no document. It returns the IDs of the chunks that no longer exist.
func (w *revision) tally(id string, before, after []int) (gone []string) {
	c := &w.contents
	add := func(list []int, sign int) {
		if list != nil {
			c.Documents += sign
		}
		for _, tokens := range list {
			c.Chunks += sign
			if c.Lengths[tokens] += sign; c.Lengths[tokens] == 0 {
				delete(c.Lengths, tokens)
			}
		}
	}
	add(before, -1)
	add(after, 1)
	if !w.fresh {
		w.now[id] = after
	}
	for i := len(after); i < len(before); i++ {
		gone = append(gone, chunk.ID(id, i))
	}
	return gone
}

// all puts documents, which may replace indexed ones.
func (w *revision) all(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) error {
	some := make([]graphrag.Document, 0, atOnce)
	put, size, seen := 0, 0, make(map[string]bool)
	for doc, err := range docs {
		if err == nil {
			doc, err = doc.Normal()
		}
		if err == nil && seen[doc.ID] {
			err = fmt.Errorf("document %q occurs twice: make the IDs unique", doc.ID)
		}
		if err != nil {
			return err
		}
		if !w.fresh {
			seen[doc.ID] = true
		}
		put, size = put+1, size+len(doc.Text)
		if some = append(some, doc); len(some) == atOnce || size > bytesAtOnce {
			if err := w.some(ctx, some); err != nil {
				return err
			}
			clear(some)
			some, size = some[:0], 0
		}
	}
	if err := w.some(ctx, some); err != nil || !w.fresh {
		return err
	}
	if err := w.generation.Flush(ctx); err != nil {
		return err
	}
	if n, err := w.docs.Count(ctx, graphrag.Condition{}); n != put || err != nil {
		return errors.Join(err, fmt.Errorf("%d documents have %d IDs: make the IDs unique", put, n))
	}
	return nil
}

// some cuts documents, and puts the documents and their chunks.
func (w *revision) some(ctx context.Context, docs []graphrag.Document) error {
	cut := make([][]graphrag.Chunk, len(docs))
	err := par.Each(ctx, len(docs), 0, func(i int) (err error) {
		cut[i], err = w.system.tables.chunker.Document(ctx, docs[i])
		return err
	})
	ids := make([]string, len(docs))
	for i, d := range docs {
		ids[i] = d.ID
	}
	var old map[string][]int
	if err == nil {
		old, err = w.lengths(ctx, ids)
	}
	if err != nil {
		return err
	}
	var documents []store.Record
	var gone []string
	for i, d := range docs {
		lengths := make([]int, len(cut[i]))
		for j, c := range cut[i] {
			lengths[j] = max(1, c.Tokens)
		}
		gone = append(gone, w.tally(d.ID, old[d.ID], lengths)...)
		data, _ := json.Marshal(lengths) // a list of numbers always encodes
		documents = append(documents, store.Record{ID: d.ID, Title: d.Title, Fields: d.Fields, Data: data})
	}
	records, err := w.system.records(ctx, slices.Concat(cut...))
	if err == nil {
		err = w.forget(ctx, old)
	}
	if err == nil && len(gone) > 0 {
		err = w.chunks.Delete(ctx, gone...)
	}
	if err == nil {
		err = cmp.Or(w.chunks.Put(ctx, records...), w.docs.Put(ctx, documents...))
	}
	note(ctx, func(t *tally) { t.sofar.Documents, t.sofar.Chunks = w.contents.Documents, w.contents.Chunks })
	return err
}

// list returns the IDs of the documents, in order.
func (p *pinned) list(ctx context.Context) (ids []string, err error) {
	for r, err := range p.docs.All(ctx, "") {
		if err != nil {
			return nil, err
		}
		ids = append(ids, r.ID)
	}
	return ids, nil
}

// get returns the chunks of a document, in order.
func (p *pinned) get(ctx context.Context, id string) (chunks []graphrag.Chunk, ok bool, err error) {
	docs, err := p.docs.Get(ctx, id)
	if err != nil || len(docs) == 0 {
		return nil, false, err
	}
	var lengths []int
	if err := json.Unmarshal(docs[0].Data, &lengths); err != nil {
		return nil, false, err
	}
	ids := make([]string, len(lengths))
	for i := range ids {
		ids[i] = chunk.ID(id, i)
	}
	chunks, err = chunksOf(ctx, p.chunks, ids)
	return chunks, true, err
}
