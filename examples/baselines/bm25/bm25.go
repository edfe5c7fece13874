// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
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
	kit.Common
	// BM25 are the options of the index; zero K1 and B mean DefaultK1 and
	// DefaultB. Plain uses bm25.Plain instead: the textbook definition.
	BM25  bm25.Options
	Plain bool
	// NoTitle leaves page titles out; otherwise a zero TitleWeight means
	// DefaultTitleWeight.
	NoTitle bool
}

// New returns the system.
func New(k kit.Kit, o Options) (*kit.System, error) {
	index := o.index()
	return kit.New(kit.Frame{
		Name: Name, Common: o.Common, Kit: k, Flat: true,
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			sparse, err := c.Shelf.Sparse(ctx, c.Chunks, index)
			if err != nil {
				return nil, err
			}
			return retrieve.PerDoc(sparse, o.MaxPerDoc)
		},
	})
}

// Defaults returns the options with what zero stands for.
func (o Options) Defaults() Options {
	b := &o.BM25
	b.K1, b.B, b.TitleWeight = cmp.Or(b.K1, DefaultK1), cmp.Or(b.B, DefaultB), cmp.Or(b.TitleWeight, DefaultTitleWeight)
	if o.NoTitle {
		b.TitleWeight = 0
	}
	return o
}

func (o Options) index() bm25.Options {
	if o.Plain {
		return bm25.Plain()
	}
	return o.Defaults().BM25
}
