// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm/usage"
)

// Corpus is what a graph system is built over. Chunks are sorted by ID; chunk i
// is passage i of the graph.
type Corpus struct {
	Chunks []graphrag.Chunk
	Graph  *kg.Graph
}

// Found is what a search comes to.
type Found struct {
	// Ranked are chunks, best first, as many as the question's Depth wants.
	Ranked []graphrag.Hit
	// Evidence is the source text to read; nil for the first K of Ranked.
	Evidence []graphrag.Hit
	// Derived is what else goes into the prompt: facts, descriptions, reports.
	Derived []graphrag.Derived
	// Answer, when set, is the answer: there is nothing left to read.
	Answer *graphrag.Answer
}

// Search looks for what answers a question. It is called by many at once.
type Search func(ctx context.Context, q graphrag.Question) (Found, error)

// GraphFrame is what a [Graphed] system is made of.
type GraphFrame struct {
	Name string
	Cut  Cut
	Kit  Kit
	// Extract finds what the chunks say. With Whole it learns from the corpus
	// and must see all of it again when a document is added or removed.
	Extract extract.Extractor
	Whole   bool
	// Knowledge says how names become entities.
	Knowledge kg.Options
	// Build makes the search.
	Build func(ctx context.Context, c Corpus) (Search, error)
}

// Graphed is the frame of the systems that build a knowledge graph: cut the
// documents, extract, put together what is known, search it, read what was
// found. Everything after the extraction is a function of all extractions, so
// [Graphed.Insert] and [Graphed.Delete] leave the system that [Graphed.Index]
// would have built of the documents that are left, to the byte. What is built of
// the whole graph, such as condensed descriptions and reports, is asked for anew
// then: a kit whose model is wrapped in [paid.Cached] pays only for what changed.
type Graphed struct {
	frame   GraphFrame
	chunker *chunk.Chunker

	mu     sync.RWMutex
	docs   map[string][]graphrag.Chunk
	base   *kg.Base
	search Search
	stats  graphrag.IndexStats
	graph  *kg.Graph
}

var _ graphrag.System = (*Graphed)(nil)

// NewGraphed checks a frame and returns its system.
func NewGraphed(f GraphFrame) (*Graphed, error) {
	var problems []error
	if f.Kit.Reader == nil {
		problems = append(problems, fmt.Errorf("%s: the kit has no reader", f.Name))
	}
	if f.Extract == nil {
		problems = append(problems, fmt.Errorf("%s: the kit has no extractor", f.Name))
	}
	chunker, err := f.Cut.Chunker()
	if err != nil {
		problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
	}
	if _, err := kg.NewBase(f.Knowledge); err != nil {
		problems = append(problems, fmt.Errorf("%s: %w", f.Name, err))
	}
	return &Graphed{frame: f, chunker: chunker}, errors.Join(problems...)
}

// Name is the name of the frame.
func (s *Graphed) Name() string { return s.frame.Name }

// Index builds the system anew.
func (s *Graphed) Index(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	base, err := kg.NewBase(s.frame.Knowledge)
	if err != nil {
		return graphrag.IndexStats{}, err
	}
	s.docs, s.base, s.search = make(map[string][]graphrag.Chunk), base, nil
	return s.insert(ctx, docs)
}

// Insert adds documents; one with the ID of one that is there takes its place.
// The statistics are of the whole index, the usage is that of this call.
func (s *Graphed) Insert(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == nil {
		return graphrag.IndexStats{}, errors.New(s.frame.Name + ": Insert before Index")
	}
	return s.insert(ctx, docs)
}

// Delete removes documents. IDs that are not there change nothing.
func (s *Graphed) Delete(ctx context.Context, ids ...string) (graphrag.IndexStats, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.base == nil {
		return graphrag.IndexStats{}, errors.New(s.frame.Name + ": Delete before Index")
	}
	for _, id := range ids {
		delete(s.docs, id)
	}
	s.base.Delete(ids...)
	return s.build(ctx, nil)
}

func (s *Graphed) insert(ctx context.Context, docs iter.Seq2[graphrag.Document, error]) (graphrag.IndexStats, error) {
	var fresh []graphrag.Chunk
	for d, err := range docs {
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		cut, err := s.chunker.Document(d)
		if err != nil {
			return graphrag.IndexStats{}, err
		}
		s.base.Delete(d.ID)
		s.docs[d.ID] = cut
		fresh = append(fresh, cut...)
	}
	return s.build(ctx, fresh)
}

// build extracts from the fresh chunks, or from all, and makes the search.
func (s *Graphed) build(ctx context.Context, fresh []graphrag.Chunk) (graphrag.IndexStats, error) {
	ctx, account := WithAccount(usage.WithStage(ctx, "index"))
	all := s.chunks()
	if s.frame.Whole {
		fresh = all
	}
	found, err := s.frame.Extract.Extract(ctx, fresh)
	if err == nil {
		err = s.base.Insert(found...)
	}
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	g, err := s.base.Graph(ctx)
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	search, err := s.frame.Build(ctx, Corpus{all, g})
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	view, err := g.View(kg.ViewOptions{})
	if err != nil {
		return graphrag.IndexStats{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	st := view.Stats()
	s.search, s.graph = search, g
	s.stats = graphrag.IndexStats{
		Documents: len(s.docs), Chunks: len(all), Entities: len(g.Entities), Relations: len(g.Relations),
		AverageDegree: st.AverageDegree, MaxDegree: st.MaxDegree, IsolatedShare: st.IsolatedShare,
		Usage: account.Usage(),
	}
	return s.stats, nil
}

func (s *Graphed) chunks() []graphrag.Chunk {
	var all []graphrag.Chunk
	for _, id := range slices.Sorted(maps.Keys(s.docs)) {
		all = append(all, s.docs[id]...)
	}
	slices.SortFunc(all, func(a, b graphrag.Chunk) int { return strings.Compare(a.ID, b.ID) })
	return all
}

// Graph is what is known, nil before Index.
func (s *Graphed) Graph() *kg.Graph {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.graph
}

// Answer searches and reads.
func (s *Graphed) Answer(ctx context.Context, q graphrag.Question) (graphrag.Answer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.search == nil {
		return graphrag.Answer{}, errors.New(s.frame.Name + ": asked before Index")
	}
	sctx, account := WithAccount(usage.WithStage(ctx, "retrieve"))
	searched, err := s.search(sctx, q)
	if err != nil {
		return graphrag.Answer{}, fmt.Errorf("%s: %w", s.frame.Name, err)
	}
	a, err := s.read(ctx, q, searched)
	if err != nil {
		return graphrag.Answer{}, err
	}
	a.Ranked = found(searched.Ranked)
	a.Usage = a.Usage.Add(account.Usage())
	return a, nil
}

func (s *Graphed) read(ctx context.Context, q graphrag.Question, found Found) (graphrag.Answer, error) {
	if found.Answer != nil {
		return *found.Answer, nil
	}
	evidence := found.Evidence
	if evidence == nil {
		evidence = found.Ranked[:min(max(q.K, 0), len(found.Ranked))]
	}
	return s.frame.Kit.Reader.Read(ctx, q, evidence, found.Derived)
}

// Close releases the index.
func (s *Graphed) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.docs, s.base, s.search, s.graph = nil, nil, nil, nil
	return nil
}
