// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Term is an indexed term, as the analyzer makes them, with the factor its
// score is multiplied with.
type Term struct {
	Text   string
	Weight float32
}

// Search returns the k best documents for the terms of the query, best first,
// equal scores by position. Repeated terms count repeatedly. Only documents
// with at least one of the terms are returned, so there may be fewer than k,
// or none. The results are written over dst, from its beginning, and allocated
// only as far as its capacity is short; nothing else is allocated for words
// the index has been asked before.
func (ix *Index) Search(query string, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s := ix.searchers.Get().(*searcher)
	defer ix.searchers.Put(s)
	s.query = s.query[:0]
	ix.options.Analyzer.Words(query, s.add)
	return s.search(k, dst[:0])
}

// SearchTerms is [Index.Search] for terms that have weights of their own.
// Weights of the same term add up. Terms that are not indexed, and weights that
// are not positive and finite, are left out.
func (ix *Index) SearchTerms(terms []Term, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s := ix.searchers.Get().(*searcher)
	defer ix.searchers.Put(s)
	s.query = s.query[:0]
	for _, t := range terms {
		if id, ok := ix.terms.find([]byte(t.Text)); ok && t.Weight > 0 && t.Weight <= math.MaxFloat32 {
			s.addTerm(int32(id), float64(t.Weight))
		}
	}
	return s.search(k, dst[:0])
}

// searcher is the memory of one search.
//
// Terms are scored one after the other, in the order of their largest possible
// contribution, over one window of documents at a time. Of the rest of the
// terms it is known what they can add at most. Once that is less than the
// k-th best sum so far, no document can enter that has not been met yet, and
// only those that are still within reach are looked up in the rest (MaxScore:
// Turtle and Flood, "Query evaluation: strategies and optimizations", 1995).
// The bounds hold per window (block-max: Ding and Suel, "Faster top-k document
// retrieval using block-max indexes", SIGIR 2011), and the windows that
// promise most are searched first.
//
// A document's score is always the sum of its terms in the same order, so it
// does not depend on what was skipped.
type searcher struct {
	ix    *Index
	words map[string]int32 // terms of words asked before, -1 for none
	query []queryTerm
	add   func(word []byte) // addWord, bound once

	sums       [windowSize]float32
	candidates []uint16
	active     []activeTerm
	blockOf    []uint32  // for each window and listed term of the query, its block plus 1
	promise    []float32 // of each window: what its best document can have at most
	order      []int32   // windows, by promise

	best    rank.Top[int32] // of the windows searched
	partial rank.Top[int32] // best, and the sums of one term's documents in this window
	least   float32         // a sum that k documents are known to reach
	reach   float32         // least, with an allowance for rounding
	slack   float32
}

// queryTerm is a term of the query.
type queryTerm struct {
	id     int32
	times  float64 // multiplicity or weight in the query
	weight float32 // of a saturation
}

// activeTerm is a term of the query in one window.
type activeTerm struct {
	id     int32
	weight float32
	rest   float32 // the most that this term and those after it can add
	column []uint8 // frequencies of all documents, or else:
	docs   []uint16
	tfs    []uint8
}

// Bounds of a searcher's memory for the words it was asked.
const (
	maxWords     = 1 << 12
	maxWordBytes = 1 << 6
)

func newSearcher(ix *Index) *searcher {
	s := &searcher{ix: ix, words: map[string]int32{}}
	s.add = s.addWord
	windows := ix.windows()
	s.promise, s.order = make([]float32, windows), make([]int32, windows)
	return s
}

// addWord adds a word of a query.
func (s *searcher) addWord(word []byte) {
	id, known := s.words[string(word)]
	if !known {
		id = -1
		w := string(word)
		if term, ok := s.ix.options.Analyzer.Term(w); ok {
			if t, ok := s.ix.terms.find([]byte(term)); ok {
				id = int32(t)
			}
		}
		if len(s.words) == maxWords {
			clear(s.words)
		}
		if len(w) <= maxWordBytes {
			s.words[w] = id
		}
	}
	if id >= 0 {
		s.addTerm(id, 1)
	}
}

func (s *searcher) addTerm(id int32, times float64) {
	s.query = append(s.query, queryTerm{id: id, times: times})
}

