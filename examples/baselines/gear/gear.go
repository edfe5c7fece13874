// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding}, Problems: o.check()}
	if o.Original {
		f.Name = NameOriginal
	}
	o = o.withDefaults()
	if o.Graph == nil {
		f.ExtractBy(o.Extract, k.Triples)
	}
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (graphrag.Retriever, error) {
	s := &searcher{o: o, corpus: c, place: make(map[string]int32), graph: o.Graph, voting: o.Original && k.AnswerModel != nil}
	for i := range c.Chunks {
		s.place[c.Chunks[i].ID] = int32(i)
	}
	var err error
	if s.base, err = s.hybrid(ctx); err != nil {
		return nil, err
	}
	if s.graph == nil {
		if s.graph, err = triples.New(ctx, s.stated, triples.Options{}); err != nil {
			return nil, err
		}
	}
	s.read, err = s.reading(k)
	if err != nil {
		return nil, err
	}
	s.keep = kit.Step(k.AnswerModel, filterByModel, keepAll)
	return s.agent(k)
}

// hybrid is the retrieval of passages: BM25, and what the kit takes for alike, fused
// by rank (GeAR-s, equation 1).
func (s *searcher) hybrid(ctx context.Context) (r graphrag.Retriever, err error) {
	// The settings of the system bm25, made for passages of whole pages.
	if s.words, err = retrieve.NewSparse(ctx, s.corpus.Chunks, bm25.Options{K1: 4.46, B: .82, TitleWeight: 2}); err != nil {
		return nil, err
	}
	like, err := s.corpus.FindChunks(ctx)
	if err != nil {
		return nil, err
	}
	dense := graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		scores, err := like.Scores(ctx, q.Text, nil)
		return graphrag.Found{Ranked: s.corpus.ByScore(scores, q.Want(), "like")}, err
	})
	if r, err = retrieve.Fuse(s.words, dense); err != nil {
		return nil, err
	}
	return retrieve.PerDoc(r, s.o.MaxPerDoc)
}

// stated are the triples of the corpus: triple i is relation i of its graph.
func (s *searcher) stated(yield func(triples.Triple, error) bool) {
	g := s.corpus.Graph
	entity := func(e int32) triples.Entity { return triples.Entity{ID: g.Entities[e].Key, Label: g.Entities[e].Name} }
	for i := range g.Relations {
		r := &g.Relations[i]
		if !yield(triples.Triple{Head: entity(r.Head), Relation: triples.Entity{ID: r.Label, Label: r.Label}, Tail: entity(r.Tail)}, nil) {
			return
		}
	}
}

// agent searches step by step.
func (s *searcher) agent(k kit.Kit) (graphrag.Retriever, error) {
	first, later := s.step(s.o.Expand == ExpandAlways), s.step(s.o.Expand != ExpandNever)
	if s.o.Steps == 1 {
		return s.finish(first), nil
	}
	r, err := agent.Reflecting(first, later, kit.Step(k.AnswerModel, reflectByModel, reflectByRules), agent.Options{Steps: s.o.Steps - 1, Merge: s.fused})
	return s.finish(r), err
}
