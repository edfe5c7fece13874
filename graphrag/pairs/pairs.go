// SPDX-License-Identifier: Apache-2.0

package pairs

import (
	"cmp"
	"iter"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/kg"
)

// Lists are lists of numbers, one behind the other: as many as there are pairs of entities,
// most of one number, each of which would need a header six times as large.
type Lists struct {
	ends  []int32
	items []int32
}

// Len is the number of lists.
func (l *Lists) Len() int { return len(l.ends) }

// Of is a list; it must not be changed.
func (l *Lists) Of(i int32) []int32 {
	lo, hi := int32(0), l.ends[i]
	if i > 0 {
		lo = l.ends[i-1]
	}
	return l.items[lo:hi:hi]
}

// All are the lists in their order.
func (l *Lists) All() iter.Seq2[int32, []int32] {
	return func(yield func(int32, []int32) bool) {
		for i := range int32(l.Len()) {
			if !yield(i, l.Of(i)) {
				return
			}
		}
	}
}

// Append adds a list.
func (l *Lists) Append(list ...int32) {
	l.items = append(l.items, list...)
	l.ends = append(l.ends, int32(len(l.items)))
}

// Clip gives back the room for more.
func (l *Lists) Clip() {
	l.ends, l.items = clipped(l.ends), clipped(l.items)
}

func clipped(list []int32) []int32 { return append(make([]int32, 0, len(list)), list...) }

// Of are the relations of a graph by the two entities that they join, in the order of
// these: those there apart from those back if they are directed.
func Of(g *kg.Graph, directed bool) Lists {
	order := make([]int32, len(g.Relations))
	for r := range order {
		order[r] = int32(r)
	}
	compare := func(a, b int32) int {
		x, y := &g.Relations[a], &g.Relations[b]
		if directed {
			return cmp.Or(cmp.Compare(x.Head, y.Head), cmp.Compare(x.Tail, y.Tail))
		}
		return cmp.Or(cmp.Compare(min(x.Head, x.Tail), min(y.Head, y.Tail)), cmp.Compare(max(x.Head, x.Tail), max(y.Head, y.Tail)))
	}
	slices.SortStableFunc(order, compare)
	pairs := Lists{items: order}
	for at := 1; at <= len(order); at++ {
		if at == len(order) || compare(order[at-1], order[at]) != 0 {
			pairs.ends = append(pairs.ends, int32(at))
		}
	}
	return pairs
}

// Incident are the pairs that each of n entities is in, of m that have the ends that are
// returned; they are two.
func Incident(n, m int, ends func(pair int32) [2]int32) Lists {
	l := Lists{ends: make([]int32, n), items: make([]int32, 2*m)}
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.ends[e]++
		}
	}
	at := int32(0)
	for e, size := range l.ends { // where a list begins, until it is filled
		l.ends[e] = at
		at += size
	}
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.items[l.ends[e]] = p
			l.ends[e]++
		}
	}
	return l
}
