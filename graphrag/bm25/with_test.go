// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
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

// randomQuery is of words, or the text of a document.
func randomQuery(rng *rand.Rand, chunks []graphrag.Chunk) string {
	if rng.IntN(3) == 0 && len(chunks) > 0 {
		return chunks[rng.IntN(len(chunks))].Text
	}
	return randomWords(rng, 1+rng.IntN(20), 10_000, rng.IntN(200))
}

// What is not kept is not found, and hides nothing that is kept.
func TestSearchWith(t *testing.T) {
	for seed := range uint64(12) {
		rng := rand.New(rand.NewPCG(seed, 11))
		chunks := randomTexts(rng, []int{0, 5, 300, 9000, 20_000}[seed%5], 1+rng.IntN(8000))
		ix, err := bm25.Build(t.Context(), chunks, bm25.Plain())
		if err != nil {
			t.Fatal(err)
		}
		var scores []float64
		var got []rank.Scored[int32]
		for range 12 {
			q := randomQuery(rng, chunks)
			scores = ix.Scores(q, scores)
			for name, keep := range predicates(rng, scores) {
				for _, k := range []int{1, 10, 100} {
					want := among(scores, k, keep)
					if got = ix.SearchWith(q, k, keep, got); !slices.Equal(got, want) {
						t.Fatalf("seed %d, %q, %d of %s:\n%v, want\n%v", seed, q, k, name, got, want)
					}
				}
			}
			if got = ix.Search(q, 10, got); !slices.Equal(got, among(scores, 10, func(int32) bool { return true })) {
				t.Fatalf("seed %d, %q: a condition stays", seed, q)
			}
		}
	}
}

// The condition is asked of few documents, and of none that a query does not meet.
func TestSearchWithAsksLittle(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 11))
	chunks := randomTexts(rng, 20_000, 3000)
	ix, err := bm25.Build(t.Context(), chunks, bm25.Plain())
	if err != nil {
		t.Fatal(err)
	}
	q := "w1 w2 w40 w700"
	scores := ix.Scores(q, nil)
	asked, met := 0, 0
	ix.SearchWith(q, 10, func(d int32) bool {
		if asked++; scores[d] == 0 {
			t.Errorf("asked of document %d, which has no word of the query", d)
		}
		return d%2 == 0
	}, nil)
	for _, s := range scores {
		if s > 0 {
			met++
		}
	}
	if asked*10 > met {
		t.Errorf("asked %d times with %d documents met", asked, met)
	}
	dst := make([]rank.Scored[int32], 0, 10)
	keep := func(d int32) bool { return d%3 == 0 }
	least := math.Inf(1) // under the race detector, pools lose things at random
	for range 50 {
		least = min(least, testing.AllocsPerRun(1, func() { dst = ix.SearchWith(q, 10, keep, dst) }))
	}
	if least > 0 {
		t.Errorf("%v allocations per search", least)
	}
}
