// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Embedder turns texts into vectors, such that texts of like content have a large dot product. A value of
// langchaingo's embeddings.Embedder is one, and the other way round.
//
// All vectors of one embedder have the same length, whatever the text, also the empty one. EmbedDocuments
// returns one vector for each text, in order; none for none. Both methods are safe for concurrent use, and
// when ctx is cancelled they return an error that satisfies errors.Is with the context's. Package graphragtest
// checks these rules.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Func makes an [Embedder] of a function, for vectors of texts and questions alike.
type Func func(ctx context.Context, texts []string) ([][]float32, error)

// EmbedDocuments calls f.
func (f Func) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

// EmbedQuery calls f with the question.
func (f Func) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	rows, err := f(ctx, []string{text})
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("embed: the function gave %d vectors for 1 text", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Model describes an embedder. The embedders of this package are models; foreign ones need not be.
type Model interface {
	// Name identifies the embedder and all that its vectors depend on: equal
	// names, equal vectors. An index stores it to refuse others.
	Name() string
	// Dim is the length of the vectors.
	Dim() int
}

// atOnce is the number of texts that are embedded in one call: enough to keep a server busy, few
// enough to stop soon after a cancel.
const atOnce = 256

// Batches embeds texts, some in a call, and yields the vectors of each call. An error ends it.
func Batches(ctx context.Context, e Embedder, texts text.List) iter.Seq2[[][]float32, error] {
	return func(yield func([][]float32, error) bool) {
		for from := 0; from < texts.Len(); from += atOnce {
			part := make([]string, min(atOnce, texts.Len()-from))
			for i := range part {
				part[i] = texts.At(from + i)
			}
			rows, err := e.EmbedDocuments(ctx, part)
			if err == nil && len(rows) != len(part) {
				err = fmt.Errorf("embed: the embedder gave %d vectors for %d texts", len(rows), len(part))
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// Query is the vector of a query; nil if it is all zero, that is of a query that the
// embedder knows nothing of, and that is like nothing.
func Query(ctx context.Context, e Embedder, text string) ([]float32, error) {
	row, err := e.EmbedQuery(ctx, text)
	if err != nil || !slices.ContainsFunc(row, func(c float32) bool { return c != 0 }) {
		return nil, err
	}
	return row, nil
}

// grain is the number of texts that a worker embeds before it takes others.
const grain = 16
