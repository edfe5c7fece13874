// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Vectors compares by the cosine of vectors.
type Vectors struct {
	embedder embed.Embedder
	index    *vector.Index // nil without texts
}

// NewVectors embeds the texts.
func NewVectors(ctx context.Context, e embed.Embedder, texts text.List) (*Vectors, error) {
	v := &Vectors{embedder: e}
	return v, v.add(ctx, texts, func(i int) string { return fmt.Sprintf("%d", i) }, nil)
}

func (v *Vectors) add(ctx context.Context, texts text.List, name func(int) string, progress func(done, total int)) error {
	first := 0
	for rows, err := range embed.Batches(ctx, v.embedder, texts) {
		if err == nil && v.index == nil {
			v.index, err = vector.New(vector.Options{Dim: len(rows[0]), Cosine: true, Quantized: true})
		}
		if err == nil {
			err = v.index.Add(rows...)
		}
		if err != nil {
			return fmt.Errorf("retrieve: text %s and those after it: %w", name(first), err)
		}
		if first += len(rows); progress != nil {
			progress(first, texts.Len())
		}
	}
	return ctx.Err()
}

// Len is the number of texts.
func (v *Vectors) Len() int {
	if v.index == nil {
		return 0
	}
	return v.index.Len()
}

// Best implements [Texts]. A query of which the embedder knows nothing has a
// vector of zeros and finds nothing.
func (v *Vectors) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	row, err := v.query(ctx, query)
	if err != nil || row == nil || k <= 0 {
		return nil, err
	}
	return v.index.Search(row, k, nil)
}

// Scores implements [Texts].
func (v *Vectors) Scores(ctx context.Context, query string, dst []float64) ([]float64, error) {
	row, err := v.query(ctx, query)
	if err != nil || row == nil {
		return append(dst[:0], make([]float64, v.Len())...), err
	}
	return v.index.Scores(row, dst)
}

// query embeds a query; nil if there is nothing to compare.
func (v *Vectors) query(ctx context.Context, query string) ([]float32, error) {
	if err := ctx.Err(); err != nil || v.index == nil {
		return nil, err
	}
	return embed.Query(ctx, v.embedder, query)
}
