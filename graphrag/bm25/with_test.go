// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// predicates keep all, none, half, one in a hundred, a few, or none of the best.
func predicates(rng *rand.Rand, scores []float64) map[string]func(int32) bool {
	n := max(1, len(scores))
	few := []int32{int32(rng.IntN(n)), int32(rng.IntN(n)), int32(rng.IntN(n))}
	bar := 0.0
	for _, s := range scores {
		bar = max(bar, s/2)
	}
	return map[string]func(int32) bool{
		"all":      func(int32) bool { return true },
		"none":     func(int32) bool { return false },
		"odd":      func(d int32) bool { return d%2 == 1 },
		"rare":     func(d int32) bool { return d%101 == 7 },
		"few":      func(d int32) bool { return slices.Contains(few, d) },
		"the late": func(d int32) bool { return int(d) > n*3/4 },
		"the poor": func(d int32) bool { return scores[d] < bar },
	}
}

// among are the k best of the scores of the documents that are kept.
func among(scores []float64, k int, keep func(int32) bool) []rank.Scored[int32] {
	var all []rank.Scored[int32]
	for d, s := range scores {
		if s > 0 && keep(int32(d)) {
			all = append(all, rank.Scored[int32]{ID: int32(d), Score: s})
		}
	}
	return rank.Best(all, k)
}
