// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Hybrid compares by words and by vectors at once: its number is the mean of
// both, a cosine below 0 counting as 0. Words find names, vectors what is said in
// other words.
type Hybrid struct {
	words   Texts
	vectors Texts
	share   float64 // of the vectors
}

// NewHybrid mixes two ways to compare the same texts; share, from 0 to 1, is the
// weight of the vectors.
func NewHybrid(words, vectors Texts, share float64) (*Hybrid, error) {
	if !(share >= 0 && share <= 1) {
		return nil, fmt.Errorf("retrieve: the share of the vectors is %v, want 0 to 1", share)
	}
	if words.Len() != vectors.Len() {
		return nil, fmt.Errorf("retrieve: words of %d texts and vectors of %d: build both of the same", words.Len(), vectors.Len())
	}
	return &Hybrid{words, vectors, share}, nil
}

// Len is the number of texts.
func (h *Hybrid) Len() int { return h.words.Len() }

// Best implements [Texts].
func (h *Hybrid) Best(ctx context.Context, query string, k int) ([]rank.Scored[int32], error) {
	scores, err := h.Scores(ctx, query, nil)
	if err != nil {
		return nil, err
	}
	found := make([]rank.Scored[int32], 0, len(scores))
	for i, s := range scores {
		if s > 0 {
			found = append(found, rank.Scored[int32]{ID: int32(i), Score: s})
		}
	}
	return rank.Best(found, k), nil
}

// Scores implements [Texts].
func (h *Hybrid) Scores(ctx context.Context, query string, dst []float64) ([]float64, error) {
	dst, err := h.words.Scores(ctx, query, dst)
	if err != nil {
		return dst, err
	}
	cosines, err := h.vectors.Scores(ctx, query, nil)
	for i, c := range cosines {
		dst[i] = (1-h.share)*dst[i] + h.share*max(0, c)
	}
	return dst, err
}
