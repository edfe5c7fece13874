// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"cmp"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Search returns the k best documents for the terms of the query, best first,
// equal scores by position. Repeated terms count repeatedly. Only documents
// with at least one of the terms are returned, so there may be fewer than k,
// or none. The results are written over dst, from its beginning, and allocated
// only as far as its capacity is short; nothing else is allocated for words
// the index has been asked before.
func (ix *Index) Search(query string, k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	return ix.SearchWhere(query, k, nil, dst)
}

// SearchWhere is [Index.Search] among the documents that keep wants; nil wants all.
// The statistics in the scores are those of all documents. Keep must say the same of
// a document each time it is asked; it is asked of those alone whose score may be
// among the k best.
func (ix *Index) SearchWhere(query string, k int, keep func(doc int32) bool, dst []rank.Scored[int32]) []rank.Scored[int32] {
	s := ix.searchers.Get().(*searcher)
	s.analyze(query)
	s.keep = keep
	dst = s.search(k, dst[:0])
	s.keep = nil
	ix.searchers.Put(s) // unless keep panics
	return dst
}

// Whole is the score of a text of average length that has every indexed term of
// the query once: what other scores are measured against.
func (ix *Index) Whole(query string) float64 {
	s := ix.searchers.Get().(*searcher)
	defer ix.searchers.Put(s)
	s.analyze(query)
	sum := 0.0
	for _, q := range s.query {
		sum += q.times * ix.idf(ix.entries[q.id].df)
	}
	return sum
}

// Scores writes the scores of all documents over dst, by position: 0 for those
// without a term of the query, and for the others, to the bit, what [Index.Search]
// has.
func (ix *Index) Scores(query string, dst []float64) []float64 {
	dst = slices.Grow(dst[:0], len(ix.lengths))[:len(ix.lengths)]
	s := ix.searchers.Get().(*searcher)
	defer ix.searchers.Put(s)
	s.analyze(query)
	s.bound()
	for w := range s.order {
		s.activate(w)
		base := w * windowSize
		norms := (*[windowSize]float32)(ix.norms[base : base+windowSize])
		s.threshold = math.MaxFloat32 // no sum is noted
		for i := range s.active {
			s.accumulate(&s.active[i], norms, base)
		}
		for d, sum := range s.sums[:min(windowSize, len(dst)-base)] {
			dst[base+d] = float64(sum)
		}
		clear(s.sums[:])
	}
	return dst
}

// searcher is the memory of one search.
//
// Terms are scored one after the other, in the order of their largest possible
// contribution, over one window of documents at a time. Of the rest of the terms
// an upper bound is known. Once it is below the threshold, the k-th best sum so
// far, no document can enter that has not been met yet, and only those that still
// can are candidates and looked up in the rest (MaxScore: Turtle and Flood, "Query
// evaluation: strategies and optimizations", 1995). The bounds hold per window
// (block-max: Ding and Suel, "Faster top-k document retrieval using block-max
// indexes", SIGIR 2011), and the windows with the largest are searched first.
//
// A document's score is always the sum of its terms in the same order, so it
// does not depend on what was skipped.
type searcher struct {
	ix      *Index
	numbers *text.Numbering
	query   []queryTerm
	add     func(word []byte) bool // addWord, bound once

	sums       [windowSize]float32
	candidates []uint16
	active     []activeTerm
	keep       func(doc int32) bool // what may be found; nil: all
	blockOf    []uint32             // for each window and listed term of the query, its block plus 1
	upper      []float32            // upper bound of the scores of each window
	order      []int32              // windows, by upper bound

	best    rank.Top[int32] // of the windows searched
	partial rank.Top[int32] // best, and the sums of one term's documents in this window

	threshold float32 // a sum that k documents are known to reach
	cutoff    float32 // threshold, with an allowance for rounding: what cannot reach it is out
	slack     float32
}