// prepare merges repeated terms, and puts those first that can add most.
func (s *searcher) prepare() {
	slices.SortFunc(s.query, func(a, b queryTerm) int { return cmp.Compare(a.id, b.id) })
	kept := s.query[:0]
	for _, q := range s.query {
		if last := len(kept) - 1; last >= 0 && kept[last].id == q.id {
			kept[last].times += q.times
		} else {
			kept = append(kept, q)
		}
	}
	s.query = kept
	for i := range s.query {
		q := &s.query[i]
		q.weight = float32(min(q.times*s.ix.weight(int(q.id)), maxWeight))
	}
	slices.SortFunc(s.query, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.id, b.id))
	})
}

// maxWeight keeps sums finite.
const maxWeight = math.MaxFloat32 / (1 << 32)

func (s *searcher) search(k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	if k = min(k, len(s.ix.lengths)); k <= 0 || len(s.query) == 0 {
		return dst
	}
	s.prepare()
	s.best.Reset(k)
	// A sum of n floats is off by less than n half units of the last place, and
	// so is each bound it is held against.
	s.slack = min(float32(len(s.query)+8)*0x1p-22, 1)
	s.least, s.reach = 0, 0
	s.rank()
	for _, w := range s.order {
		if s.promise[w] == 0 || s.promise[w] < s.reach {
			break
		}
		s.window(int(w))
	}
	return s.best.Append(dst)
}

// rank finds the blocks of each window and orders the windows by promise.
func (s *searcher) rank() {
	ix, n := s.ix, len(s.query)
	clear(s.promise)
	s.blockOf = slices.Grow(s.blockOf[:0], n*len(s.promise))[:n*len(s.promise)]
	clear(s.blockOf)
	for i, q := range s.query {
		e := ix.entries[q.id]
		if e.blocks == 0 {
			at := int(e.first) * len(s.promise)
			for w, m := range ix.maxima[at : at+len(s.promise)] {
				s.promise[w] += q.weight * m
			}
			continue
		}
		for b := e.first; b < e.first+e.blocks; b++ {
			bl := &ix.blocks[b]
			s.promise[bl.window] += q.weight * bl.max
			s.blockOf[int(bl.window)*n+i] = b + 1
		}
	}
	for w := range s.order {
		s.order[w] = int32(w)
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.promise[b], s.promise[a]), cmp.Compare(a, b))
	})
}

// window searches one window.
func (s *searcher) window(w int) {
	s.activate(w)
	base := w * windowSize
	norms := (*[windowSize]float32)(s.ix.norms[base : base+windowSize])
	added, i := 0, 0
	for ; i < len(s.active) && s.active[i].rest >= s.reach; i++ {
		a := &s.active[i]
		s.partialReset()
		if a.column != nil {
			s.addColumn(a, norms, base)
			added += windowSize
		} else {
			s.addList(a, norms, base, s.least)
			added += len(a.docs)
		}
	}
	if i == 0 {
		return
	}
	rest := float32(0)
	if i < len(s.active) {
		rest = s.active[i].rest
	}
	s.collect(s.active[:i], added, max(s.reach-rest, math.SmallestNonzeroFloat32))
	for ; i < len(s.active) && len(s.candidates) > 0; i++ {
		rest = 0
		if i+1 < len(s.active) {
			rest = s.active[i+1].rest
		}
		s.extend(&s.active[i], norms, base, rest)
	}
	for _, d := range s.candidates {
		s.best.Push(int32(base)+int32(d), float64(s.sums[d]))
	}
	s.raise(&s.best)
	clear(s.sums[:])
}

// activate finds the terms that are in the window.
func (s *searcher) activate(w int) {
	ix := s.ix
	s.active = s.active[:0]
	blocks := s.blockOf[w*len(s.query):]
	for i, q := range s.query {
		e := ix.entries[q.id]
		a := activeTerm{id: q.id, weight: q.weight}
		if e.blocks == 0 {
			a.rest = q.weight * ix.maxima[int(e.first)*len(s.promise)+w]
			a.column = ix.column(e.first, w)
		} else if b := blocks[i]; b != 0 {
			a.rest = q.weight * ix.blocks[b-1].max
			start, end := ix.span(b - 1)
			a.docs, a.tfs = ix.docs[start:end], ix.tfs[start:end]
		}
		if a.rest > 0 {
			s.active = append(s.active, a)
		}
	}
	for i := len(s.active) - 2; i >= 0; i-- {
		s.active[i].rest += s.active[i+1].rest
	}
}

