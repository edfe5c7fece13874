// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Scored is an item, by its identifier, with a score.
type Scored[ID cmp.Ordered] struct {
	ID    ID
	Score float64
}

// Compare is the order of a ranking: best first, equal scores by identifier, NaN last.
func Compare[ID cmp.Ordered](a, b Scored[ID]) int {
	if c := cmp.Compare(b.Score, a.Score); c != 0 {
		return c
	}
	return cmp.Compare(a.ID, b.ID)
}

// Best returns the k best items of list, best first; all if there are fewer. It reuses the memory of list, and
// changes the order of list.
func Best[ID cmp.Ordered](list []Scored[ID], k int) []Scored[ID] {
	if k >= len(list) {
		slices.SortFunc(list, Compare)
		return list
	}
	t := Top[ID]{k: k, heap: list[:0]} // the heap never overtakes the loop over list
	for _, s := range list {
		t.Push(s.ID, s.Score)
	}
	slices.SortFunc(t.heap, Compare)
	return t.heap
}

// Top keeps the k best of the pushed items, in a heap with the worst on top. Scores must not be NaN.
type Top[ID cmp.Ordered] struct {
	k    int
	heap []Scored[ID]
}

// Reset removes all items and sets k.
func (t *Top[ID]) Reset(k int) { t.k, t.heap = k, t.heap[:0] }

// CopyOf makes t a copy of o.
func (t *Top[ID]) CopyOf(o *Top[ID]) { t.k, t.heap = o.k, append(t.heap[:0], o.heap...) }

// Threshold returns the k-th best score so far, -Inf while there are fewer.
func (t *Top[ID]) Threshold() float64 {
	if len(t.heap) < t.k || t.k <= 0 {
		return math.Inf(-1)
	}
	return t.heap[0].Score
}

// Append appends the items of t to dst, best first.
func (t *Top[ID]) Append(dst []Scored[ID]) []Scored[ID] {
	start := len(dst)
	dst = append(dst, t.heap...)
	slices.SortFunc(dst[start:], Compare)
	return dst
}

// Push adds an item if it is among the k best so far.
func (t *Top[ID]) Push(id ID, score float64) {
	s := Scored[ID]{id, score}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, s)
		h := t.heap
		for i := len(h) - 1; i > 0 && before(h[(i-1)/2], h[i]); i = (i - 1) / 2 {
			h[(i-1)/2], h[i] = h[i], h[(i-1)/2]
		}
	case t.k > 0 && before(s, t.heap[0]):
		t.heap[0] = s
		t.down()
	}
}

// before reports whether a comes before b in the order of Compare, for scores that are not NaN.
func before[ID cmp.Ordered](a, b Scored[ID]) bool {
	return a.Score > b.Score || a.Score == b.Score && a.ID < b.ID
}

// down moves the item at the root of the heap down to its place.
func (t *Top[ID]) down() {
	h := t.heap
	for i := 0; ; {
		child := 2*i + 1
		if child+1 < len(h) && before(h[child], h[child+1]) {
			child++
		}
		if child >= len(h) || !before(h[i], h[child]) {
			return
		}
		h[i], h[child] = h[child], h[i]
		i = child
	}
}

// K is the constant of reciprocal rank fusion. Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
// Condorcet and individual Rank Learning Methods", SIGIR 2009, section 2, fixed it in a pilot study.
const K = 60.

// RRF merges lists by reciprocal rank fusion: the score of an identifier is the sum of 1/(60+rank) over the
// lists that contain it; ranks count from 1.
func RRF[ID cmp.Ordered](lists ...[]ID) []Scored[ID] { return Weighted(K, nil, lists...) }

// Weighted is RRF with another constant k, and a weight w for each list: the share of the list is w/(k+rank).
// nil weights are equal. A smaller k favours the first ranks.
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

// sum adds the shares of each identifier in ascending order, so that the sum does not depend on the order of
// the lists, and sorts the identifiers by their sums.
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

// CombMAX gives each identifier its best score in all lists, without scaling (Fox and Shaw, "Combination of
// Multiple Searches", TREC-2, 1993). HippoRAG merges the steps of an iterative retrieval in this way, whose
// scores are comparable (arXiv 2405.14831, section 4). Unlike elsewhere, equal scores keep the order in which
// they were first seen, the first list first. The error lists all scores that are not finite.
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

// Interleave takes the first identifier of every list, then the second of every list, and so on, and leaves out
// those it has already taken.
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

// MinMax scales scores, in place, so that the lowest becomes 0 and the highest 1. If all scores are equal they
// become 1, or stay 0.
func MinMax(scores []float64) []float64 {
	if len(scores) == 0 {
		return scores
	}
	low, high := scores[0], scores[0]
	for _, s := range scores {
		low, high = min(low, s), max(high, s)
	}
	for i, s := range scores {
		switch {
		case high > low:
			scores[i] = (s - low) / (high - low)
		case s != 0:
			scores[i] = 1
		}
	}
	return scores
}
