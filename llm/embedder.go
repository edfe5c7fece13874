// SPDX-License-Identifier: Apache-2.0

package llm

import "context"

// Embedder turns texts into vectors. It has the shape of langchaingo's
// embeddings.Embedder and of the embedder of graphrag/embed, so one value
// serves all three.
type Embedder interface {
	// EmbedDocuments returns one vector per text, in the order of the texts,
	// all of one dimension.
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// NamedEmbedder is an embedder that says what decides its vectors: provider,
// endpoint without credentials, model, dimension and prefixes. Caches and prices
// go by the name.
type NamedEmbedder interface {
	Embedder
	Name() string
}
