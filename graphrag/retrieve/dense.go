// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// DenseOptions are the options of [NewDense].
type DenseOptions struct {
	// Text is what is embedded of a chunk; nil means [Titled].
	Text func(graphrag.Chunk) string
	// Progress, if set, is called with how many of the chunks have been embedded.
	Progress func(done, total int)
}

// Dense ranks chunks by the cosine of their vector with the question's.
type Dense struct {
	vectors *Vectors
	chunks  []graphrag.Chunk // by ID, as indexed
}

// NewDense embeds the chunks, in any order.
func NewDense(ctx context.Context, chunks []graphrag.Chunk, e embed.Embedder, o DenseOptions) (*Dense, error) {
	if e == nil {
		return nil, errors.New("retrieve: the embedder is missing")
	}
	if o.Text == nil {
		o.Text = Titled
	}
	d := &Dense{vectors: &Vectors{embedder: e}, chunks: slices.SortedStableFunc(slices.Values(chunks), byID)}
	texts := text.NewList(len(chunks), func(i int) string { return o.Text(d.chunks[i]) })
	name := func(i int) string { return d.chunks[i].ID }
	return d, d.vectors.add(ctx, texts, name, o.Progress)
}

// Retrieve returns the best chunks for the question. A question of which the
// embedder knows nothing has a vector of zeros and finds nothing.
func (d *Dense) Retrieve(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
	best, err := d.vectors.Best(ctx, q.Text, q.Want())
	if err != nil {
		return graphrag.Found{}, fmt.Errorf("retrieve: question: %w", err)
	}
	hits := make([]graphrag.Hit, len(best))
	for i, b := range best {
		hits[i] = graphrag.Hit{Chunk: d.chunks[b.ID], Score: b.Score, Source: "dense"}
	}
	return graphrag.Found{Ranked: hits}, nil
}
