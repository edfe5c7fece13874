// SPDX-License-Identifier: Apache-2.0

package kit

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Fitted returns the embedder of a corpus. One that learns is fitted at the first call.
type Fitted func(context.Context) (embed.Embedder, error)

// Finder makes an index that compares questions with texts.
type Finder func(ctx context.Context, fitted Fitted, texts text.List) (retrieve.Texts, error)

// ByWords is the [Finder] that compares by BM25. Short texts, such as facts and names, have
// too few words for LSA, and LSA of a fixed rank does not separate the subjects of a large
// corpus.
func ByWords(ctx context.Context, _ Fitted, texts text.List) (retrieve.Texts, error) {
	return retrieve.NewWords(ctx, texts)
}

// ByVectors is the [Finder] that compares by the cosine of the embedder's vectors.
func ByVectors(ctx context.Context, fitted Fitted, texts text.List) (retrieve.Texts, error) {
	e, err := fitted(ctx)
	if err != nil {
		return nil, err
	}
	return retrieve.NewVectors(ctx, e, texts)
}