// queryTerm is a term of the query.
type queryTerm struct {
	id     int32
	times  float64 // how often the query has it
	weight float32 // of a saturation
}

// activeTerm is a term of the query in one window.
type activeTerm struct {
	id     int32
	weight float32
	upper  float32 // the most that this term and those after it can add
	column []uint8 // frequencies of all documents, or else:
	docs   []uint16
	tfs    []uint8
}

// maxWords is how many words a searcher remembers between queries.
const maxWords = 1 << 12

func newSearcher(ix *Index) *searcher {
	windows := ix.windows()
	s := &searcher{ix: ix, numbers: text.NewLookup(ix.options.Analyzer, ix.terms), upper: make([]float32, windows), order: make([]int32, windows)}
	s.add = s.addWord
	return s
}

// analyze sets the terms of a query that are indexed, those first that can add
// most.
func (s *searcher) analyze(query string) {
	s.query = s.query[:0]
	s.numbers.Trim(maxWords)
	s.ix.options.Analyzer.Words(query, s.add)
	s.prepare()
}

func (s *searcher) addWord(word []byte) bool {
	if id := s.numbers.Number(word); id >= 0 {
		s.query = append(s.query, queryTerm{id: id, times: 1})
	}
	return true
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
		q.weight = float32(q.times * s.ix.weight(int(q.id)))
	}
	slices.SortFunc(s.query, func(a, b queryTerm) int {
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(a.id, b.id))
	})
}

func (s *searcher) search(k int, dst []rank.Scored[int32]) []rank.Scored[int32] {
	if k = min(k, len(s.ix.lengths)); k <= 0 || len(s.query) == 0 {
		return dst
	}
	s.best.Reset(k)
	// A sum of n floats is off by less than n half units of the last place, and
	// so is each bound it is held against.
	s.slack = min(float32(len(s.query)+8)*0x1p-22, 1)
	s.threshold, s.cutoff = 0, 0
	s.bound()
	for _, w := range s.order {
		if s.upper[w] == 0 || s.upper[w] < s.cutoff {
			break
		}
		s.window(int(w))
	}
	return s.best.Append(dst)
}

// bound finds the blocks of each window and orders the windows by their upper
// bounds.
func (s *searcher) bound() {
	ix, n := s.ix, len(s.query)
	clear(s.upper)
	s.blockOf = slices.Grow(s.blockOf[:0], n*len(s.upper))[:n*len(s.upper)]
	clear(s.blockOf)
	for i, q := range s.query {
		e := ix.entries[q.id]
		if e.blocks == 0 {
			at := int(e.first) * len(s.upper)
			for w, m := range ix.maxima[at : at+len(s.upper)] {
				s.upper[w] += q.weight * m
			}
			continue
		}
		for b := e.first; b < e.first+e.blocks; b++ {
			bl := &ix.blocks[b]
			s.upper[bl.window] += q.weight * bl.max
			s.blockOf[int(bl.window)*n+i] = b + 1
		}
	}
	for w := range s.order {
		s.order[w] = int32(w)
	}
	slices.SortFunc(s.order, func(a, b int32) int {
		return cmp.Or(cmp.Compare(s.upper[b], s.upper[a]), cmp.Compare(a, b))
	})
}

