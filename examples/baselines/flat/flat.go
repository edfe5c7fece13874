// SPDX-License-Identifier: Apache-2.0

// Package flat has the baselines of WildGraphBench that use no graph: BM25, NaiveRAG, and the model alone.
package flat

import (
	"cmp"
	"context"
	"errors"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// The names of the systems in reports.
const (
	BM25     = "bm25"
	NaiveRAG = "naiverag"
	ZeroShot = "zeroshot"
)

// Infos describe the three systems, in the order of their names above.
var Infos = []kit.Info{
	kit.InfoOf(kit.Info{
		Name: BM25, Words: true, Baseline: true, Source: "Robertson and Zaragoza 2009",
	}, BM25Options{}, NewBM25),
	kit.InfoOf(kit.Info{
		Name: NaiveRAG, Also: []string{"lightrag-naive"}, Baseline: true, Source: "Lewis and others 2020", Paper: "arXiv 2005.11401",
		Costs: "embeddings to index",
	}, NaiveOptions{}, NewNaiveRAG),
	kit.InfoOf(kit.Info{
		Name: ZeroShot, NoDocuments: true, Source: "the model alone",
	}, struct{ kit.Common }{}, func(k kit.Kit, _ struct{ kit.Common }) (*kit.System, error) { return NewZeroShot(k) }),
}

// The defaults for chunks of 1,200 tokens. Such chunks are as long as the web documents of MS MARCO. K1 and B
// are Anserini's for those documents, tuned for recall at 100; the library's default k1 of 1.2 is for short
// passages. docs/benchmark.md compares the two.
const (
	DefaultK1          = 4.46
	DefaultB           = 0.82
	DefaultTitleWeight = 2
)

// BM25Options are the options of [NewBM25]. The zero value is the default recipe.
type BM25Options struct {
	kit.Common
	// BM25 are the options of the index; zero K1, B and TitleWeight mean DefaultK1,
	// DefaultB and DefaultTitleWeight. Plain uses bm25.Plain instead: the textbook definition.
	BM25  bm25.Options `source:"ours"`
	Plain bool         `source:"ours"`
}

// NewBM25 ranks the chunks by their words and reads the best chunks (Robertson and Zaragoza 2009).
func NewBM25(k kit.Kit, o BM25Options) (*kit.System, error) {
	index := o.Defaults().BM25
	if o.Plain {
		index = bm25.Plain()
	}
	return kit.New(kit.Frame{Name: BM25, Common: o.Common, Kit: k, Words: &index})
}

// Defaults returns the options with zero values replaced by their defaults.
func (o BM25Options) Defaults() BM25Options {
	b := &o.BM25
	b.K1, b.B, b.TitleWeight = cmp.Or(b.K1, DefaultK1), cmp.Or(b.B, DefaultB), cmp.Or(b.TitleWeight, DefaultTitleWeight)
	return o
}

// NaiveOptions are the options of [NewNaiveRAG]. The zero value is the default recipe.
type NaiveOptions struct {
	kit.Common
}

// NewNaiveRAG embeds the chunks and reads those nearest to the question (Lewis and others 2020, arXiv
// 2005.11401).
func NewNaiveRAG(k kit.Kit, o NaiveOptions) (*kit.System, error) {
	return kit.New(kit.Frame{Name: NaiveRAG, Common: o.Common, Kit: k, Needs: []string{"Embed"}, Vectors: true})
}

// NewZeroShot asks the model without retrieval, as a baseline. It needs a kit with an answering model.
func NewZeroShot(k kit.Kit) (*kit.System, error) {
	if k.AnswerModel == nil {
		return nil, errors.New("zeroshot: the kit answers without a model (AnswerModel): take kit.ByModel")
	}
	return kit.New(kit.Frame{
		Name: ZeroShot, Kit: k, Blind: true,
		Build: func(context.Context, *kit.Corpus) (graphrag.Retriever, error) {
			return graphrag.RetrieverFunc(func(ctx context.Context, _ graphrag.Question) (graphrag.Found, error) {
				return graphrag.Found{}, ctx.Err()
			}), nil
		},
	})
}
