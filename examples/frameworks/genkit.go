// SPDX-License-Identifier: Apache-2.0

package frameworks

import (
	"context"

	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Genkit registers a system, or any other retriever, with Genkit under a name: k chunks for a query.
func Genkit(g *genkit.Genkit, name string, r graphrag.Retriever, k int) ai.Retriever {
	return genkit.DefineRetriever(g, name, nil, func(ctx context.Context, req *ai.RetrieverRequest) (*ai.RetrieverResponse, error) {
		q := graphrag.Question{K: k}
		for _, part := range req.Query.Content {
			q.Text += part.Text
		}
		found, err := r.Retrieve(ctx, q)
		out := &ai.RetrieverResponse{}
		for _, h := range found.Read(q) {
			out.Documents = append(out.Documents, ai.DocumentFromText(h.Chunk.Text, map[string]any{"document": h.Chunk.Doc, "title": h.Chunk.Title, "score": h.Score}))
		}
		return out, err
	})
}
