// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
)

// Scored is a thing with a score: a row of an index, a node, a chunk.
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

// Best returns the k best of list, best first; all if it has no more. It works in
// the memory of list, whose order is lost.
func Best[ID cmp.Ordered](list []Scored[ID], k int) []Scored[ID] {
	if k >= len(list) {
		slices.SortFunc(list, Compare)
		return list
	}
	t := Top[ID]{k: k, heap: list[:0]} // never ahead of the reading position
	for _, s := range list {
		t.Push(s.ID, s.Score)
	}
	slices.SortFunc(t.heap, Compare)
	return t.heap
}

// Top keeps the k best of the pushed items, in a heap with the worst on top. Scores are numbers.
type Top[ID cmp.Ordered] struct {
	k    int
	heap []Scored[ID]
}

// Reset forgets everything and sets k.
func (t *Top[ID]) Reset(k int) { t.k, t.heap = k, t.heap[:0] }

// CopyOf makes t hold what o holds.
func (t *Top[ID]) CopyOf(o *Top[ID]) { t.k, t.heap = o.k, append(t.heap[:0], o.heap...) }

// Threshold is the k-th best score so far, -Inf as long as there are fewer.
func (t *Top[ID]) Threshold() float64 {
	if len(t.heap) < t.k || t.k <= 0 {
		return math.Inf(-1)
	}
	return t.heap[0].Score
}

// Append appends the elements of t to dst, best first.
func (t *Top[ID]) Append(dst []Scored[ID]) []Scored[ID] {
	start := len(dst)
	dst = append(dst, t.heap...)
	slices.SortFunc(dst[start:], Compare)
	return dst
}

// Push takes a thing in if it is among the k best so far.
func (t *Top[ID]) Push(id ID, score float64) {
	s := Scored[ID]{id, score}
	switch {
	case len(t.heap) < t.k:
		t.heap = append(t.heap, s)
		t.up()
	case t.k > 0 && before(s, t.heap[0]):
		t.heap[0] = s
		t.down()
	}
}

// before is [Compare] for numbers.
func before[ID cmp.Ordered](a, b Scored[ID]) bool {
	return a.Score > b.Score || a.Score == b.Score && a.ID < b.ID
}

// up moves the last one to where it belongs.
func (t *Top[ID]) up() {
	h := t.heap
	for i := len(h) - 1; i > 0 && before(h[(i-1)/2], h[i]); i = (i - 1) / 2 {
		h[(i-1)/2], h[i] = h[i], h[(i-1)/2]
	}
}

// down moves the first one to where it belongs.
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

// CombMAX gives each identifier its best score of all lists, on the scale of the lists (Fox and Shaw,
// "Combination of Multiple Searches", TREC-2, 1993). It is how HippoRAG puts the steps of an iterative
// retrieval together, whose scores compare (arXiv 2405.14831, section 4). Here alone equal scores stay in
// the order in which they were first seen, the first list first. The error names every score that is not
// finite.
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
// on, leaving out the ones that it has already taken.
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

// MinMax scales scores, in place, so that the lowest becomes 0 and the highest 1. If all are
// equal they become 1, or stay 0.
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
