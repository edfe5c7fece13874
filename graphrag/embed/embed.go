// SPDX-License-Identifier: Apache-2.0

package embed

import "context"

// Embedder turns texts into vectors, such that texts of like content have a
// large dot product. A value of langchaingo's embeddings.Embedder is one, and
// the other way round.
//
// All vectors of one embedder have the same length, whatever the text, also
// the empty one. EmbedDocuments returns one vector for each text, in order;
// none for none. Both methods are safe for concurrent use, and when ctx is
// cancelled they return an error that satisfies errors.Is with the context's.
// Package embedtest checks these rules.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Model is what is known of an embedder beside its vectors. The embedders of
// this package are models; those of others need not be.
type Model interface {
	// Name identifies the embedder and all that its vectors depend on: equal
	// names, equal vectors. An index stores it to refuse others.
	Name() string
	// Dim is the length of the vectors.
	Dim() int
}

// grain is how many texts a worker embeds before it takes others.
const grain = 16
