// SPDX-License-Identifier: Apache-2.0

package retrieve

import (
	"context"
	"math"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/passage"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// units are the terms of the units of all pages, by number, in one list.
type units struct {
	terms *text.Vocabulary
	of    []int32 // terms in the order of the text
	ends  []int   // of each unit in of
	first []int   // unit of each page, and one behind the last
	df    []int32 // pages with each term
}

// newUnits reads the pages one after the other, so that the numbers of terms depend on
// nothing else.
func newUnits(ctx context.Context, pages []passage.Page, a text.Analyzer) (*units, error) {
	numbers := text.NewNumbering(a)
	u := &units{terms: numbers.Terms(), first: make([]int, 1, len(pages)+1)}
	var last []int // page that had each term, from 1
	page := 0
	count := func(terms []int32) bool {
		for _, t := range terms {
			if t < 0 {
				continue
			}
			if int(t) == len(last) {
				last, u.df = append(last, 0), append(u.df, 0)
			}
			if last[t] != page {
				last[t] = page
				u.df[t]++
			}
			u.of = append(u.of, t)
		}
		return true
	}
	for i := range pages {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		page = i + 1
		for _, unit := range pages[i].Units {
			numbers.Text(pages[i].Text[unit.Start:unit.End], count)
			u.ends = append(u.ends, len(u.of))
		}
		u.first = append(u.first, len(u.ends))
	}
	return u, nil
}

// in are the terms of a unit.
func (u *units) in(unit int) []int32 { return u.across(unit, unit+1) }

// across are the terms of the units from one to the one before end.
func (u *units) across(from, end int) []int32 {
	if from == end {
		return nil
	}
	start := 0
	if from > 0 {
		start = u.ends[from-1]
	}
	return u.of[start:u.ends[end-1]]
}

// rarity is the idf of a term among the pages.
func (u *units) rarity(t int32) float64 { return idf(float64(u.df[t]), float64(len(u.first)-1)) }

// idf is the weight of a term that n of all have, as in BM25.
func idf(n, all float64) float64 { return math.Log(1 + (all-n+.5)/(n+.5)) }

// maxAsked is how many distinct terms of a question count.
const maxAsked = 255

// ask is what a question looks for: terms, and how often it says them.
type ask struct {
	terms  []int32
	times  []float64
	number []uint8 // of each term of the vocabulary its place in terms, from 1, or 0
}

// add adds the terms of some words.
func (k *ask) add(u *units, a text.Analyzer, words string, times float64) {
	a.Words(words, func(word []byte) bool {
		term, ok := a.Term(string(word))
		if !ok {
			return true
		}
		t := u.terms.Find([]byte(term))
		if t < 0 {
			return true
		}
		if k.number[t] == 0 {
			if len(k.terms) == maxAsked {
				return false
			}
			k.terms, k.times = append(k.terms, int32(t)), append(k.times, 0)
			k.number[t] = uint8(len(k.terms))
		}
		k.times[k.number[t]-1] += times
		return true
	})
}

// query is the ask as a query of weighted terms.
func (k *ask) query(u *units, dst []bm25.Term) []bm25.Term {
	dst = dst[:0]
	for i, t := range k.terms {
		if k.times[i] > 0 {
			dst = append(dst, bm25.Term{Text: string(u.terms.At(int(t))), Weight: k.times[i]})
		}
	}
	return dst
}

// clear makes room for the next question.
func (k *ask) clear() {
	for _, t := range k.terms {
		k.number[t] = 0
	}
	k.terms, k.times = k.terms[:0], k.times[:0]
}
