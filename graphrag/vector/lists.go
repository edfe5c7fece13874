// SPDX-License-Identifier: Apache-2.0

package vector

import "slices"

const (
	maxLists = 1 << 16
	// A search reads one list of listShare unless it is told how many, and no fewer
	// than fewLists.
	listShare = 8
	fewLists  = 8
)

// lists are inverted lists (Jégou, Douze and Schmid, "Product quantization for nearest
// neighbor search", TPAMI 33(1), 2011, section IV): each row is in that of the center
// it has the largest dot product with.
type lists struct {
	centers *Index  // of length 1
	starts  []int32 // of each list in ids, and their end
	ids     []int32 // rows list by list, ascending in each
}

// number is how many there are; none are 0.
func (l *lists) number() int {
	if l == nil {
		return 0
	}
	return len(l.starts) - 1
}

// effort is how many lists a search reads at first that asks for a number.
func (l *lists) effort(wanted int) int {
	if wanted > 0 {
		return wanted
	}
	return max(fewLists, l.number()/listShare)
}

// probe sets s.spans to the rows of so many lists, the nearest to the query first, or
// to all rows, and tells whether it is these.
func (x *Index) probe(s *scratch, lists int) (all bool) {
	s.spans = s.spans[:0]
	if lists >= x.lists.number() {
		for first := 0; first < x.n; first += shardRows {
			s.spans = append(s.spans, span{first, min(first+shardRows, x.n)})
		}
		return true
	}
	// A query that has been checked for one index is good for the other.
	s.near, _ = x.lists.centers.Search(s.query[:x.opts.Dim], lists, s.near[:0])
	for _, list := range s.near {
		s.spans = append(s.spans, span{int(x.lists.starts[list.ID]), int(x.lists.starts[list.ID+1])})
	}
	return false
}

// offer offers the row at a place in the order of the scan.
func (x *Index) offer(s *scratch, place int, lower, upper float32) {
	id := int32(place)
	if x.lists != nil {
		id = x.lists.ids[place]
	}
	s.sel.offer(id, lower, upper)
}

// block are the rows at n places, one after the other, and what fills the last group.
func (x *Index) block(s *scratch, first, n int) []float32 {
	high := roundUp(n, rowGroup)
	if x.lists == nil {
		return x.rows.part(first, high)
	}
	s.rows = slices.Grow(s.rows[:0], blockRows*x.stride)[:high*x.stride]
	for i, id := range x.lists.ids[first : first+n] {
		copy(s.rows[i*x.stride:], x.row(int(id)))
	}
	return s.rows
}
