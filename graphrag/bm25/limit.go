// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"iter"
	"math/bits"
	"slices"
)

// Docs is a bit set of the documents of an index: document n is bit n%64 of word n/64.
type Docs []uint64

// AllDocs returns the set of the documents 0 to n-1.
func AllDocs(n int) Docs {
	d := make(Docs, (n+63)/64)
	for i := range d {
		d[i] = ^uint64(0)
	}
	if n%64 != 0 {
		d[len(d)-1] >>= 64 - n%64
	}
	return d
}

// Has reports whether a document is in the set.
func (d Docs) Has(doc int32) bool { return d[doc>>6]&(1<<(doc&63)) != 0 }

// Add puts a document into the set.
func (d Docs) Add(doc int32) { d[doc>>6] |= 1 << (doc & 63) }

// Remove takes a document out of the set.
func (d Docs) Remove(doc int32) { d[doc>>6] &^= 1 << (doc & 63) }

// Len returns the number of documents in the set.
func (d Docs) Len() (n int) {
	for _, w := range d {
		n += bits.OnesCount64(w)
	}
	return n
}

// All yields the documents of the set in ascending order.
func (d Docs) All() iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for i, w := range d {
			for ; w != 0; w &= w - 1 {
				if !yield(int32(i<<6 + bits.TrailingZeros64(w))) {
					return
				}
			}
		}
	}
}

// limit is the set of a member's documents that a search may find.
type limit struct {
	set Docs // nil means all documents
	// few lists the documents of a small set, gone the documents that a large set lacks.
	few, gone []int32
}

// lookShare decides how a set is searched: if it has less than 1/lookShare of the documents, each of them is
// looked up. A lookup takes as long as about 30 postings of a list.
const lookShare = 64

// Limit returns a collection of the documents in the sets alone, one set for each index: its scores equal, to
// the bit, the scores of an index without other documents. A nil set contains all documents of its index. The
// new limit replaces the limit of c. The sets must not be changed afterwards.
func (c *Collection) Limit(sets []Docs) *Collection {
	out := c.Among(sets)
	out.among = false
	documents, total := 0, 0.0
	for i := range out.parts {
		p := &out.parts[i]
		n, sum := len(p.ix.lengths), p.ix.total
		switch {
		case p.set == nil:
		case p.gone != nil:
			for _, d := range p.gone {
				n, sum = n-1, sum-float64(p.ix.lengths[d])
			}
		default:
			n, sum = 0, 0
			for d := range p.set.All() {
				n, sum = n+1, sum+float64(p.ix.lengths[d])
			}
		}
		documents, total = documents+n, total+sum // sums of whole numbers, which do not depend on the order
	}
	out.weigh(documents, total)
	return out
}

// Among returns a collection that finds only the documents in the sets, one set for each index, with the scores
// that they have in c, which itself has no limit. A nil set contains all documents of its index. The sets must
// not be changed afterwards.
func (c *Collection) Among(sets []Docs) *Collection {
	out := &Collection{options: c.options, parts: slices.Clone(c.parts), windows: c.windows, numbers: c.numbers, documents: c.numbers, average: c.average, among: true}
	permitted := 0
	for i := range out.parts {
		p := &out.parts[i]
		p.limit = newLimit(sets[i], len(p.ix.lengths))
		permitted += p.within().Len()
	}
	out.few = permitted < c.numbers/lookShare
	for i := range out.parts {
		if p := &out.parts[i]; out.few && p.few == nil {
			p.few = slices.Collect(p.within().All())
		}
	}
	out.searchers.New = func() any { return newSearcher(out) }
	return out
}

func newLimit(set Docs, n int) limit {
	if set == nil {
		return limit{}
	}
	l := limit{set: set}
	switch in := set.Len(); {
	case in == n:
		l.set = nil
	case in < n/lookShare:
		l.few = slices.Collect(set.All())
	case n-in < n/lookShare:
		all := AllDocs(n)
		for i, w := range set {
			all[i] &^= w
		}
		l.gone = slices.Collect(all.All())
	}
	return l
}

// within returns the set of the documents within the limit, never nil.
func (p *member) within() Docs {
	if p.set != nil {
		return p.set
	}
	return AllDocs(len(p.ix.lengths))
}

// within combines keep with the limit.
func (c *Collection) within(keep func(part int, doc int32) bool) func(part int, doc int32) bool {
	if c.documents == c.numbers && !c.among {
		return keep
	}
	return func(part int, doc int32) bool {
		set := c.parts[part].set
		return (set == nil || set.Has(doc)) && (keep == nil || keep(part, doc))
	}
}

// df returns the number of documents within the limit that contain a term, given its number in each part.
func (s *searcher) df(ids []int32) (df uint32) {
	for i, id := range ids {
		if id < 0 {
			continue
		}
		switch p := &s.c.parts[i]; {
		case p.set == nil || s.c.among:
			df += p.ix.entries[id].df
		case p.few != nil:
			df += s.count(p, id, p.few)
		case p.gone != nil:
			df += p.ix.entries[id].df - s.count(p, id, p.gone)
		default:
			df += p.ix.countIn(int(id), p.set)
		}
	}
	return df
}

// count returns how many of the given documents contain a term.
func (s *searcher) count(p *member, id int32, docs []int32) (n uint32) {
	s.counts = p.ix.frequencies(int(id), docs, s.counts)
	for _, tf := range s.counts {
		if tf > 0 {
			n++
		}
	}
	return n
}

// countIn returns how many documents of a set contain a term.
func (ix *inverted) countIn(term int, set Docs) (n uint32) {
	e := ix.entries[term]
	if e.blocks == 0 {
		column := ix.columns[int(e.first)*len(ix.lengths):]
		for w, word := range set { // a frequent term: this loop takes most of the time for a new word
			for ; word != 0; word &= word - 1 {
				tf := uint32(column[w<<6+bits.TrailingZeros64(word)])
				n += (tf + largeTF) >> 8 // adds 1 if tf is not 0
			}
		}
	}
	for b := e.first; b < e.first+e.blocks; b++ {
		start, end := ix.span(b)
		words := set[ix.blocks[b].window*(windowSize/64):]
		for _, d := range ix.docs[start:end] {
			if int(d>>6) < len(words) { // the file may be damaged
				n += uint32(words[d>>6] >> (d & 63) & 1)
			}
		}
	}
	return n
}

// sumUp sets few to the scores of the given documents of a part, in ascending order.
func (s *searcher) sumUp(p *member, docs []int32) {
	s.few = append(s.few[:0], make([]float32, len(docs))...)
	for _, q := range s.query {
		if id := q.ids[p.number]; id >= 0 {
			s.counts = p.ix.frequencies(int(id), docs, s.counts)
			for i, tf := range s.counts {
				s.few[i] += q.weight * saturation(float32(tf), s.c.normOf(p, docs[i]))
			}
		}
	}
}

// normOf returns the norm of a document.
func (c *Collection) normOf(p *member, doc int32) float32 {
	if p.norms == nil {
		return p.ix.norms[doc]
	}
	return c.options.norm(p.ix.lengths[doc], c.average)
}

// lookUp searches by scoring each document within a small limit.
func (s *searcher) lookUp() {
	for i := range s.c.parts {
		p := &s.c.parts[i]
		s.sumUp(p, p.few)
		for j, sum := range s.few {
			if sum > 0 {
				s.push(p, p.few[j], float64(sum))
			}
		}
	}
}
