// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"
	"math/bits"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// AllScores returns the scores as [Index.Scores] does, of all indexes in their order; 0 outside of a limit.
func (c *Collection) AllScores(query string, dst []float64) []float64 {
	return c.scores(c.ask(query), dst)
}

// ScoresOf is [Collection.AllScores] for weighted terms. A repeated term has the sum of its weights.
func (c *Collection) ScoresOf(query []Term, dst []float64) []float64 {
	s := c.searchers.Get().(*searcher)
	s.begin()
	for _, t := range query {
		n, _ := s.numbers.Terms().Add([]byte(t.Text))
		s.addTerm(int32(n), t.Weight)
	}
	s.prepare()
	return c.scores(s, dst)
}

// scores writes the scores of all documents to dst, and releases the searcher.
func (c *Collection) scores(s *searcher, dst []float64) []float64 {
	dst = slices.Grow(dst[:0], c.numbers)[:c.numbers]
	defer s.done()
	s.bound()
	for w := range s.upper {
		base, norms := s.activate(w)
		s.threshold = math.MaxFloat32 // so high that note is never called
		for i := range s.active {
			s.accumulate(&s.active[i], norms, base)
		}
		to := dst[int(s.at.first)+base:]
		for d, sum := range s.sums[:min(windowSize, len(s.at.ix.lengths)-base)] {
			if to[d] = float64(sum); s.at.set != nil && !s.at.set.Has(int32(base+d)) {
				to[d] = 0
			}
		}
		clear(s.sums[:])
	}
	return dst
}

// ask returns a searcher with the terms of a query.
func (c *Collection) ask(query string) *searcher {
	s := c.searchers.Get().(*searcher)
	s.analyze(query)
	return s
}

// done returns the searcher to the pool.
func (s *searcher) done() {
	s.keep, s.tied = nil, false
	s.c.searchers.Put(s)
}

// bound sets the blocks and the upper bound of each window.
func (s *searcher) bound() {
	n := len(s.query)
	clear(s.upper)
	s.blockOf = slices.Grow(s.blockOf[:0], n*len(s.upper))[:n*len(s.upper)]
	clear(s.blockOf)
	for number := range s.c.parts {
		p := s.c.parts[number]
		ix, upper, blockOf := p.ix, s.upper[p.window:], s.blockOf[p.window*n:]
		for i, q := range s.query {
			id := q.ids[number]
			if id < 0 {
				continue
			}
			e := ix.entries[id]
			if e.blocks == 0 {
				for w, m := range ix.maximaOf(e.first) {
					upper[w] += q.weight * p.most(m)
				}
				continue
			}
			for b := e.first; b < e.first+e.blocks; b++ {
				bl := &ix.blocks[b]
				upper[bl.window] += q.weight * p.most(bl.max)
				blockOf[int(bl.window)*n+i] = b + 1
			}
		}
	}
	s.order = s.order[:0]
	for w, upper := range s.upper {
		if p := &s.c.parts[s.c.windows[w]]; upper > 0 && !p.empty(w-p.window) {
			s.order = append(s.order, int32(w))
		}
	}
}

// empty reports whether the limit excludes all documents of a window.
func (p *member) empty(window int) bool {
	if p.set == nil {
		return false
	}
	first := window * windowSize / 64
	return !slices.ContainsFunc(p.set[first:min(first+windowSize/64, len(p.set))], func(w uint64) bool { return w != 0 })
}

// normsOf returns the norms of the documents in a window of a member.
func (c *Collection) normsOf(p *member, window int) *windowNorms {
	if p.norms == nil {
		return (*windowNorms)(p.ix.norms[window*windowSize:][:windowSize])
	}
	at := &p.norms[window]
	n := at.Load()
	if n == nil { // concurrent calls may all compute them, with equal results
		n = new(windowNorms)
		p.ix.windowNorms(n[:], window, c.average)
		at.Store(n)
	}
	return n
}

