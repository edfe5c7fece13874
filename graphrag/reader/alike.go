// SPDX-License-Identifier: Apache-2.0

package reader

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// What an embedder adds to words. Both are on plateaus (2 to 4, 10 to 40) over the
// questions of WildGraphBench that are not held out.
const (
	alikePart = 2.0 // what a cosine of 1 adds to a score, in parts of it
	maxAlike  = 20  // the best candidates by words, which are embedded
)

// WithEmbedder returns a reader that also compares what it may quote with the question
// by an embedder, if it is that of [Extractive]; other readers are returned as they are.
func WithEmbedder(r Reader, e embed.Embedder) Reader {
	x, ok := r.(*extractive)
	if !ok {
		return r
	}
	o := x.o
	o.Embedder = e
	return newExtractive(o)
}

// compare raises the scores of the best candidates by how like the question they are,
// and returns the number of the best. A text without a direction is like none.
func (c *corpus) compare(ctx context.Context, e embed.Embedder, scores []float64, best int) (int, error) {
	if scores[best] == 0 {
		return best, nil
	}
	order := make([]int, 0, len(scores))
	for i, s := range scores {
		if s > 0 {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
	order = order[:min(maxAlike, len(order))]
	texts := make([]string, len(order))
	for n, i := range order {
		texts[n] = c.candidates[i].text
	}
	question, err := e.EmbedQuery(ctx, c.q.text)
	if err != nil {
		return 0, err
	}
	rows, err := e.EmbedDocuments(ctx, texts)
	if err == nil && len(rows) != len(texts) {
		err = fmt.Errorf("the embedder returned %d vectors for %d texts", len(rows), len(texts))
	}
	if err != nil {
		return 0, err
	}
	for n, i := range order {
		scores[i] *= 1 + alikePart*max(0, vector.Cosine(question, rows[n]))
		if scores[i] > scores[best] {
			best = i
		}
	}
	return best, nil
}
