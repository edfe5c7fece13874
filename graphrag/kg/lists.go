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

// Clip releases spare capacity.
func (l *Lists) Clip() {
	l.ends, l.items = clipped(l.ends), clipped(l.items)
}

// Incident are for each of n entities the pairs that it is in; ends returns the two entities of each of m pairs.
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

// statedText is a text in a passage about an entity or a relation.
type statedText struct{ list, passage, text int32 }

// described groups texts by the thing that they describe (0 to n-1): equal texts once, in the
// order of their first passages. said is sorted by thing, then by passage.
func described(n int, said []statedText, texts []string) lists[Description] {
	out := lists[Description]{ends: make([]int, 0, n)}
	place := make([]int, len(texts)) // of a text among the descriptions, from 1
	first := 0                       // description of the thing
	for i := range said {
		s := &said[i]
		for len(out.ends) < int(s.list) {
			out.ends = append(out.ends, len(out.items))
			first = len(out.items)
		}
		d := place[s.text] - 1
		if d < first {
			d = len(out.items)
			place[s.text] = d + 1
			out.items = append(out.items, Description{Text: texts[s.text]})
		}
		if of := &out.items[d].Passages; len(*of) == 0 || (*of)[len(*of)-1] != s.passage {
			*of = append(*of, s.passage)
		}
	}
	for len(out.ends) < n {
		out.ends = append(out.ends, len(out.items))
	}
	out.items = clipped(out.items)
	return out
}

// lists are lists of items, one behind the other.
type lists[T any] struct {
	ends  []int
	items []T
}

// of is a list.
func (l *lists[T]) of(i int) []T {
	lo, hi := 0, l.ends[i]
	if i > 0 {
		lo = l.ends[i-1]
	}
	return l.items[lo:hi:hi]
}

// ranked are texts by frequency, equal ones by the text.
func (p postings) ranked(texts *interner) lists[Count] {
	out := lists[Count]{items: make([]Count, len(p.items))}
	for i, x := range p.items {
		out.items[i] = Count{texts.texts[x.ID], int(x.Count)}
	}
	for _, end := range p.offsets[1:] {
		out.ends = append(out.ends, int(end))
		if of := out.of(len(out.ends) - 1); len(of) > 1 {
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

// postings are lists, one behind the other.
type postings struct {
	offsets []int64
	items   []Posting
}

func (p *postings) of(id int32) []Posting {
	lo, hi := p.offsets[id], p.offsets[id+1]
	return p.items[lo:hi:hi]
}

// link is one occurrence of an item in a list.
type link struct{ list, item int32 }

// gather makes n lists of links, sorted by item and counted. It sorts by
// counting, first by item and then by list, so time and memory are linear.
func gather(n, items int, links []link) postings {
	links = sorted(links, items, func(l link) int32 { return l.item })
	links = sorted(links, n, func(l link) int32 { return l.list })
	distinct := 0
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			distinct++
		}
	}
	p := postings{offsets: make([]int64, n+1), items: make([]Posting, 0, distinct)}
	for i, l := range links {
		if i > 0 && links[i-1] == l {
			p.items[len(p.items)-1].Count++
		} else {
			p.items = append(p.items, Posting{l.item, 1})
		}
		p.offsets[l.list+1] = int64(len(p.items))
	}
	for i := range n { // lists without links
		p.offsets[i+1] = max(p.offsets[i+1], p.offsets[i])
	}
	return p
}

// sorted returns links by a key below n, equal ones in their order.
func sorted(links []link, n int, key func(link) int32) []link {
	next := make([]int64, n+1)
	for _, l := range links {
		next[key(l)+1]++
	}
	for i := range n {
		next[i+1] += next[i]
	}
	out := make([]link, len(links))
	for _, l := range links {
		out[next[key(l)]] = l
		next[key(l)]++
	}
	return out
}

// transpose turns lists of items into lists of those lists.
func (p *postings) transpose(items int) postings {
	q := postings{offsets: make([]int64, items+1), items: make([]Posting, len(p.items))}
	for _, x := range p.items {
		q.offsets[x.ID+1]++
	}
	for i := range items {
		q.offsets[i+1] += q.offsets[i]
	}
	next := append([]int64(nil), q.offsets...)
	for list := range len(p.offsets) - 1 {
		for _, x := range p.of(int32(list)) {
			q.items[next[x.ID]] = Posting{int32(list), x.Count}
			next[x.ID]++
		}
	}
	return q
}

// interner numbers texts in the order in which they come.
type interner struct {
	ids   map[string]int32
	texts []string
}

func newInterner() *interner { return &interner{ids: make(map[string]int32)} }

func (n *interner) id(text string) int32 {
	id, ok := n.ids[text]
	if !ok {
		id = int32(len(n.texts))
		n.ids[text] = id
		n.texts = append(n.texts, text)
	}
	return id
}

// sortedOrder returns the place of each text among all.
func sortedOrder(texts []string) []int32 {
	by := make([]int32, len(texts))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
	rank := make([]int32, len(texts))
	for place, i := range by {
		rank[i] = int32(place)
	}
	return rank
}
