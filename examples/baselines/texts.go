// SPDX-License-Identifier: Apache-2.0

package baselines

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
)

// Texts compares a question with texts of any kind. It is safe for concurrent
// use.
type Texts interface {
	// Best returns the k texts most like the question, best first, equal ones by
	// place. Scores are scaled so that the best of all texts has 1 and the worst
	// 0; a text that is not among the results with k = Len has 0.
	Best(ctx context.Context, question string, k int) ([]Likeness, error)
	Len() int
}

// Likeness is a text, by its place, and how like a question it is, 0..1.
type Likeness struct {
	ID    int32
	Score float64
}

// Texts makes the index: vectors of an embedder that was trained on language, if
// the kit has one. Else it is BM25: short texts such as facts have too few words
// for LSA.
func (k Kit) Texts(ctx context.Context, texts []string) (Texts, error) {
	if !k.Pretrained {
		ix, err := bm25.BuildTexts(ctx, texts, bm25.Options{})
		return words{ix, len(texts)}, err
	}
	e, err := k.Embedder(ctx, nil)
	if err != nil {
		return nil, err
	}
	v, err := NewVectors(ctx, e, texts)
	return meanings{v, e}, err
}

type words struct {
	index *bm25.Index
	n     int
}

func (w words) Len() int { return w.n }

func (w words) Best(ctx context.Context, question string, k int) ([]Likeness, error) {
	found := w.index.Search(question, max(0, k), nil)
	out := make([]Likeness, len(found))
	for i, f := range found {
		// The worst text has no word of the question, but for tiny collections.
		out[i] = Likeness{f.ID, float64(f.Score) / float64(found[0].Score)}
	}
	return out, ctx.Err()
}

type meanings struct {
	*Vectors
	embedder embed.Embedder
}

func (m meanings) Best(ctx context.Context, question string, k int) ([]Likeness, error) {
	if m.Len() == 0 || k <= 0 {
		return nil, ctx.Err()
	}
	query, err := m.embedder.EmbedQuery(ctx, question)
	if err != nil {
		return nil, err
	}
	found, err := m.Vectors.Best(query, k)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	least, err := m.Least(query)
	if err != nil {
		return nil, err
	}
	out := make([]Likeness, len(found))
	for i, f := range found {
		out[i] = Likeness{f.ID, Scale(float64(f.Score), least, float64(found[0].Score))}
	}
	return out, nil
}

// All spreads the results of Best over all texts.
func All(ctx context.Context, t Texts, question string) ([]float64, error) {
	found, err := t.Best(ctx, question, t.Len())
	if err != nil {
		return nil, err
	}
	out := make([]float64, t.Len())
	for _, f := range found {
		out[f.ID] = f.Score
	}
	return out, nil
}
