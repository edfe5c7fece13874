//go:build linux

package main

import (
	"fmt"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// posting counts a word in a piece.
type posting struct {
	piece int32
	times float64
}

// exact compares all hits with sums in float64 over every posting, which it counts itself. It returns the
// largest difference of a score, and an error if a hit is not among the best.
func exact(ix *bm25.Index, pieces, questions []string) (worst float64, err error) {
	lists, lengths, average := map[string][]posting{}, make([]float64, len(pieces)), 0.0
	words := text.Plain()
	for i, p := range pieces {
		for _, w := range words.Terms(p) {
			lengths[i]++
			list := lists[w]
			if last := len(list) - 1; last >= 0 && list[last].piece == int32(i) {
				list[last].times++
				continue
			}
			lists[w] = append(list, posting{int32(i), 1})
		}
		average += lengths[i] / float64(len(pieces))
	}
	sums, n := make([]float64, len(pieces)), float64(len(pieces))
	for _, q := range questions {
		clear(sums)
		for _, w := range words.Terms(q) {
			df := float64(len(lists[w]))
			idf := math.Log(1 + (n-df+.5)/(df+.5))
			for _, p := range lists[w] {
				sums[p.piece] += idf * p.times * 2.2 / (p.times + 1.2*(.25+.75*lengths[p.piece]/average))
			}
		}
		found := ix.Search(q, hits, nil)
		last := math.Inf(1)
		for _, f := range found {
			worst = max(worst, math.Abs(sums[f.ID]-f.Score))
			if f.Score > last {
				return worst, fmt.Errorf("%q: %v is out of order", q, f)
			}
			last = f.Score
			sums[f.ID] = 0
		}
		for i, sum := range sums {
			if sum > last+1e-4 || len(found) < hits && sum > 0 {
				return worst, fmt.Errorf("%q: piece %d with %g is not among the best, the last has %g", q, i, sum, last)
			}
		}
	}
	return worst, nil
}
