// SPDX-License-Identifier: Apache-2.0

package link

import (
	"context"
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// scored is a name, by its place, and how like another it is.
type scored = rank.Scored[int32]

// Similarity finds names that are like each other.
type Similarity interface {
	// Neighbors returns for each name those others whose similarity is at
	// least threshold, at most limit of them, best first, equal ones by place.
	// Similarities are in -1..1; 1 is the same. Equal names in equal order give
	// equal results.
	Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error)
}

// NameIndex finds the names that are nearest to a given one. It is safe for
// concurrent use.
type NameIndex interface {
	// Nearest returns the k most similar names, best first, equal ones by
	// place; fewer if nothing else is like it at all.
	Nearest(ctx context.Context, name string, k int) ([]scored, error)
}

// Linker is a [Similarity] that can index names to link others to them.
// [Trigrams] and [Embeddings] are.
type Linker interface {
	Similarity
	Index(ctx context.Context, names []string) (NameIndex, error)
}

// Embeddings compares names by the cosine of their vectors, every one with
// every other, exactly. It suits some ten thousand names; [Trigrams] goes on.
type Embeddings struct {
	Embedder embed.Embedder
}

// Neighbors implements [Similarity].
func (e Embeddings) Neighbors(ctx context.Context, names []string, threshold float64, limit int) ([][]scored, error) {
	if len(names) == 0 || limit <= 0 {
		return make([][]scored, len(names)), ctx.Err()
	}
	vectors, index, err := e.embed(ctx, names)
	if err != nil {
		return nil, err
	}
	out := make([][]scored, len(names))
	if err := par.Each(ctx, len(vectors), 0, func(i int) error {
		hits, err := index.Search(vectors[i], limit+1, nil)
		if err != nil {
			return fmt.Errorf("link: comparing names: %w", err)
		}
		out[i] = others(int32(i), hits, threshold, limit)
		return nil
	}); err != nil {
		return nil, err
	}
	return out, nil
}

// embed embeds at least one name.
func (e Embeddings) embed(ctx context.Context, names []string) ([][]float32, *vector.Index, error) {
	vectors, err := e.Embedder.EmbedDocuments(ctx, names)
	if err == nil && len(vectors) != len(names) {
		err = fmt.Errorf("the embedder gave %d vectors for %d names", len(vectors), len(names))
	}
	if err != nil {
		return nil, nil, fmt.Errorf("link: embedding names: %w", err)
	}
	index, err := vector.New(vector.Options{Dim: len(vectors[0]), Cosine: true, Quantized: true, Workers: 1})
	if err == nil {
		err = index.Add(vectors...)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("link: comparing names: %w", err)
	}
	return vectors, index, nil
}

// Index implements [Linker].
func (e Embeddings) Index(ctx context.Context, names []string) (NameIndex, error) {
	ix := &embeddedNames{embedder: e.Embedder}
	if len(names) == 0 {
		return ix, ctx.Err()
	}
	var err error
	_, ix.index, err = e.embed(ctx, names)
	return ix, err
}

type embeddedNames struct {
	embedder embed.Embedder
	index    *vector.Index // nil without names
}

func (ix *embeddedNames) Nearest(ctx context.Context, name string, k int) ([]scored, error) {
	if ix.index == nil || k <= 0 {
		return nil, ctx.Err()
	}
	v, err := ix.embedder.EmbedQuery(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("link: embedding %q: %w", kg.Beginning(name), err)
	}
	hits, err := ix.index.Search(v, k, nil)
	if err != nil {
		return nil, fmt.Errorf("link: nearest names: %w", err)
	}
	return others(-1, hits, math.Inf(-1), k), nil
}

func others(self int32, hits []scored, threshold float64, limit int) []scored {
	var out []scored
	for _, h := range hits {
		if h.ID != self && h.Score >= threshold && len(out) < limit {
			out = append(out, h)
		}
	}
	return out
}