// raise sets the sum that k documents are known to reach.
func (s *searcher) raise(t *rank.Top[int32]) {
	if least := float32(t.Threshold()); least > s.least {
		s.least = least
		s.reach = s.least * (1 - s.slack)
	}
}

// partialReset begins a round over distinct documents of this window, whose
// sums are bounds together with the best of the windows before.
func (s *searcher) partialReset() {
	s.partial.CopyOf(&s.best)
}

// met notes a sum of this round and returns the least to note from then on.
func (s *searcher) met(doc int, sum float32) float32 {
	s.partial.Push(int32(doc), float64(sum))
	s.raise(&s.partial)
	return s.least
}

// addList adds a listed term to the sums. Sums above notable are noted.
func (s *searcher) addList(a *activeTerm, norms *[windowSize]float32, base int, notable float32) {
	weight := a.weight
	docs := a.docs
	tfs := a.tfs[:len(docs)]
	for i, d := range docs {
		d &= windowSize - 1
		tf := float32(tfs[i])
		if tfs[i] == largeTF {
			tf = float32(s.ix.exact(largeTF, int(a.id), uint32(base)+uint32(d)))
		}
		sum := s.sums[d] + weight*saturation(tf, norms[d])
		s.sums[d] = sum
		if sum > notable {
			notable = s.met(base+int(d), sum)
		}
	}
}

// addColumn adds a term with a column to the sums.
func (s *searcher) addColumn(a *activeTerm, norms *[windowSize]float32, base int) {
	weight, notable := a.weight, s.least
	for d, small := range a.column {
		d &= windowSize - 1
		tf := float32(small)
		if small == largeTF {
			tf = float32(s.ix.exact(largeTF, int(a.id), uint32(base+d)))
		}
		sum := s.sums[d] + weight*saturation(tf, norms[d])
		s.sums[d] = sum
		if small != 0 && sum > notable {
			notable = s.met(base+d, sum)
		}
	}
}

// collect makes candidates of the documents whose sum is at least the given.
func (s *searcher) collect(lists []activeTerm, added int, least float32) {
	s.candidates = s.candidates[:0]
	if 2*added >= windowSize {
		for d, sum := range &s.sums {
			if sum >= least {
				s.candidates = append(s.candidates, uint16(d))
			}
		}
		return
	}
	for _, a := range lists {
		for _, d := range a.docs {
			if d &= windowSize - 1; s.sums[d] >= least {
				s.candidates = append(s.candidates, d)
				s.sums[d] = -s.sums[d] // not again
			}
		}
	}
	for _, d := range s.candidates {
		s.sums[d] = -s.sums[d]
	}
}

// extend adds a term to the sums of the candidates and keeps those that are
// still within reach of the rest.
func (s *searcher) extend(a *activeTerm, norms *[windowSize]float32, base int, rest float32) {
	switch {
	case a.column != nil:
		for _, d := range s.candidates {
			s.addOne(a, a.column[d], d, norms, base)
		}
	case len(a.docs) < 8*len(s.candidates):
		s.addList(a, norms, base, math.MaxFloat32)
	default:
		for _, d := range s.candidates {
			if i := search16(a.docs, d); i >= 0 {
				s.addOne(a, a.tfs[i], d, norms, base)
			}
		}
	}
	s.partialReset()
	kept, notable := s.candidates[:0], s.least
	for _, d := range s.candidates {
		sum := s.sums[d&(windowSize-1)]
		if sum > notable {
			notable = s.met(base+int(d), sum)
		}
		if sum+rest >= s.reach {
			kept = append(kept, d)
		}
	}
	s.candidates = kept
}

func (s *searcher) addOne(a *activeTerm, small uint8, d uint16, norms *[windowSize]float32, base int) {
	d &= windowSize - 1
	tf := float32(small)
	if small == largeTF {
		tf = float32(s.ix.exact(largeTF, int(a.id), uint32(base)+uint32(d)))
	}
	s.sums[d] += a.weight * saturation(tf, norms[d])
}
