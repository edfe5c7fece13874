// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"
	"iter"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Texts compares queries with a list of texts of any kind: entities, facts, sentences, passages, reports. A
// text is identified by its index. The similarity is a cosine, or a score on the same scale. It is safe for
// concurrent use.
type Texts interface {
	Len() int
	// Best returns the k texts most similar to the query, best first, equal scores by index; fewer if fewer
	// match at all.
	Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error)
	// Scores returns the score of each text, 0 for texts that do not match. It overwrites dst.
	Scores(ctx context.Context, query string, dst []float64) ([]float64, error)
}

// Words compares by BM25. To be on the scale of a cosine, the score is divided by the score of a text of
// average length that contains every word of the query once; repeated words can raise it above 1. Dividing by
// the best score instead would make some text similar to any query.
type Words struct{ Index *bm25.Index }

// wordsKey is the key under which the index of a list of texts is cached.
type wordsKey memo.Digest

// NewWords indexes the texts.
func NewWords(ctx context.Context, texts text.List) (*Words, error) {
	build := func() (*Words, error) {
		ix, err := bm25.BuildList(ctx, texts, bm25.Options{})
		return &Words{ix}, err
	}
	if !memo.Under(ctx) {
		return build() // without a memo no digest is needed, which would read all texts once more
	}
	return memo.Of(ctx, wordsKey(memo.DigestOf(texts.All())), build)
}

// Len returns the number of texts.
func (w *Words) Len() int { return w.Index.Len() }

// Best implements [Texts].
func (w *Words) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	found, err := w.Found(ctx, query, k)
	whole := w.Index.Whole(query)
	for i := range found {
		found[i].Score /= whole
	}
	return found, err
}

// Found returns the k best texts with their BM25 scores.
func (w *Words) Found(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	return w.Index.Search(query, max(0, k), nil), ctx.Err()
}

// Scores implements [Texts].
func (w *Words) Scores(ctx context.Context, query string, dst []float64) ([]float64, error) {
	return shares(w.Index.Scores(query, dst), w.Index.Whole(query)), ctx.Err()
}

// shares divides scores, in place, by the score of a text with the whole query.
func shares(scores []float64, whole float64) []float64 {
	if whole > 0 {
		for i := range scores {
			scores[i] /= whole
		}
	}
	return scores
}

// Joined returns a function that compares queries with texts, each of which consists of several documents of an
// index with blanks between them; nil if the settings of the index differ. Its scores equal, to the bit,
// [Words.Scores] of these texts, without an index of them. It is safe for concurrent use.
func (w *Words) Joined(ix *bm25.Index) func(ctx context.Context, query string, groups [][]int32) ([]float64, error) {
	if !w.Index.Like(ix) {
		return nil
	}
	return func(ctx context.Context, query string, groups [][]int32) ([]float64, error) {
		return shares(ix.Joined(query, groups, nil)), ctx.Err()
	}
}

// Mapped writes the index into a folder, and returns an index that reads it there until it is closed. Results
// are equal, to the bit.
func (w *Words) Mapped(ctx context.Context, dir string) (_ Texts, closed func() error, err error) {
	if err := bm25.Merge(ctx, dir, w.Index); err != nil {
		return nil, nil, err
	}
	ix, err := bm25.Open(dir, w.Index.Analyzer())
	if err != nil {
		return nil, nil, err
	}
	return &Words{ix}, ix.Close, nil
}

// Mapped does for vectors the same as the method of [Words].
func (v *Vectors) Mapped(_ context.Context, dir string) (_ Texts, closed func() error, err error) {
	if v.view == nil {
		return v, func() error { return nil }, nil
	}
	view, err := v.view.Mapped(dir)
	if err != nil {
		return nil, nil, err
	}
	return &Vectors{v.embedder, view}, view.Close, nil
}

// Scaled returns the k texts most similar to the query, with scores scaled so that the best of all texts has 1
// and the worst 0.
func Scaled(ctx context.Context, t Texts, query string, k int) ([]rank.Scored[int32], error) {
	if _, ok := t.(*Words); ok { // the worst text has no word of the query, except in tiny collections
		found, err := t.Best(ctx, query, k)
		for i := len(found) - 1; i >= 0; i-- {
			found[i].Score /= found[0].Score
		}
		return found, err
	}
	scores, err := t.Scores(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	var top rank.Top[int32]
	top.Reset(max(0, k))
	for i, s := range rank.MinMax(scores) {
		if s > 0 {
			top.Push(int32(i), s)
		}
	}
	return top.Append(nil), nil
}

// Vectors compares by the cosine of vectors.
type Vectors struct {
	embedder embed.Embedder
	view     *vector.View // nil if there are no texts
}

// NewVectors embeds the texts. With a [memo.Keeper] in the context, texts with cached vectors keep their rows.
func NewVectors(ctx context.Context, e embed.Embedder, texts text.List) (*Vectors, error) {
	v := &Vectors{embedder: e}
	var all [][]float32
	for rows, err := range embed.Batches(ctx, e, texts) {
		if err != nil {
			return nil, fmt.Errorf("retrieve: embed text %d and those after it: %w", len(all), err)
		}
		all = append(all, rows...)
	}
	if len(all) == 0 {
		return v, ctx.Err()
	}
	var err error
	if v.view, err = memo.Kept[vector.Pool](ctx).View(vector.Options{Dim: len(all[0]), Cosine: true}, all); err != nil {
		return nil, fmt.Errorf("retrieve: index vectors: %w", err)
	}
	return v, ctx.Err()
}

// Join sets v to the vectors of texts of several Vectors, each text given by its index there. All must have the
// same embedder.
func (v *Vectors) Join(of iter.Seq2[*Vectors, int32]) (err error) {
	v.view, err = vector.Join(func(yield func(*vector.View, int32) bool) {
		for from, i := range of {
			v.embedder = from.embedder
			if !yield(from.view, i) {
				return
			}
		}
	})
	return err
}

// Len returns the number of texts.
func (v *Vectors) Len() int {
	if v.view == nil {
		return 0
	}
	return v.view.Len()
}

// Best implements [Texts]. A query that the embedder maps to zeros finds nothing.
func (v *Vectors) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	row, err := v.query(ctx, query)
	if err != nil || row == nil || k <= 0 {
		return nil, err
	}
	return v.view.Search(row, k)
}

// Scores implements [Texts].
func (v *Vectors) Scores(ctx context.Context, query string, dst []float64) ([]float64, error) {
	row, err := v.query(ctx, query)
	if err != nil || row == nil {
		return append(dst[:0], make([]float64, v.Len())...), err
	}
	return v.view.Scores(row, dst)
}

// query returns the vector of a query, nil if there are no texts.
func (v *Vectors) query(ctx context.Context, query string) ([]float32, error) {
	if err := ctx.Err(); err != nil || v.view == nil {
		return nil, err
	}
	return embed.Query(ctx, v.embedder, query)
}
