// SPDX-License-Identifier: Apache-2.0

package gear

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	f := kit.Frame{Name: Name, Common: o.Common, Kit: k, Needs: []kit.Role{kit.Finding, kit.Embedding}, Problems: o.check()}
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
	o.Graph, o.Extract, o.Cut = nil, nil, kit.Cut{}
	return Over(p, o)
}

// PartsOf are the parts of a corpus in memory: what [New] searches over, for those who
// put something between. Of the options they take Graph.
func PartsOf(ctx context.Context, k kit.Kit, o Options, c *kit.Corpus) (Parts, error) {
	// The settings of the system bm25, made for passages of whole pages.
	words, err := c.Shelf.Sparse(ctx, c.Chunks, bm25.Options{K1: 4.46, B: .82, TitleWeight: 2})
	if err != nil {
		return Parts{}, err
	}
	embedder, err := c.Embedder(ctx)
	if err != nil {
		return Parts{}, err
	}
	dense, err := c.Shelf.Dense(ctx, c.Chunks, embedder)
	if err != nil {
		return Parts{}, err
	}
	p := Parts{Align: words, Find: c.Find, Kit: k}
	if p.Passages, err = retrieve.Fuse(words, dense); err != nil {
		return Parts{}, err
	}
	p.Graph, err = graphOf(ctx, o, c)
	return p, err
}

// graphOf is the graph from elsewhere, or that of the corpus.
func graphOf(ctx context.Context, o Options, c *kit.Corpus) (func() Graph, error) {
	ix := o.Graph
	var err error
	if ix == nil {
		if ix, err = triples.New(ctx, relations(c.Graph), triples.Options{}); err != nil {
			return nil, err
		}
	}
	if o.Graph == nil {
		return corpusGraph(c, Indexed(ix)), nil
	}
	return Indexed(ix), nil
}
