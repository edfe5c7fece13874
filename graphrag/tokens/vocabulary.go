// SPDX-License-Identifier: Apache-2.0

package tokens

import (
	"fmt"
	"hash/maphash"
	"math"
	"strings"

	"github.com/tiktoken-go/tokenizer"
)

// vocabulary holds the tokens of an encoding: which bytes are a token, and in
// which order tokens merge (a smaller id merges first).
type vocabulary struct {
	pattern pattern
	seed    maphash.Seed
	slots   []slot // open addressing, a power of two, at most half full
	text    string // all tokens end to end
	at      []int32
	// pairs holds the ids of the tokens of two bytes, none where there is no
	// token: half of all lookups while merging are for them.
	pairs [1 << 16]int32
	// filter has a bit for the hash of each token. It fits the processor's cache
	// and answers nine in ten lookups of what is no token.
	filter [1 << 20 / 64]uint64
}

// slot is a place in the hash table of a vocabulary. id is -1 in empty ones.
type slot struct {
	tag uint32 // upper half of the hash
	id  int32
}

// load reads the vocabulary that the library has embedded, token by token.
func load(e tokenizer.Encoding) *vocabulary {
	codec, err := tokenizer.Get(e)
	if err != nil {
		panic(fmt.Sprintf("tokens: vocabulary %q, which is linked in: %v", e, err))
	}
	v := &vocabulary{
		pattern: pattern{table: basicPlane(), o200k: e == tokenizer.O200kBase},
		seed:    maphash.MakeSeed(),
	}
	var text strings.Builder
	for {
		v.at = append(v.at, int32(text.Len()))
		token, err := codec.Decode([]uint{uint(len(v.at) - 1)})
		if err != nil {
			break // the id after the last
		}
		text.WriteString(token)
	}
	v.text = text.String()
	tokens := len(v.at) - 1
	size := 1
	for size < 2*tokens {
		size *= 2
	}
	v.slots = make([]slot, size)
	for i := range v.slots {
		v.slots[i].id = -1
	}
	for id := range int32(tokens) {
		h := v.hash(v.token(id))
		i := int(h) & (size - 1)
		for v.slots[i].id >= 0 {
			i = (i + 1) & (size - 1)
		}
		v.slots[i] = slot{uint32(h >> 32), id}
		v.filter[h>>50] |= 1 << (h >> 44 & 63)
	}
	for i := range v.pairs {
		if v.pairs[i] = v.id(string([]byte{byte(i >> 8), byte(i)})); v.pairs[i] < 0 {
			v.pairs[i] = none
		}
	}
	for b := range 256 {
		if v.id(string([]byte{byte(b)})) < 0 {
			panic(fmt.Sprintf("tokens: vocabulary %q, which is linked in, lacks byte %#02x", e, b))
		}
	}
	return v
}

func (v *vocabulary) hash(s string) uint64 { return maphash.String(v.seed, s) }

func (v *vocabulary) token(id int32) string { return v.text[v.at[id]:v.at[id+1]] }

// id returns the id of a token, -1 if s is none.
func (v *vocabulary) id(s string) int32 {
	h := v.hash(s)
	if v.filter[h>>50]>>(h>>44&63)&1 == 0 {
		return -1
	}
	return v.find(s, h)
}

func (v *vocabulary) find(s string, h uint64) int32 {
	mask := len(v.slots) - 1
	for i := int(h) & mask; ; i = (i + 1) & mask {
		at := v.slots[i]
		if at.id < 0 {
			return -1
		}
		if at.tag == uint32(h>>32) && v.token(at.id) == s {
			return at.id
		}
	}
}

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
