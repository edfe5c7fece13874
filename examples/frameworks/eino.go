// SPDX-License-Identifier: Apache-2.0

// Package frameworks adapts a system to the retrievers of Eino (github.com/cloudwego/eino) and Genkit
// (github.com/firebase/genkit), and to the agents of langchaingo (github.com/tmc/langchaingo).
package frameworks

import (
	"context"

	"github.com/cloudwego/eino/components/retriever"
	"github.com/cloudwego/eino/schema"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Eino returns a system, or any other retriever, for Eino: five chunks, or WithTopK.
func Eino(r graphrag.Retriever) retriever.Retriever { return of{r} }

type of struct{ r graphrag.Retriever }

// Retrieve implements Eino's retriever.
func (o of) Retrieve(ctx context.Context, query string, options ...retriever.Option) ([]*schema.Document, error) {
	k := 5
	q := graphrag.Question{Text: query, K: *retriever.GetCommonOptions(&retriever.Options{TopK: &k}, options...).TopK}
	found, err := o.r.Retrieve(ctx, q)
	var out []*schema.Document
	for _, h := range found.Read(q) {
		d := &schema.Document{ID: h.Chunk.ID, Content: h.Chunk.Text, MetaData: map[string]any{"document": h.Chunk.Doc, "title": h.Chunk.Title}}
		out = append(out, d.WithScore(h.Score))
	}
	return out, err
}