// window searches the documents of one window.
func (s *searcher) window(w int) {
	base, norms := s.activate(w)
	added, i := 0, 0
	for ; i < len(s.active) && s.active[i].upper >= s.cutoff; i++ {
		s.partial.CopyOf(&s.best)
		added += s.accumulate(&s.active[i], norms, base)
	}
	if i == 0 {
		return
	}
	// Adding a list costs as much as looking up all candidates in it, and leaves fewer candidates.
	for ; i < len(s.active) && s.active[i].column == nil && len(s.active[i].docs) < added; i++ {
		s.partial.CopyOf(&s.best)
		added += s.accumulate(&s.active[i], norms, base)
	}
	s.collect(s.active[:i], norms, added, max(s.cutoff-s.restAfter(i-1), math.SmallestNonzeroFloat32))
	for ; i < len(s.active) && s.candidates.n > 0; i++ {
		s.extend(&s.active[i], base, s.restAfter(i))
	}
	for i, d := range s.candidates.docs[:s.candidates.n] {
		s.push(s.at, int32(base)+int32(d), float64(s.candidates.sums[i]))
	}
	s.raise(&s.best)
}

// restAfter returns the most that the active terms after the i-th can add.
func (s *searcher) restAfter(i int) float32 {
	if i+1 < len(s.active) {
		return s.active[i+1].upper
	}
	return 0
}

