// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"context"

	"github.com/wildgraph/wildgraph/examples/baselines"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// Name of the system in reports.
const Name = "bm25"

// The defaults for chunks of 1,200 tokens. Such chunks are as long as the web
// documents of MS MARCO, and k1 and b are Anserini's for those, tuned there
// for recall at 100: in a long text the third and tenth occurrence of a word
// still say something. The library's default of 1.2 is made for short
// passages. docs/benchmark.md has what each choice brings.
const (
	DefaultK1          = 4.46
	DefaultB           = 0.82
	DefaultTitleWeight = 2
)

// Options of the system. The zero value is the default recipe.
type Options struct {
	Cut baselines.Cut
	// BM25 are the options of the index; zero K1 and B mean DefaultK1 and
	// DefaultB. Plain uses bm25.Plain instead: the textbook definition.
	BM25  bm25.Options
	Plain bool
	// NoTitle leaves page titles out; otherwise a zero TitleWeight means
	// DefaultTitleWeight.
	NoTitle bool
	// MaxPerDoc limits the chunks of one page in a ranking; 0 is no limit.
	MaxPerDoc int
}

// New returns the system.
func New(kit baselines.Kit, o Options) (graphrag.System, error) {
	index := o.index()
	return baselines.NewRetrieveThenRead(baselines.Frame{
		Name: Name, Cut: o.Cut, Reader: kit.Reader,
		Build: func(ctx context.Context, chunks []graphrag.Chunk) (graphrag.Retriever, error) {
			return bm25.NewRetriever(ctx, chunks, bm25.RetrieverOptions{Options: index, MaxPerDoc: o.MaxPerDoc})
		},
	})
}

func (o Options) index() bm25.Options {
	if o.Plain {
		return bm25.Plain()
	}
	index := o.BM25
	if index.K1 == 0 {
		index.K1 = DefaultK1
	}
	if index.B == 0 {
		index.B = DefaultB
	}
	switch {
	case o.NoTitle:
		index.TitleWeight = 0
	case index.TitleWeight == 0:
		index.TitleWeight = DefaultTitleWeight
	}
	return index
}
