// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/trace"
)

// state is one version of an index. It does not change after questions can use it.
type state struct {
	docs      *library
	base      *kg.Base // nil without a graph
	graph     *kg.Graph
	retriever graphrag.Retriever
	updater   retrieve.Updater // the retriever before reranking; nil if a change builds a new one
	stats     graphrag.IndexStats
	// pinned is the generation with its chunks, nil in memory. refs counts the users: one while the state is
	// visible, and one for each running question.
	pinned  *pinned
	source  *source // table of the chunks of a retriever that Build made, nil in memory
	mapped  *mappings
	refs    atomic.Int64
	views   views
	history history
}

// draft is the next state before it is built: its documents, and the extractions of chunks that are not fresh.
type draft struct {
	docs    *library
	base    *kg.Base
	fresh   []graphrag.Chunk
	gone    []graphrag.Chunk
	from    retrieve.Updater // updater of the old state, if the change updates it
	source  *source          // nil if the state is in memory
	read    bool             // all extractions are known
	history history
}

func newDraft(f Frame) (*draft, error) {
	d := &draft{docs: newLibrary(), history: newHistory()}
	if f.Extract.Extractor == nil {
		return d, nil
	}
	var err error
	d.base, err = kg.NewBase(f.Knowledge)
	return d, err
}

// draft returns a copy of a state as a draft.
func (s *state) draft() *draft {
	d := &draft{docs: s.docs.copy(), from: s.updater, history: s.history}
	if len(d.history.ids) > s.stats.Documents+manyReplies {
		d.history = newHistory() // the next Save writes everything
	}
	if s.base != nil {
		d.base = s.base.Clone()
	}
	return d
}

// update is a change of documents: the new documents, cut into chunks, including documents without chunks, and
// the IDs of deleted ones.
type update struct {
	cut     map[string][]graphrag.Chunk
	chunks  []graphrag.Chunk
	deleted []string
}

// update cuts documents concurrently. docs may be nil.
func (f Frame) update(ctx context.Context, docs iter.Seq2[graphrag.Document, error], deleted []string) (_ *update, err error) {
	u := &update{cut: make(map[string][]graphrag.Chunk), deleted: deleted}
	chunker, err := f.Cut.Chunker()
	if err != nil || f.Blind || docs == nil {
		return u, err
	}
	ctx, span := trace.Start(ctx, "cut")
	defer func() { span.End(err) }()
	u.chunks, err = chunker.All(ctx, func(yield func(graphrag.Document, error) bool) {
		for doc, err := range docs {
			if err == nil {
				doc, err = doc.Normal()
			}
			u.cut[doc.ID] = nil
			if !yield(doc, err) {
				return
			}
		}
	})
	if err != nil {
		return nil, err
	}
	for all, lo, hi := u.chunks, 0, 0; lo < len(all); lo = hi { // the chunks of a document are consecutive
		for hi = lo + 1; hi < len(all) && all[hi].Doc == all[lo].Doc; {
			hi++
		}
		u.cut[all[lo].Doc] = slices.Clone(all[lo:hi])
	}
	span.Set(slog.Int("wildgraph.documents", len(u.cut)), slog.Int("wildgraph.chunks", len(u.chunks)))
	return u, ctx.Err()
}

// take applies a change to the draft. Several changes may be applied in sequence.
func (d *draft) take(u *update) {
	d.delete(u.deleted...)
	d.delete(slices.Collect(maps.Keys(u.cut))...)
	for id, chunks := range u.cut {
		d.docs.put(id, chunks)
	}
	d.fresh = append(d.fresh, u.chunks...)
}

func (d *draft) delete(ids ...string) {
	d.history.ids = append(d.history.ids, ids...) // states share the list, each has a prefix of it
	for _, id := range ids {
		d.gone = append(d.gone, d.docs.delete(id)...)
	}
	if len(d.fresh) > 0 {
		gone := make(map[string]bool, len(ids))
		for _, id := range ids {
			gone[id] = true
		}
		d.fresh = slices.DeleteFunc(d.fresh, func(c graphrag.Chunk) bool { return gone[c.Doc] })
	}
	if d.base != nil {
		d.base.Delete(ids...)
	}
}

