// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"slices"
)

// better orders results: higher scores first, equal ones by document.
func better(a, b Result) bool {
	return a.Score > b.Score || a.Score == b.Score && a.Doc < b.Doc
}

// top keeps the k best results in a heap with the worst of them on top.
type top struct {
	k    int
	heap []Result
}

func (t *top) reset(k int) { t.k, t.heap = k, t.heap[:0] }

func (t *top) full() bool { return len(t.heap) == t.k }

// floor is the score below which nothing comes in any more.
func (t *top) floor() float32 {
	if !t.full() {
		return 0
	}
	return t.heap[0].Score
}

// push takes the result in if it is among the k best so far.
func (t *top) push(r Result) {
	if !t.full() {
		t.heap = append(t.heap, r)
		t.up(len(t.heap) - 1)
	} else if better(r, t.heap[0]) {
		t.heap[0] = r
		t.down()
	}
}

func (t *top) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !better(t.heap[parent], t.heap[i]) {
			return
		}
		t.heap[parent], t.heap[i] = t.heap[i], t.heap[parent]
		i = parent
	}
}

func (t *top) down() {
	for i := 0; ; {
		worst := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(t.heap); c++ {
			if better(t.heap[worst], t.heap[c]) {
				worst = c
			}
		}
		if worst == i {
			return
		}
		t.heap[i], t.heap[worst] = t.heap[worst], t.heap[i]
		i = worst
	}
}

// sorted appends the results to dst, best first.
func (t *top) sorted(dst []Result) []Result {
	start := len(dst)
	dst = append(dst, t.heap...)
	slices.SortFunc(dst[start:], func(a, b Result) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Doc, b.Doc))
	})
	return dst
}
