// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Source is the Source of the hits of a [Retriever].
const Source = "dense"

// batch is how many chunks are embedded in one call: enough to keep a server
// busy, few enough to stop soon after a cancel.
const batch = 256

// RetrieverOptions are the options of a [Retriever].
type RetrieverOptions struct {
	// Text is what is embedded of a chunk; nil means title and text, see
	// [TitledText].
	Text func(graphrag.Chunk) string
	// MaxPerDoc is how many chunks of one document are returned at most; 0
	// means any number. Chunks beyond it make room for the next in the
	// ranking.
	MaxPerDoc int
	// Progress, if set, hears how many of the chunks have been embedded.
	Progress func(done, total int)
}

// TitledText is the title of a chunk, a line break, and its text.
func TitledText(c graphrag.Chunk) string {
	if c.Title == "" {
		return c.Text
	}
	return c.Title + "\n" + c.Text
}

// Retriever ranks chunks by the cosine of their vector with the question's. It
// implements graphrag.Retriever and is safe for concurrent use.
type Retriever struct {
	embedder Embedder
	index    *vector.Index
	chunks   []graphrag.Chunk // in the order of their IDs, as in the index
	perDoc   int
}

var _ graphrag.Retriever = (*Retriever)(nil)

// NewRetriever embeds the chunks, in any order, and returns their retriever.
func NewRetriever(ctx context.Context, chunks []graphrag.Chunk, e Embedder, o RetrieverOptions) (*Retriever, error) {
	if o.MaxPerDoc < 0 {
		return nil, fmt.Errorf("embed: MaxPerDoc is %d, want at least 0", o.MaxPerDoc)
	}
	if o.Text == nil {
		o.Text = TitledText
	}
	r := &Retriever{embedder: e, chunks: slices.Clone(chunks), perDoc: o.MaxPerDoc}
	slices.SortFunc(r.chunks, func(a, b graphrag.Chunk) int { return cmp.Compare(a.ID, b.ID) })
	for first := 0; first < len(r.chunks); first += batch {
		part := r.chunks[first:min(first+batch, len(r.chunks))]
		texts := make([]string, len(part))
		for i, c := range part {
			texts[i] = o.Text(c)
		}
		vectors, err := e.EmbedDocuments(ctx, texts)
		if err != nil {
			return nil, fmt.Errorf("embed: chunks %s to %s: %w", part[0].ID, part[len(part)-1].ID, err)
		}
		if len(vectors) != len(part) {
			return nil, fmt.Errorf("embed: %d vectors for %d chunks", len(vectors), len(part))
		}
		if err := r.add(vectors); err != nil {
			return nil, fmt.Errorf("embed: chunks from %s: %w", part[0].ID, err)
		}
		if o.Progress != nil {
			o.Progress(first+len(part), len(r.chunks))
		}
	}
	return r, nil
}

func (r *Retriever) add(vectors [][]float32) error {
	if r.index == nil {
		index, err := vector.New(vector.Options{Dim: len(vectors[0]), Cosine: true, Quantized: true})
		if err != nil {
			return err
		}
		r.index = index
	}
	return r.index.Add(vectors...)
}

// Retrieve returns the k best chunks for the question. A question of which the
// embedder knows nothing has a vector of zeros and finds nothing.
func (r *Retriever) Retrieve(ctx context.Context, question string, k int) ([]graphrag.Hit, error) {
	if err := ctx.Err(); err != nil || k <= 0 || r.index == nil {
		return nil, err
	}
	query, err := r.embedder.EmbedQuery(ctx, question)
	if err != nil {
		return nil, fmt.Errorf("embed: question: %w", err)
	}
	if !slices.ContainsFunc(query, func(f float32) bool { return f != 0 }) {
		return nil, nil
	}
	// With a limit per document the list is cut short by it; look twice as
	// deep until k are left or all chunks were seen.
	for depth := min(k, r.index.Len()); ; depth = min(2*depth, r.index.Len()) {
		found, err := r.index.Search(query, depth, nil)
		if err != nil {
			return nil, fmt.Errorf("embed: question: %w", err)
		}
		if hits := r.hits(found, k); len(hits) == k || depth == r.index.Len() {
			return hits, nil
		}
	}
}

// hits makes at most k hits, at most perDoc of one document.
func (r *Retriever) hits(found []vector.Result, k int) []graphrag.Hit {
	hits := make([]graphrag.Hit, 0, min(k, len(found)))
	of := make(map[string]int)
	for _, f := range found {
		c := r.chunks[f.ID]
		if of[c.Doc]++; r.perDoc > 0 && of[c.Doc] > r.perDoc {
			continue
		}
		hits = append(hits, graphrag.Hit{Chunk: c, Score: float64(f.Score), Source: Source})
		if len(hits) == k {
			break
		}
	}
	return hits
}
