// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"cmp"
	"math"
	"slices"
)

// Scored is a thing with a score: a row of an index, a node, a chunk.
type Scored[ID cmp.Ordered] struct {
	ID    ID
	Score float64
}

// Compare is the order of a ranking: best first, equal scores by identifier, NaN
// last.
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
	t := Top[ID]{k: k, heap: list[:0]} // never ahead of what is read
	for _, s := range list {
		t.Push(s.ID, s.Score)
	}
	slices.SortFunc(t.heap, Compare)
	return t.heap
}

// Top keeps the k best of what is pushed, in a heap with the worst on top. Scores
// are numbers.
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