// activate makes w the current window and finds the terms in it. It returns the number of its first document in
// the member, and the norms of its documents.
func (s *searcher) activate(w int) (base int, norms *[windowSize]float32) {
	s.at = &s.c.parts[s.c.windows[w]]
	p, ix := s.at, s.at.ix
	blocks := s.blockOf[w*len(s.query):]
	w -= p.window
	s.active = s.active[:0]
	for i, q := range s.query {
		id := q.ids[p.number]
		if id < 0 {
			continue
		}
		e := ix.entries[id]
		a := activeTerm{id: id, weight: q.weight}
		if e.blocks == 0 {
			a.upper = q.weight * p.most(ix.maximaOf(e.first)[w])
			a.column = ix.column(e.first, w)
		} else if b := blocks[i]; b != 0 {
			a.upper = q.weight * p.most(ix.blocks[b-1].max)
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
	return w * windowSize, (*[windowSize]float32)(s.c.normsOf(p, w))
}

// dropped is the sum of a document that keep excludes: adding to it changes nothing.
var dropped = float32(math.Inf(-1))

// windowNorms writes the norms of the documents of a window.
func (ix *inverted) windowNorms(norms []float32, window int, average float64) {
	lengths := ix.lengths[min(window*windowSize, len(ix.lengths)):]
	for d := range norms {
		norms[d] = 1
		if d < len(lengths) {
			norms[d] = ix.options.norm(lengths[d], average)
		}
	}
}

// column returns the part of a column in a window.
func (ix *inverted) column(column uint32, window int) []uint8 {
	n := len(ix.lengths)
	start := window * windowSize
	return ix.columns[int(column)*n+start : int(column)*n+min(start+windowSize, n)]
}

// maximaOf returns the largest saturation of a column in each window.
func (ix *inverted) maximaOf(column uint32) []float32 {
	n := ix.windows()
	return ix.maxima[int(column)*n : (int(column)+1)*n]
}

// raise raises the threshold to the lowest score in t, if that is higher.
func (s *searcher) raise(t *rank.Top[int32]) {
	if threshold := float32(t.Threshold()); threshold > s.threshold {
		s.threshold = threshold
		s.cutoff = s.threshold * (1 - s.slack)
	}
}

// note adds the sum of a document of the current window to partial, which also contains the best of earlier
// windows: sums so far are lower bounds of scores, so they can raise the threshold. It returns the sum, or
// dropped for an excluded document, so that this never raises the threshold.
func (s *searcher) note(doc int, sum float32) float32 {
	if s.keep != nil && !s.keep(s.at.number, int32(doc)) {
		return dropped
	}
	s.partial.Push(s.at.first+int32(doc), float64(sum))
	s.raise(&s.partial)
	return sum
}

// accumulate adds a term to the sums and returns the number of documents it visited.
func (s *searcher) accumulate(a *activeTerm, norms *[windowSize]float32, base int) int {
	if a.column != nil {
		s.addColumn(a, norms, base)
		return windowSize
	}
	s.addList(a, norms, base)
	return len(a.docs)
}

// addList adds a term that has a list to the sums. It calls note for sums above the threshold.
func (s *searcher) addList(a *activeTerm, norms *[windowSize]float32, base int) {
	for at := 0; at < len(a.docs); at += len(s.impacts) {
		end := min(at+len(s.impacts), len(a.docs))
		docs, impacts := a.docs[at:end], s.impacts[:end-at]
		if !fast.impacts(impacts, docs, a.tfs[at:end], norms, a.weight) {
			s.large(impacts, docs, a, at, norms, base)
		}
		notable := s.threshold
		for i, d := range docs {
			d &= windowSize - 1
			sum := s.sums[d] + impacts[i]
			if sum > notable {
				sum = s.note(base+int(d), sum)
				notable = s.threshold
			}
			s.sums[d] = sum
		}
	}
}

// large sets the impacts of postings whose frequency is stored separately.
func (s *searcher) large(impacts []float32, docs []uint16, a *activeTerm, at int, norms *[windowSize]float32, base int) {
	for i, small := range a.tfs[at : at+len(docs)] {
		if d := docs[i] & (windowSize - 1); small == largeTF {
			impacts[i] = a.weight * saturation(s.frequency(a, small, d, base), norms[d])
		}
	}
}

// frequency returns the term frequency for its byte, which may be largeTF.
func (s *searcher) frequency(a *activeTerm, small uint8, d uint16, base int) float32 {
	if small == largeTF {
		return float32(s.at.ix.exact(largeTF, int(a.id), uint32(base)+uint32(d)))
	}
	return float32(small)
}

// addColumn adds a term that has a column to the sums.
func (s *searcher) addColumn(a *activeTerm, norms *[windowSize]float32, base int) {
	if s.at.set != nil {
		s.addSome(a, norms, base)
		return
	}
	for d, small := range a.column {
		if d &= windowSize - 1; small != 0 {
			sum := s.sums[d] + a.weight*saturation(s.frequency(a, small, uint16(d), base), norms[d])
			if sum > s.threshold {
				sum = s.note(base+d, sum)
			}
			s.sums[d] = sum
		}
	}
}

// addSome is addColumn for the documents within the limit, since no other can be found.
func (s *searcher) addSome(a *activeTerm, norms *[windowSize]float32, base int) {
	words := s.at.set[base/64:]
	for w, word := range words[:min(windowSize/64, len(words))] {
		for ; word != 0; word &= word - 1 {
			d := w<<6 + bits.TrailingZeros64(word)
			small := a.column[d]
			if small == 0 {
				continue
			}
			sum := s.sums[d] + a.weight*saturation(s.frequency(a, small, uint16(d), base), norms[d])
			if sum > s.threshold {
				sum = s.note(base+d, sum)
			}
			s.sums[d] = sum
		}
	}
}

// collect makes candidates of the documents whose sum is at least minimum, and sets all sums to 0.
func (s *searcher) collect(lists []activeTerm, norms *[windowSize]float32, added int, minimum float32) {
	c := &s.candidates
	if fast.everywhere || 2*added >= windowSize {
		fast.collect(c, &s.sums, norms, minimum)
		return
	}
	c.n = 0
	for _, a := range lists {
		for _, d := range a.docs {
			d &= windowSize - 1
			if sum := s.sums[d]; sum >= minimum {
				c.add(d, sum, norms[d])
			}
			s.sums[d] = 0
		}
	}
}

// extend adds a term to the sums of the candidates and keeps those that can still be among the best if later
// terms add at most rest.
func (s *searcher) extend(a *activeTerm, base int, rest float32) {
	c := &s.candidates
	if a.column != nil {
		s.refine(a, a.column, base, rest)
	} else { // copies the list into a column
		for i, d := range a.docs {
			s.column[d&(windowSize-1)] = a.tfs[i]
		}
		s.refine(a, s.column[:], base, rest)
		for _, d := range a.docs {
			s.column[d&(windowSize-1)] = 0
		}
	}
	s.partial.CopyOf(&s.best)
	for i, sum := range c.sums[:c.n] {
		if sum > s.threshold {
			c.sums[i] = s.note(base+int(c.docs[i]), sum)
		}
	}
}

// refine adds the term frequencies of a column to the candidates.
func (s *searcher) refine(a *activeTerm, column []uint8, base int, rest float32) {
	c, r := &s.candidates, refinement{a.weight, rest, s.cutoff}
	read, kept := 0, 0
	for read < c.n {
		read, kept = fast.refine(c, read, kept, column, r)
		for end := min(read+lanes, c.n); read < end; read++ {
			small := uint8(0)
			if d := c.docs[read]; int(d) < len(column) {
				small = column[d]
			}
			kept = c.refine(read, kept, s.frequency(a, small, c.docs[read], base), r)
		}
	}
	c.n = kept
}
