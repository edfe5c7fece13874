// SPDX-License-Identifier: Apache-2.0

package steiner

import "math"

// none is the end of a list of indices, and the empty heap.
const none = -1

// heap is a family of pairing heaps of edge parts by time (Fredman and others
// 1986) that can be melded and delayed as a whole. A heap is named by its first
// entry. A part that is inserted again leaves its old entry behind, which is no
// longer fresh.
type heap struct {
	entries []entry
	free    int32   // entries not in use, by their next
	current []int32 // the fresh entry of each part
	pairs   []int32 // scratch of pop
}

type entry struct {
	time        float64
	delay       float64 // to be added to the times of all entries below
	part        int32
	child, next int32
}

func newHeap(parts int) heap {
	h := heap{entries: make([]entry, 0, parts), free: none, current: make([]int32, parts)}
	for p := range h.current {
		h.current[p] = none
	}
	return h
}

// min returns the time of the first entry of a heap, +Inf if it is empty.
func (h *heap) min(first int32) float64 {
	if first == none {
		return math.Inf(1)
	}
	return h.entries[first].time
}

// insert puts a part into a heap and returns the heap.
func (h *heap) insert(first, part int32, time float64) int32 {
	e := h.free
	if e == none {
		e = int32(len(h.entries))
		h.entries = append(h.entries, entry{})
	} else {
		h.free = h.entries[e].next
	}
	h.entries[e] = entry{time: time, part: part, child: none, next: none}
	h.current[part] = e
	return h.meld(first, e)
}

// meld makes one heap of two. Of equal times the lower part comes first.
func (h *heap) meld(a, b int32) int32 {
	if a == none {
		return b
	}
	if b == none {
		return a
	}
	x, y := &h.entries[a], &h.entries[b]
	if y.time < x.time || y.time == x.time && y.part < x.part {
		a, b, x, y = b, a, y, x
	}
	y.time -= x.delay
	y.delay -= x.delay
	y.next, x.child = x.child, b
	return a
}

// delay adds to the times of all entries of a heap.
func (h *heap) delay(first int32, by float64) {
	if first != none {
		h.entries[first].time += by
		h.entries[first].delay += by
	}
}

// pop takes the first entry out of a heap and returns its part, and whether the
// entry was fresh.
func (h *heap) pop(first *int32) (part int32, fresh bool) {
	top := *first
	e := h.entries[top]
	// Meld the children in pairs, and the pairs from the last to the first.
	h.pairs = h.pairs[:0]
	for c := e.child; c != none; {
		next := h.detach(c, e.delay)
		if next == none {
			h.pairs = append(h.pairs, c)
			break
		}
		after := h.detach(next, e.delay)
		h.pairs = append(h.pairs, h.meld(c, next))
		c = after
	}
	rest := int32(none)
	for i := len(h.pairs) - 1; i >= 0; i-- {
		rest = h.meld(rest, h.pairs[i])
	}
	*first = rest
	if fresh = h.current[e.part] == top; fresh {
		h.current[e.part] = none
	}
	h.entries[top].next, h.free = h.free, top
	return e.part, fresh
}

// detach makes a child a heap of its own and returns its sibling.
func (h *heap) detach(c int32, delay float64) int32 {
	next := h.entries[c].next
	h.entries[c].next = none
	h.delay(c, delay)
	return next
}
