// SPDX-License-Identifier: Apache-2.0

// Package gear is GeAR as a recipe: graph retrieval that does not need the triples of the whole corpus (Shen
// and others, "Millions of GeAR-s: Extending GraphRAG to Millions of Documents", arXiv 2507.17399). Passages
// are retrieved; useful triples are read from them and remembered; from the second step on they are linked to
// the triples of a graph, which need not be of the corpus, and expanded by diverse beam search; the triples
// reached are aligned with passages, which are fused with the retrieved ones. After each step, a model or rules
// decide whether the remembered triples answer the question, and write the next query if not.
//
// [Options.Original] is the preceding system (arXiv 2412.18431): its graph is extracted
// from the corpus, its triples have source passages, and every step is expanded.
//
// [New] indexes a corpus in memory. [Over] searches over [Parts]: a corpus of millions
// of passages in a store, and a graph such as [Indexed] or [Stored].
package gear

import (
	"context"
	"fmt"
	"hash/fnv"
	"math/rand/v2"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []string{"Find", "Embed"}, Problems: o.check(k.AnswerModel)}
	o = o.Defaults()
	if o.Graph == nil {
		f.Name = NameCorpus
		f.ExtractBy(o.Extract, k.Triples)
	}
	if o.Original {
		f.Name = NameOriginal
	}
	f.Build = func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) { return build(ctx, k, o, c) }
	return kit.New(f)
}

func build(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (graphrag.Retriever, error) {
	p, err := PartsOf(ctx, k, o, c)
	if err != nil {
		return nil, err
	}
	o.Graph, o.Extract, o.Cut, o.Link, o.Share = nil, nil, kit.Cut{}, "", 0
	return Over(p, o)
}

// PartsOf returns the parts of a corpus in memory that [New] searches over, for callers that change
// them. It uses the options Graph, Link, Share and Seed.
func PartsOf(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (Parts, error) {
	o = o.Defaults()
	// The settings of the system bm25, made for passages of whole pages.
	words, err := c.Sparse(ctx, bm25.Options{K1: 4.46, B: .82, TitleWeight: 2})
	if err != nil {
		return Parts{}, err
	}
	dense, err := c.Dense(ctx)
	if err != nil {
		return Parts{}, err
	}
	p := Parts{Align: words, Find: c.Finder(), Kit: k}
	if p.Passages, err = retrieve.Fuse(words, dense); err != nil {
		return Parts{}, err
	}
	if p.Graph, err = graphOf(ctx, o, c); err == nil && o.Link == LinkDense {
		p.Align = dense
		p.Graph, err = denseGraph(ctx, p.Graph, c)
	}
	return p, err
}

// graphOf returns the given graph or the graph of the corpus, or a share of its triples.
func graphOf(ctx context.Context, o Options, c *kit.Corpus) (func() Graph, error) {
	if o.Graph != nil && o.Share == 1 {
		return Indexed(o.Graph), nil
	}
	n, at := 0, func(i int32) triples.Triple { return o.Graph.Triple(i) }
	if o.Graph != nil {
		n = o.Graph.Len()
	} else {
		n, at = len(c.Graph.Relations), func(i int32) triples.Triple { return relation(c.Graph, i) }
	}
	var kept []int32
	ix, err := c.Triples(ctx, func(yield func(triples.Triple, error) bool) {
		for i := range int32(n) {
			if t := at(i); covered(t, o) {
				if kept = append(kept, i); !yield(t, nil) {
					return
				}
			}
		}
	})
	if err != nil || o.Graph != nil {
		return Indexed(ix), err
	}
	return corpusGraph(c, Indexed(ix), kept)
}

// covered reports whether a triple belongs to the share.
func covered(t triples.Triple, o Options) bool {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d\xff%s\xff%s\xff%s", o.Seed, t.Head.ID, t.Relation.ID, t.Tail.ID)
	return o.Share == 1 || rand.New(rand.NewPCG(h.Sum64(), 0)).Float64() < o.Share
}

// denseGraph returns a graph in memory whose triples are linked by the vectors of their texts.
func denseGraph(ctx context.Context, graph func() Graph, c *kit.Corpus) (func() Graph, error) {
	g := graph()
	ix := indexOf(g)
	vectors, err := c.Vectors(ctx, text.NewList(ix.Len(), func(i int) string { return ix.Triple(int32(i)).Text() }))
	if o, ok := g.(own); ok {
		o.Graph = indexed{ix, vectors}
		g = o
	} else {
		g = indexed{ix, vectors}
	}
	return func() Graph { return g }, err
}
