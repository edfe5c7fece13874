// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"fmt"
	"math/bits"
	"slices"
)

// numbered returns the lengths of the documents by the numbers that the parts give
// them.
func numbered(parts []Part) (lengths []uint32, err error) {
	n := 0
	for i, p := range parts {
		if len(p.Numbers) != p.Index.Len() {
			return nil, fmt.Errorf("index %d has %d documents and %d numbers for them", i+1, p.Index.Len(), len(p.Numbers))
		}
		last := int32(-1)
		for d, number := range p.Numbers {
			if number == -1 {
				continue
			}
			if number <= last {
				return nil, fmt.Errorf("index %d: document %d has the number %d, one before it %d: the numbers of an index ascend, from 0, and are -1 of what is left out", i+1, d, number, last)
			}
			last = number
			n++
		}
	}
	lengths = make([]uint32, n)
	taken := make([]uint64, (n+63)/64)
	for i, p := range parts {
		for d, number := range p.Numbers {
			if number < 0 {
				continue
			}
			if int(number) >= n {
				return nil, fmt.Errorf("index %d: document %d has the number %d of %d documents: the numbers of all are 0 to %d", i+1, d, number, n, n-1)
			}
			if taken[number>>6]&(1<<(number&63)) != 0 {
				return nil, fmt.Errorf("index %d: document %d has the number %d, which one of another index has", i+1, d, number)
			}
			taken[number>>6] |= 1 << (number & 63)
			lengths[number] = p.Index.lengths[d]
		}
	}
	return lengths, nil
}

// ordering puts the postings of a term in order: runs of ascending documents, one of
// each index that has the term.
type ordering struct {
	keys   []uint64 // of a short list: document, frequency
	marked []uint64 // of a long one: a bit for each document, none between two lists
	byDoc  []uint32 // and its frequency
}

func newOrdering(documents int) *ordering {
	return &ordering{marked: make([]uint64, (documents+63)/64), byDoc: make([]uint32, documents)}
}

// A list is short if sorting it is cheaper than a look at one bit for each document:
// about fifty nanoseconds for each of the list, and one for each sixty-four of all.
const shortShare = 1 << 12

func (o *ordering) order(docs, tfs []uint32) {
	switch {
	case slices.IsSorted(docs):
	case len(docs) < len(o.byDoc)/shortShare:
		o.sort(docs, tfs)
	default:
		o.mark(docs, tfs)
	}
}

func (o *ordering) sort(docs, tfs []uint32) {
	o.keys = o.keys[:0]
	for i, d := range docs {
		o.keys = append(o.keys, uint64(d)<<32|uint64(tfs[i]))
	}
	slices.Sort(o.keys)
	for i, k := range o.keys {
		docs[i], tfs[i] = uint32(k>>32), uint32(k)
	}
}

func (o *ordering) mark(docs, tfs []uint32) {
	lo, hi := docs[0], docs[0]
	for i, d := range docs {
		o.marked[d>>6] |= 1 << (d & 63)
		o.byDoc[d] = tfs[i]
		lo, hi = min(lo, d), max(hi, d)
	}
	i := 0
	for w := lo >> 6; w <= hi>>6; w++ {
		for m := o.marked[w]; m != 0; m &= m - 1 {
			d := w<<6 | uint32(bits.TrailingZeros64(m))
			docs[i], tfs[i] = d, o.byDoc[d]
			i++
		}
		o.marked[w] = 0
	}
}
