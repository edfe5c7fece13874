// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// state is one version of an index. It does not change once readers see it.
type state struct {
	docs      map[string][]graphrag.Chunk
	base      *kg.Base // nil without a graph
	graph     *kg.Graph
	retriever graphrag.Retriever
	stats     graphrag.IndexStats
	// shelf holds its indexes, refs counts their users: one while readers see the state,
	// and one for each running question.
	shelf *Shelf
	refs  atomic.Int64
	views views
	// shortest are the cumulative sums of the lengths of chunks in tokens, ascending.
	shortest []int
}

// draft is the next state before it is built: documents, and the extractions of all chunks
// but the fresh ones.
type draft struct {
	docs  map[string][]graphrag.Chunk
	base  *kg.Base
	fresh []graphrag.Chunk
	frame Frame
}

func newDraft(f Frame) (*draft, error) {
	d := &draft{docs: make(map[string][]graphrag.Chunk), frame: f}
	if f.Extract.Extractor == nil {
		return d, nil
	}
	var err error
	d.base, err = kg.NewBase(f.Knowledge)
	return d, err
}

// draft begins with a copy of a state.
func (s *state) draft(f Frame) *draft {
	d := &draft{docs: maps.Clone(s.docs), frame: f}
	if s.base != nil {
		d.base = s.base.Clone()
	}
	return d
}

// insert cuts documents, concurrently.
func (d *draft) insert(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) error {
	chunker, err := d.frame.Cut.Chunker()
	if err != nil || d.frame.Blind {
		return err
	}
	cut := make(map[string][]graphrag.Chunk) // by document, including those without chunks
	all, err := chunker.All(ctx, func(yield func(graphrag.Document, error) bool) {
		for doc, err := range docs {
			cut[doc.ID] = nil
			if !yield(doc, err) {
				return
			}
		}
	})
	if err != nil {
		return err
	}
	for lo, hi := 0, 0; lo < len(all); lo = hi { // those of a document follow one another
		for hi = lo + 1; hi < len(all) && all[hi].Doc == all[lo].Doc; {
			hi++
		}
		cut[all[lo].Doc] = slices.Clone(all[lo:hi])
	}
	for id, chunks := range cut {
		d.delete(id)
		d.docs[id] = chunks
	}
	d.fresh = all
	return ctx.Err()
}

// update deletes and inserts.
func (d *draft) update(ctx context.Context, docs iter.Seq2[graphrag.Document, error], deleted []string) error {
	d.delete(deleted...)
	if docs == nil {
		return nil
	}
	return d.insert(ctx, docs)
}

func (d *draft) delete(ids ...string) {
	for _, id := range ids {
		delete(d.docs, id)
	}
	if d.base != nil {
		d.base.Delete(ids...)
	}
}

// build makes the state: it extracts from the fresh chunks, makes the knowledge graph, and
// builds the retriever.
func (d *draft) build(ctx context.Context, f Frame) (*state, error) {
	all := slices.SortedFunc(flat(maps.Values(d.docs)), func(a, b graphrag.Chunk) int { return strings.Compare(a.ID, b.ID) })
	s := &state{docs: d.docs, base: d.base, stats: graphrag.IndexStats{Documents: len(d.docs), Chunks: len(all)}}
	ctx, counts := withTally(ctx, f.Progress)
	note(ctx, func(t *tally) { t.sofar = s.stats })
	if d.base != nil {
		k, err := d.known(ctx, f, all)
		if err != nil {
			return nil, err
		}
		s.base, s.graph = k.base, k.graph
		k.describe(&s.stats)
	}
	c := NewCorpus(f.Kit, all, s.graph)
	c.PerDoc = f.MaxPerDoc
	var err error
	s.retriever, err = f.Build(ctx, c)
	if err == nil && s.retriever == nil {
		err = errors.New("the frame's Build gave no retriever")
	}
	if err != nil {
		return nil, errors.Join(err, c.Shelf.Close())
	}
	if by := f.Kit.Rerank; by != nil {
		s.retriever = retrieve.Rerank(s.retriever, by)
	}
	c.Shelf.Finish()
	s.shelf = c.Shelf
	s.refs.Store(1)
	s.stats.Stages, s.stats.Schema = append(s.stats.Stages, counts.list()...), counts.sofar.Schema
	for _, c := range all {
		s.shortest = append(s.shortest, max(1, c.Tokens))
	}
	slices.Sort(s.shortest)
	for i := 1; i < len(s.shortest); i++ {
		s.shortest[i] += s.shortest[i-1]
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.release())
	}
	return s, nil
}

// release ends the use of one reader.
func (s *state) release() error {
	if s == nil || s.refs.Add(-1) > 0 {
		return nil
	}
	s.views.close()
	return s.shelf.Close()
}

// acquire begins the use of one reader, unless the state is closed.
func (s *state) acquire() bool {
	for {
		n := s.refs.Load()
		if n <= 0 || s.refs.CompareAndSwap(n, n+1) {
			return n > 0
		}
	}
}

// known is the extractions of chunks and their graph.
type known struct {
	base  *kg.Base
	graph *kg.Graph
}

// knownKey is the memo's key of the extractions of a named extractor.
type knownKey struct {
	read
	options kg.Options
}

// known extracts from the fresh chunks, or from all of them, and merges the result with the
// extractions of the others.
func (d *draft) known(ctx context.Context, f Frame, all []graphrag.Chunk) (*known, error) {
	x, ok := f.Extract.Extractor.(named)
	if !ok {
		return d.put(ctx, f, all, d.base)
	}
	return memo.Of(ctx, knownKey{read{x.name, digest(all)}, f.Knowledge}, func() (*known, error) {
		base, err := kg.NewBase(f.Knowledge) // of all chunks: it is a whole extractor
		if err != nil {
			return nil, err
		}
		return d.put(ctx, f, all, base)
	})
}

func (d *draft) put(ctx context.Context, f Frame, all []graphrag.Chunk, base *kg.Base) (*known, error) {
	if f.Extract.Whole {
		d.fresh = all
	}
	found, err := f.Extract.Extract(ctx, d.fresh)
	if err == nil {
		err = base.Insert(found...)
	}
	if err != nil {
		return nil, err
	}
	k := &known{base: base}
	d.fresh = nil // they are in the base now
	if k.graph, err = base.Graph(ctx); err != nil {
		return nil, err
	}
	return k, nil
}

// describe adds the graph to the statistics of an index.
func (k *known) describe(s *graphrag.IndexStats) {
	s.Stages = []graphrag.Stage{extracted(k.graph)}
	s.Entities, s.Relations = len(k.graph.Entities), len(k.graph.Relations)
	s.AverageDegree, s.MaxDegree, s.IsolatedShare = k.graph.Degrees()
}

// deepen sets K to the largest number of chunks that the budget of a question can contain:
// one more than the shortest chunks that fit into it.
func (s *state) deepen(q graphrag.Question) graphrag.Question {
	if q.Tokens > 0 {
		n, _ := slices.BinarySearch(s.shortest, q.Tokens+1)
		q.K = min(n+1, len(s.shortest))
	}
	return q
}

func flat[T any](lists iter.Seq[[]T]) iter.Seq[T] {
	return func(yield func(T) bool) {
		for list := range lists {
			for _, x := range list {
				if !yield(x) {
					return
				}
			}
		}
	}
}

// distinct sorts a list and keeps each entry once.
func distinct[T cmp.Ordered](list []T) []T {
	slices.Sort(list)
	return slices.Compact(list)
}