// build makes the state: it extracts from the fresh chunks, makes the knowledge graph, and builds the retriever
// or updates the old one.
func (d *draft) build(ctx context.Context, f Frame) (*state, error) {
	s := &state{docs: d.docs, base: d.base, history: d.history, stats: graphrag.IndexStats{Documents: d.docs.docs.Len(), Chunks: d.docs.chunks}}
	ctx, counts := withTally(ctx, f.Progress)
	note(ctx, func(t *tally) { t.sofar = s.stats })
	var err error
	if d.from != nil {
		s.updater, err = trace.Do(ctx, "change the index", func(ctx context.Context) (retrieve.Updater, error) { return d.from.Update(ctx, d.fresh, d.gone) }, slog.Int("wildgraph.chunks", len(d.fresh)))
		s.retriever = s.updater
	}
	if err == nil && s.updater == nil {
		err = d.rebuild(ctx, f, s)
	}
	if err != nil {
		return nil, err
	}
	s.retriever = f.reranked(s.retriever)
	s.refs.Store(1)
	s.stats.Stages, s.stats.Schema = append(s.stats.Stages, counts.list()...), counts.sofar.Schema
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// rebuild builds the retriever over all chunks.
func (d *draft) rebuild(ctx context.Context, f Frame, s *state) error {
	all := d.docs.sorted()
	if d.base != nil {
		k, err := d.known(ctx, f, all)
		if err != nil {
			return err
		}
		s.base, s.graph = k.base, k.graph
		k.describe(&s.stats)
	}
	c := f.Kit.Corpus(all, s.graph)
	c.PerDoc = f.MaxPerDoc
	if d.source != nil {
		var err error
		if s.mapped, err = newMappings(); err == nil {
			err = c.stored(ctx, d.source, s.mapped)
		}
		if err != nil {
			return errors.Join(err, s.mapped.close())
		}
		s.source = d.source
		defer os.RemoveAll(s.mapped.dir) // the mapped files stay readable where the operating system permits it
	}
	r, err := trace.Do(ctx, "build", func(ctx context.Context) (graphrag.Retriever, error) { return f.Builder()(ctx, c) }, slog.Int("wildgraph.chunks", len(all)))
	if err == nil && r == nil {
		err = errors.New("Frame.Build returned no retriever and no error")
	}
	if err != nil {
		return errors.Join(err, s.mapped.close())
	}
	if s.retriever = r; f.flat() && d.base == nil && d.source == nil {
		s.updater, _ = r.(retrieve.Updater)
	}
	return nil
}

// reranked returns r, or, if the kit has a reranker, a retriever that reorders the results of r.
func (f Frame) reranked(r graphrag.Retriever) graphrag.Retriever {
	if f.Kit.Rerank == nil {
		return r
	}
	return retrieve.Rerank(r, f.Kit.Rerank)
}

// release ends one use of the state. The last one closes it.
func (s *state) release() error {
	if s == nil || s.refs.Add(-1) > 0 {
		return nil
	}
	s.views.close()
	err := s.mapped.close()
	if s.pinned != nil {
		err = errors.Join(err, s.pinned.generation.Close())
	}
	return err
}

// strip removes from a state in a store everything that questions do not need.
func (s *state) strip() {
	s.base, s.graph = nil, nil
	s.docs = &library{newLibrary().docs, s.docs.lengths, s.docs.chunks}
}

// get returns the chunks of a document, in order.
func (s *state) get(ctx context.Context, id string) (chunks []graphrag.Chunk, ok bool, err error) {
	if s.pinned != nil {
		return s.pinned.get(ctx, id)
	}
	chunks, ok = s.docs.docs.Get(id)
	return chunks, ok, nil
}

// chunks returns the chunks with some IDs, without those that do not exist.
func (s *state) chunks(ctx context.Context, ids []string) (list []graphrag.Chunk, err error) {
	if s.pinned != nil {
		return readChunks(ctx, s.pinned.chunks, ids)
	}
	for _, id := range ids {
		of, _ := s.docs.docs.Get(id[:max(0, strings.LastIndexByte(id, '#'))])
		if n := slices.IndexFunc(of, func(c graphrag.Chunk) bool { return c.ID == id }); n >= 0 {
			list = append(list, of[n])
		}
	}
	return list, nil
}

// acquire begins one use of the state; it returns false if the state is closed.
func (s *state) acquire() bool {
	for {
		n := s.refs.Load()
		if n <= 0 || s.refs.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

// corpusState holds the extractions of chunks and the graph made from them.
type corpusState struct {
	base  *kg.Base
	graph *kg.Graph
}

// knownKey is the key under which a memo keeps the extractions of a named extractor.
type knownKey struct {
	readKey
	options kg.Options
}

// known extracts from the fresh chunks and merges the result with the other extractions; a whole extractor
// reads all chunks again.
func (d *draft) known(ctx context.Context, f Frame, all []graphrag.Chunk) (*corpusState, error) {
	x, ok := f.Extract.Extractor.(named)
	if !ok || !memo.Under(ctx) {
		return d.put(ctx, f, all, d.base)
	}
	return memo.Of(ctx, knownKey{readKey{x.name, digest(all)}, f.Knowledge}, func() (*corpusState, error) {
		base, err := kg.NewBase(f.Knowledge) // a whole extractor has read all chunks
		if err != nil {
			return nil, err
		}
		return d.put(ctx, f, all, base)
	})
}

func (d *draft) put(ctx context.Context, f Frame, all []graphrag.Chunk, base *kg.Base) (*corpusState, error) {
	if f.Extract.Whole && !d.read {
		d.fresh = all
	}
	found, err := trace.Do(ctx, stepExtract, func(ctx context.Context) ([]kg.Extraction, error) { return f.Extract.Extract(ctx, d.fresh) }, slog.Int("wildgraph.chunks", len(d.fresh)))
	if err == nil {
		err = base.Insert(found...)
	}
	if err != nil {
		return nil, err
	}
	k := &corpusState{base: base}
	d.fresh = nil // their extractions are in the base now
	if k.graph, err = trace.Do(ctx, "graph", base.Graph); err != nil {
		return nil, err
	}
	return k, nil
}

// describe adds the figures of the graph to the statistics of an index.
func (k *corpusState) describe(s *graphrag.IndexStats) {
	s.Stages = []graphrag.Stage{extracted(k.graph)}
	s.Entities, s.Relations = len(k.graph.Entities), len(k.graph.Relations)
	s.AverageDegree, s.MaxDegree, s.IsolatedShare = k.graph.Degrees()
}

// deepen sets K to the largest number of chunks that can fit the budget of a question, plus one, computed from
// the shortest chunks, and Depth to that for the floor.
func (s *state) deepen(a amount) graphrag.Question {
	q := a.Question
	if q.Tokens > 0 {
		q.K = min(s.docs.within(q.Tokens)+1, s.docs.chunks)
	}
	if a.floor > 0 {
		q.Depth = max(q.K, min(s.docs.within(a.floor)+1, s.docs.chunks))
	}
	return q
}

// library holds the chunks of documents, by the ID of the document. Copies share the parts that have not
// changed since, so the cost of a change does not depend on the number of documents.
type library struct {
	docs    *btree.Map[string, []graphrag.Chunk]
	lengths *btree.Map[int, int] // number of chunks by their length in tokens
	chunks  int
}

func newLibrary() *library {
	return &library{docs: btree.NewMap[string, []graphrag.Chunk](0), lengths: btree.NewMap[int, int](0)}
}

// copy returns a library that can be changed while l is read.
func (l *library) copy() *library { return &library{l.docs.Copy(), l.lengths.Copy(), l.chunks} }

// put adds a document, or replaces the one with its ID.
func (l *library) put(id string, chunks []graphrag.Chunk) {
	before, _ := l.docs.Set(id, chunks)
	l.count(before, -1)
	l.count(chunks, 1)
}

// delete removes a document, and returns its chunks.
func (l *library) delete(id string) []graphrag.Chunk {
	chunks, _ := l.docs.Delete(id)
	l.count(chunks, -1)
	return chunks
}

func (l *library) count(chunks []graphrag.Chunk, sign int) {
	l.chunks += sign * len(chunks)
	for _, c := range chunks {
		tokens := max(1, c.Tokens)
		n, _ := l.lengths.Get(tokens)
		if n += sign; n == 0 {
			l.lengths.Delete(tokens)
		} else {
			l.lengths.Set(tokens, n)
		}
	}
}

// within returns how many of the shortest chunks together have at most the given number of tokens.
func (l *library) within(tokens int) (n int) {
	l.lengths.Scan(func(length, of int) bool {
		fit := min(of, tokens/length)
		n, tokens = n+fit, tokens-fit*length
		return fit == of
	})
	return n
}

// all yields the documents in the order of their IDs.
func (l *library) all() iter.Seq2[string, []graphrag.Chunk] {
	return func(yield func(string, []graphrag.Chunk) bool) { l.docs.Scan(yield) }
}

// sorted returns all chunks in the order of their IDs.
func (l *library) sorted() []graphrag.Chunk {
	all := make([]graphrag.Chunk, 0, l.chunks)
	for _, chunks := range l.all() {
		all = append(all, chunks...)
	}
	slices.SortFunc(all, func(a, b graphrag.Chunk) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// distinct sorts a list and keeps each entry once.
func distinct[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
