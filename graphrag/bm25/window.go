// SPDX-License-Identifier: Apache-2.0

package bm25

import (
	"math"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// window searches one window.
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
		if sum >= s.best.Threshold() && (s.keep == nil || s.keep(s.at.number, doc)) {
			s.best.Push(s.at.first+doc, sum)
			if s.tied {
				s.also = append(s.also, rank.Scored[int32]{ID: s.at.first + doc, Score: sum})
			}
		}
	}
	s.raise(&s.best)
	s.wipe()
}

// wipe sets the sums to 0: where the terms of the window are, if that is less work than
// everywhere. Most windows have a few documents with a term of the query.
func (s *searcher) wipe() {
	n := 0
	for _, a := range s.active {
		n += len(a.docs)
		if n > windowSize/32 || a.column != nil {
			clear(s.sums[:])
			return
		}
	}
	for _, a := range s.active {
		for _, d := range a.docs {
			s.sums[d&(windowSize-1)] = 0
		}
	}
}

// activate goes to a window and finds the terms that are in it. It returns the number
// of its first document in its part, and the norms of its documents.
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
	base = w * windowSize
	return base, (*[windowSize]float32)(p.norms[base : base+windowSize])
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
	if s.keep != nil && !s.keep(s.at.number, int32(doc)) {
		s.sums[doc&(windowSize-1)] = dropped
		return s.threshold
	}
	s.partial.Push(s.at.first+int32(doc), float64(sum))
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
			tf = float32(s.at.ix.exact(largeTF, int(a.id), uint32(base)+uint32(d)))
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
			tf = float32(s.at.ix.exact(largeTF, int(a.id), uint32(base+d)))
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
		tf = float32(s.at.ix.exact(largeTF, int(a.id), uint32(base)+uint32(d)))
	}
	s.sums[d] += a.weight * saturation(tf, norms[d])
}