// window searches one window.
func (s *searcher) window(w int) {
	s.activate(w)
	base := w * windowSize
	norms := (*[windowSize]float32)(s.ix.norms[base : base+windowSize])
	added, i := 0, 0
	for ; i < len(s.active) && s.active[i].upper >= s.cutoff; i++ {
		s.partial.CopyOf(&s.best)
		added += s.accumulate(&s.active[i], norms, base)
	}
	if i == 0 {
		return
	}
	rest := float32(0)
	if i < len(s.active) {
		rest = s.active[i].upper
	}
	s.collect(s.active[:i], added, max(s.cutoff-rest, math.SmallestNonzeroFloat32))
	for ; i < len(s.active) && len(s.candidates) > 0; i++ {
		rest = 0
		if i+1 < len(s.active) {
			rest = s.active[i+1].upper
		}
		s.extend(&s.active[i], norms, base, rest)
	}
	for _, d := range s.candidates {
		sum, doc := float64(s.sums[d]), int32(base)+int32(d)
		if s.keep == nil || sum >= s.best.Threshold() && s.keep(doc) {
			s.best.Push(doc, sum)
		}
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
			a.upper = q.weight * ix.maxima[int(e.first)*len(s.upper)+w]
			a.column = ix.column(e.first, w)
		} else if b := blocks[i]; b != 0 {
			a.upper = q.weight * ix.blocks[b-1].max
			start, end := ix.span(b - 1)
			a.docs, a.tfs = ix.docs[start:end], ix.tfs[start:end]
		}
		if a.upper > 0 {
			s.active = append(s.active, a)
		}
	}
	for i := len(s.active) - 2; i >= 0; i-- {
		s.active[i].upper += s.active[i+1].upper
	}
}

// dropped is the sum of a document that may not be found.
var dropped = float32(math.Inf(-1))

// raise raises the threshold to that of t.
func (s *searcher) raise(t *rank.Top[int32]) {
	if threshold := float32(t.Threshold()); threshold > s.threshold {
		s.threshold = threshold
		s.cutoff = s.threshold * (1 - s.slack)
	}
}

// note takes the sum of another document of this window into partial: with the
// best of the windows before, sums are lower bounds of scores. It returns the
// threshold. A document that may not be found must not raise it: its sum is dropped,
// and stays below every other whatever is added.
func (s *searcher) note(doc int, sum float32) float32 {
	if s.keep != nil && !s.keep(int32(doc)) {
		s.sums[doc&(windowSize-1)] = dropped
		return s.threshold
	}
	s.partial.Push(int32(doc), float64(sum))
	s.raise(&s.partial)
	return s.threshold
}

// accumulate adds a term to the sums and returns how many documents it went over.
func (s *searcher) accumulate(a *activeTerm, norms *[windowSize]float32, base int) int {
	if a.column != nil {
		s.addColumn(a, norms, base)
		return windowSize
	}
	s.addList(a, norms, base, s.threshold)
	return len(a.docs)
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
			notable = s.note(base+int(d), sum)
		}
	}
}

// addColumn adds a term with a column to the sums.
func (s *searcher) addColumn(a *activeTerm, norms *[windowSize]float32, base int) {
	weight, notable := a.weight, s.threshold
	for d, small := range a.column {
		d &= windowSize - 1
		tf := float32(small)
		if small == largeTF {
			tf = float32(s.ix.exact(largeTF, int(a.id), uint32(base+d)))
		}
		sum := s.sums[d] + weight*saturation(tf, norms[d])
		s.sums[d] = sum
		if small != 0 && sum > notable {
			notable = s.note(base+d, sum)
		}
	}
}

// collect makes candidates of the documents whose sum is at least the given.
func (s *searcher) collect(lists []activeTerm, added int, minimum float32) {
	s.candidates = s.candidates[:0]
	if 2*added >= windowSize {
		for d, sum := range &s.sums {
			if sum >= minimum {
				s.candidates = append(s.candidates, uint16(d))
			}
		}
		return
	}
	for _, a := range lists {
		for _, d := range a.docs {
			if d &= windowSize - 1; s.sums[d] >= minimum {
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
// still candidates, given what the rest can add.
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
	s.partial.CopyOf(&s.best)
	kept, notable := s.candidates[:0], s.threshold
	for _, d := range s.candidates {
		sum := s.sums[d&(windowSize-1)]
		if sum > notable {
			notable = s.note(base+int(d), sum)
			sum = s.sums[d&(windowSize-1)]
		}
		if sum+rest >= s.cutoff {
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
