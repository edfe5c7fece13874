// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// K is the constant of reciprocal rank fusion. Cormack, Clarke and Büttcher,
// "Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning
// Methods", SIGIR 2009, section 2, fixed it in a pilot study.
const K = 60.

// RRF merges lists by reciprocal rank fusion: the score of an identifier is the
// sum of 1/(60+rank) over the lists that hold it, ranks counted from 1.
func RRF[ID cmp.Ordered](lists ...[]ID) []Scored[ID] { return Weighted(K, nil, lists...) }

// Weighted is RRF with another constant, k, and a weight for each list, by which its share
// w/(k+rank) grows. No weights are equal ones, and a smaller k favours the first ranks.
func Weighted[ID cmp.Ordered](k float64, weights []float64, lists ...[]ID) []Scored[ID] {
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	shares := make([]Scored[ID], 0, total)
	seen := make(map[ID]struct{})
	for i, list := range lists {
		weight := 1.
		if weights != nil {
			weight = weights[i]
		}
		clear(seen)
		for place, id := range list {
			if _, again := seen[id]; !again {
				seen[id] = struct{}{}
				shares = append(shares, Scored[ID]{id, weight / (k + float64(place+1))})
			}
		}
	}
	return sum(shares)
}

// sum adds up the shares of each identifier, in ascending order, which makes the
// sum independent of the order of the lists, and ranks the sums.
func sum[ID cmp.Ordered](shares []Scored[ID]) []Scored[ID] {
	slices.SortFunc(shares, func(x, y Scored[ID]) int {
		return cmp.Or(cmp.Compare(x.ID, y.ID), cmp.Compare(x.Score, y.Score))
	})
	merged := shares[:0]
	for _, s := range shares {
		if last := len(merged) - 1; last >= 0 && cmp.Compare(merged[last].ID, s.ID) == 0 {
			merged[last].Score += s.Score
		} else {
			merged = append(merged, s)
		}
	}
	slices.SortFunc(merged, Compare)
	return merged
}

// CombMAX gives each identifier its best score of all lists, on the scale of the
// lists (Fox and Shaw, "Combination of Multiple Searches", TREC-2, 1993). It is how
// HippoRAG puts the steps of an iterative retrieval together, whose scores compare
// (arXiv 2405.14831, section 4). Here alone equal scores stay in the order in which
// they were first seen, the first list first. The error names every score that is
// not finite.
func CombMAX[ID cmp.Ordered](lists ...[]Scored[ID]) ([]Scored[ID], error) {
	at := make(map[ID]int)
	var out []Scored[ID]
	var errs []error
	for i, list := range lists {
		for place, s := range list {
			if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
				errs = append(errs, fmt.Errorf("rank: list %d, place %d: score is %v, want a finite number", i, place, s.Score))
			}
			if j, ok := at[s.ID]; !ok {
				at[s.ID] = len(out)
				out = append(out, s)
			} else {
				out[j].Score = max(out[j].Score, s.Score)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Scored[ID]) int { return cmp.Compare(b.Score, a.Score) })
	return out, errors.Join(errs...)
}

// Interleave takes the first of every list, then the second of every list, and so
// on, leaving out what it has already taken.
func Interleave[ID cmp.Ordered](lists ...[]ID) []ID {
	longest := 0
	for _, list := range lists {
		longest = max(longest, len(list))
	}
	var merged []ID
	taken := make(map[ID]struct{})
	for rank := range longest {
		for _, list := range lists {
			if rank >= len(list) {
				continue
			}
			if _, again := taken[list[rank]]; !again {
				taken[list[rank]] = struct{}{}
				merged = append(merged, list[rank])
			}
		}
	}
	return merged
}
