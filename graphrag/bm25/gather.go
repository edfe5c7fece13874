// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"slices"
)

// gathered is a term and its postings in the whole.
type gathered struct {
	term      []byte
	docs, tfs []uint32
	keys      []uint64 // of postings that are sorted: document, frequency
}

// next gathers the next term, without postings if no document is left that has it.
func (g *gathered) next(from *cursors) error {
	g.term, g.docs, g.tfs = append(g.term[:0], (*from)[0].term...), g.docs[:0], g.tfs[:0]
	for len(*from) > 0 && bytes.Equal((*from)[0].term, g.term) {
		c := (*from)[0]
		if !g.add(c.ix, c.id(), c.numbers) {
			return fmt.Errorf("%w: the documents of %.40q are not those that were written; build it again", ErrFolder, c.term)
		}
		from.next()
	}
	if !slices.IsSorted(g.docs) {
		g.sort()
	}
	return nil
}

// sort brings the postings into the order of the documents.
func (g *gathered) sort() {
	g.keys = g.keys[:0]
	for i, d := range g.docs {
		g.keys = append(g.keys, uint64(d)<<32|uint64(g.tfs[i]))
	}
	slices.Sort(g.keys)
	for i, k := range g.keys {
		g.docs[i], g.tfs[i] = uint32(k>>32), uint32(k)
	}
}

// add appends the documents of a term of an index, by their numbers, unless they are damaged.
func (g *gathered) add(ix *Index, term int, numbers []int32) bool {
	if !ix.sound(term) {
		return false
	}
	e, at := ix.entries[term], len(g.docs)
	g.docs, g.tfs = slices.Grow(g.docs, int(e.df)), slices.Grow(g.tfs, int(e.df))
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
}

// look reads the current term, if there is one.
func (c *cursor) look() (ok bool) {
	if c.at == c.ix.terms.Len() {
		return false
	}
	c.term = c.ix.terms.At(c.id())
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
