// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"iter"
	"slices"
	"strings"
)

// Lists are lists of numbers in one array. There are as many as pairs of entities, and most
// have one number, for which a slice header would be six times as large.
type Lists struct{ lists[int32] }

// lists are lists of items, one behind the other.
type lists[T any] struct {
	ends  []int32
	items []T
}

// Len is the number of lists.
func (l *lists[T]) Len() int { return len(l.ends) }

// Of is a list; it must not be changed.
func (l *lists[T]) Of(i int32) []T {
	lo, hi := int32(0), l.ends[i]
	if i > 0 {
		lo = l.ends[i-1]
	}
	return l.items[lo:hi:hi]
}

// All are the lists in their order.
func (l *lists[T]) All() iter.Seq2[int32, []T] {
	return func(yield func(int32, []T) bool) {
		for i := range int32(l.Len()) {
			if !yield(i, l.Of(i)) {
				return
			}
		}
	}
}

// Append adds a list.
func (l *lists[T]) Append(list ...T) {
	l.items = append(l.items, list...)
	l.ends = append(l.ends, int32(len(l.items)))
}

// Clip releases spare capacity.
func (l *lists[T]) Clip() {
	l.ends, l.items = clipped(l.ends), clipped(l.items)
}

// begin replaces the sizes of lists by their beginnings, which become the ends as the lists are filled.
func begin(sizes []int32) {
	at := int32(0)
	for i, size := range sizes {
		sizes[i] = at
		at += size
	}
}

// Incident are for each of n entities the pairs that it is in; ends returns the two entities of each of m pairs.
func Incident(n, m int, ends func(pair int32) [2]int32) Lists {
	l := Lists{lists[int32]{make([]int32, n), make([]int32, 2*m)}}
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.ends[e]++
		}
	}
	begin(l.ends)
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.items[l.ends[e]] = p
			l.ends[e]++
		}
	}
	return l
}

// statedText is a text in a passage about an entity or a relation.
type statedText struct{ list, passage, text int32 }

// described groups texts by the thing that they describe (0 to n-1): equal texts once, in the
// order of their first passages. said is sorted by thing, then by passage; it is overwritten.
func described(n int, said []statedText, texts []string) lists[Description] {
	out := lists[Description]{ends: make([]int32, 0, n)}
	place := make([]int, len(texts)) // of a text among the descriptions, from 1
	first := 0                       // description of the thing
	for i := range said {
		s := &said[i]
		for len(out.ends) < int(s.list) {
			out.ends = append(out.ends, int32(len(out.items)))
			first = len(out.items)
		}
		d := place[s.text] - 1
		if d < first {
			d = len(out.items)
			place[s.text] = d + 1
			out.items = append(out.items, Description{Text: texts[s.text]})
		}
		s.text = int32(d) // from here on the number of the description
	}
	for len(out.ends) < n {
		out.ends = append(out.ends, int32(len(out.items)))
	}
	out.items = clipped(out.items)
	said = sorted(said, len(out.items), func(s *statedText) int32 { return s.text })
	passages := make([]int32, 0, len(said)) // in the order of the descriptions
	for i, s := range said {
		if i > 0 && s == said[i-1] {
			continue
		}
		of := &out.items[s.text].Passages
		passages = append(passages, s.passage)
		*of = passages[len(passages)-len(*of)-1 : len(passages) : len(passages)]
	}
	return out
}

// ranked are texts by frequency, equal ones by the text.
func ranked(p lists[Posting], texts []string) lists[Count] {
	out := lists[Count]{p.ends, make([]Count, len(p.items))}
	for i, x := range p.items {
		out.items[i] = Count{texts[x.ID], int(x.Count)}
	}
	for _, of := range out.All() {
		if len(of) > 1 {
			slices.SortFunc(of, func(a, b Count) int {
				return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Text, b.Text))
			})
		}
	}
	return out
}

// clipped is a copy without spare capacity, nil of an empty list.
func clipped[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return append(make([]T, 0, len(list)), list...)
}

// link is one occurrence of an item in a list.
type link struct{ list, item int32 }

// gather makes n lists of links, sorted by item and counted. It sorts by
// counting, first by item and then by list, so time and memory are linear.
func gather(n, items int, links []link) lists[Posting] {
	links = sorted(links, items, func(l *link) int32 { return l.item })
	links = sorted(links, n, func(l *link) int32 { return l.list })
	p, size := lists[Posting]{ends: make([]int32, n)}, 0
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			p.ends[l.list]++
			size++
		}
	}
	begin(p.ends)
	p.items = make([]Posting, 0, size)
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			p.items = append(p.items, Posting{ID: l.item})
			p.ends[l.list]++
		}
		p.items[len(p.items)-1].Count++
	}
	return p
}

// sorted returns items by a key below n, equal ones in their order.
func sorted[T any](items []T, n int, key func(*T) int32) []T {
	next := make([]int32, n)
	for i := range items {
		next[key(&items[i])]++
	}
	begin(next)
	out := make([]T, len(items))
	for i := range items {
		k := key(&items[i])
		out[next[k]] = items[i]
		next[k]++
	}
	return out
}

// transpose turns lists of items into lists of those lists.
func transpose(p lists[Posting], items int) lists[Posting] {
	q := lists[Posting]{make([]int32, items), make([]Posting, len(p.items))}
	for _, x := range p.items {
		q.ends[x.ID]++
	}
	begin(q.ends)
	for list, of := range p.All() {
		for _, x := range of {
			q.items[q.ends[x.ID]] = Posting{list, x.Count}
			q.ends[x.ID]++
		}
	}
	return q
}
