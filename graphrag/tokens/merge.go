// SPDX-License-Identifier: Apache-2.0

package tokens

import "math"

// none is the rank of two neighbours that do not merge.
const none = math.MaxInt32

// shortPiece is the length in bytes up to which a piece is merged by looking
// through all pairs for the best one: quadratic, but without any structure to
// keep. Longer pieces are rare and go through a heap.
const shortPiece = 64

// split appends the ends of the tokens of a piece to dst, counted from base.
func (v *vocabulary) split(dst []int32, piece string, base int32) []int32 {
	if v.find(piece, v.hash(piece)) >= 0 {
		return append(dst, base+int32(len(piece)))
	}
	return v.merge(dst, piece, base)
}

// merge appends the ends of the tokens of a piece to dst, counted from base.
// Neighbours merge in the order of the rank of what they become, equal ranks
// from left to right, until no two neighbours are a token together.
func (v *vocabulary) merge(dst []int32, piece string, base int32) []int32 {
	if len(piece) > shortPiece {
		return v.mergeLong(dst, piece, base)
	}
	// Part i goes from start[i] to start[i+1]; rank[i] is that of parts i and
	// i+1 together.
	var start, rank [shortPiece + 1]int32
	n := len(piece)
	pair := func(i int) int32 {
		if i < 0 || i+2 > n {
			return none
		}
		if id := v.id(piece[start[i]:start[i+2]]); id >= 0 {
			return id
		}
		return none
	}
	for i := range n + 1 {
		start[i] = int32(i)
	}
	for i := range n - 1 {
		rank[i] = v.pairs[int(piece[i])<<8|int(piece[i+1])]
	}
	rank[n-1] = none
	for {
		best := 0
		for i := 1; i < n; i++ {
			if rank[i] < rank[best] {
				best = i
			}
		}
		if rank[best] == none {
			break
		}
		copy(start[best+1:n], start[best+2:n+1])
		copy(rank[best+1:n-1], rank[best+2:n])
		n--
		rank[best] = pair(best)
		if best > 0 {
			rank[best-1] = pair(best - 1)
		}
	}
	for i := 1; i <= n; i++ {
		dst = append(dst, base+start[i])
	}
	return dst
}

// candidate is a merge that was possible when it was found: the parts that
// begin at start and end at end are the token of that rank.
type candidate struct{ rank, start, end int32 }

func (a candidate) before(b candidate) bool {
	return a.rank < b.rank || a.rank == b.rank && a.start < b.start
}

// mergeLong is merge in O(n log n).
func (v *vocabulary) mergeLong(dst []int32, piece string, base int32) []int32 {
	n := int32(len(piece))
	// Parts are linked by where they begin; the entry at n closes the list.
	next, prev := make([]int32, n+1), make([]int32, n+1)
	for i := range n + 1 {
		next[i], prev[i] = i+1, i-1
	}
	heap := make([]candidate, 0, n)
	offer := func(start int32) {
		if start < 0 || next[start] >= n {
			return
		}
		end := next[next[start]]
		if id := v.id(piece[start:end]); id >= 0 {
			heap = push(heap, candidate{id, start, end})
		}
	}
	for i := range n {
		offer(i)
	}
	const gone = -2
	for len(heap) > 0 {
		var c candidate
		c, heap = pop(heap)
		middle := next[c.start]
		if middle == gone || middle >= n || next[middle] != c.end {
			continue // one of its parts has merged otherwise
		}
		next[c.start], prev[c.end] = c.end, c.start
		next[middle] = gone
		offer(c.start)
		offer(prev[c.start])
	}
	for i := next[0]; ; i = next[i] {
		dst = append(dst, base+i)
		if i == n {
			return dst
		}
	}
}

// push adds c to a binary heap.
func push(heap []candidate, c candidate) []candidate {
	heap = append(heap, c)
	i := len(heap) - 1
	for i > 0 && c.before(heap[(i-1)/2]) {
		heap[i] = heap[(i-1)/2]
		i = (i - 1) / 2
	}
	heap[i] = c
	return heap
}

// pop takes the first candidate out of a binary heap.
func pop(heap []candidate) (candidate, []candidate) {
	first, last := heap[0], heap[len(heap)-1]
	heap = heap[:len(heap)-1]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(heap) {
			break
		}
		if child+1 < len(heap) && heap[child+1].before(heap[child]) {
			child++
		}
		if !heap[child].before(last) {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	if len(heap) > 0 {
		heap[i] = last
	}
	return first, heap
}
