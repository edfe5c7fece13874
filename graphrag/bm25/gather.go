// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"fmt"
	"slices"
)

// gathered are terms and their postings in the whole.
type gathered struct {
	terms     []byte
	ends      []int // where each term ends
	docs, tfs []uint32
	lists     []int // where the postings of each term end
}

// gatherAt is how many postings are gathered before they are handed on.
const gatherAt = 1 << 18

func newGathered() *gathered {
	return &gathered{docs: make([]uint32, 0, 2*gatherAt), tfs: make([]uint32, 0, 2*gatherAt)}
}

// gather sends the terms of all parts in their order, and takes back what it sent.
func gather(ctx context.Context, parts []Part, documents int, full chan<- *gathered, free <-chan *gathered) error {
	from, o := newCursors(parts), newOrdering(documents)
	for len(from) > 0 {
		var g *gathered
		select {
		case g = <-free:
		case <-ctx.Done():
			return ctx.Err()
		}
		g.terms, g.ends, g.docs, g.tfs, g.lists = g.terms[:0], g.ends[:0], g.docs[:0], g.tfs[:0], g.lists[:0]
		for n := 0; len(from) > 0 && len(g.docs) < gatherAt && n < gatherAt; n++ {
			if err := g.next(&from, o); err != nil {
				return err
			}
		}
		select {
		case full <- g:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// next gathers the next term, unless no document is left that has it.
func (g *gathered) next(from *cursors, o *ordering) error {
	start, first := len(g.terms), len(g.docs)
	g.terms = append(g.terms, (*from)[0].term...)
	for len(*from) > 0 && bytes.Equal((*from)[0].term, g.terms[start:]) {
		c := (*from)[0]
		if !g.add(c.ix, c.id(), c.numbers) {
			return fmt.Errorf("%w: the documents of %.40q are not those that were written; build it again", ErrFolder, c.term)
		}
		from.next()
	}
	if len(g.docs) == first {
		g.terms = g.terms[:start]
		return nil
	}
	o.order(g.docs[first:], g.tfs[first:])
	g.ends, g.lists = append(g.ends, len(g.terms)), append(g.lists, len(g.docs))
	return nil
}

// add appends the documents of a term of an index, by their numbers, unless they are
// damaged.
func (g *gathered) add(ix *Index, term int, numbers []int32) bool {
	if !ix.sound(term) {
		return false
	}
	e, at := ix.entries[term], len(g.docs)
	if end := at + int(e.df); end > cap(g.docs) || end > cap(g.tfs) {
		g.docs, g.tfs = slices.Grow(g.docs, int(e.df)), slices.Grow(g.tfs, int(e.df))
	}
	docs, tfs := g.docs[:at+int(e.df)], g.tfs[:at+int(e.df)]
	if e.blocks == 0 {
		n := len(ix.lengths)
		for d, small := range ix.columns[int(e.first)*n : (int(e.first)+1)*n] {
			if small != 0 && numbers[d] >= 0 {
				if at == len(docs) {
					return false
				}
				docs[at], tfs[at] = uint32(numbers[d]), ix.exact(small, term, uint32(d))
				at++
			}
		}
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		base := ix.blocks[b].window << windowBits
		for i, end := ix.span(b); i < end; i++ {
			doc := base | uint32(ix.docs[i])
			if int(doc) >= len(numbers) {
				return false
			}
			if number := numbers[doc]; number >= 0 {
				docs[at], tfs[at] = uint32(number), ix.exact(ix.tfs[i], term, doc)
				at++
			}
		}
	}
	g.docs, g.tfs = docs[:at], tfs[:at]
	return true
}

// cursor iterates over the terms of an index in order.
type cursor struct {
	ix      *Index
	part    int     // which of the indexes it is
	numbers []int32 // of its documents in the whole
	order   []int32 // of the terms; nil if they are in order
	at      int
	term    []byte
	head    uint64 // the first bytes of the term, in an order that is that of terms
}

// look reads the current term, if there is one.
func (c *cursor) look() (ok bool) {
	if c.at == c.ix.terms.Len() {
		return false
	}
	var head [8]byte
	c.term = c.ix.terms.At(c.id())
	copy(head[:], c.term)
	c.head = binary.BigEndian.Uint64(head[:])
	return true
}

// id returns the number of the term.
func (c *cursor) id() int {
	if c.order != nil {
		return int(c.order[c.at])
	}
	return c.at
}

// before reports whether a's term is smaller, or equal and from an earlier index.
func (a *cursor) before(b *cursor) bool {
	if a.head != b.head {
		return a.head < b.head
	}
	return cmp.Or(bytes.Compare(a.term, b.term), cmp.Compare(a.part, b.part)) < 0
}

// cursors is a heap with the first term on top.
type cursors []*cursor

func newCursors(parts []Part) cursors {
	h := make(cursors, 0, len(parts))
	for i, p := range parts {
		c := &cursor{ix: p.Index, part: i, numbers: p.Numbers}
		if terms := p.Index.terms; p.Index.folder == nil {
			c.order = make([]int32, terms.Len())
			for t := range c.order {
				c.order[t] = int32(t)
			}
			slices.SortFunc(c.order, func(a, b int32) int { return bytes.Compare(terms.At(int(a)), terms.At(int(b))) })
		}
		if c.look() {
			h = append(h, c)
		}
	}
	heap.Init(&h)
	return h
}

// next advances the cursor with the smallest term.
func (h *cursors) next() {
	c := (*h)[0]
	if c.at++; c.look() {
		heap.Fix(h, 0)
	} else {
		heap.Pop(h)
	}
}

func (h cursors) Len() int           { return len(h) }
func (h cursors) Less(i, j int) bool { return h[i].before(h[j]) }
func (h cursors) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *cursors) Push(x any)        { *h = append(*h, x.(*cursor)) }
func (h *cursors) Pop() any {
	last := len(*h) - 1
	c := (*h)[last]
	*h = (*h)[:last]
	return c
}
