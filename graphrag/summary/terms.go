// SPDX-License-Identifier: Apache-2.0

package summary

import (
	"context"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// glossary numbers terms, under a memo for all who read.
type glossary struct {
	mu    sync.Mutex
	terms *text.Vocabulary
}

func newGlossary() *glossary { return &glossary{terms: text.NewVocabulary()} }

func (g *glossary) number(term string) int32 {
	g.mu.Lock()
	defer g.mu.Unlock()
	n, _ := g.terms.Add([]byte(term))
	return int32(n)
}

// glossaryKey is the key of the glossary of readings that are shared.
type glossaryKey struct{ analyzer string }

// shared is the glossary of the memo, nil if there is none: then no readings are shared, and
// each reader has its own.
func (x *extractive) shared(ctx context.Context) (*glossary, error) {
	if !memo.Under(ctx) {
		return nil, nil
	}
	return memo.Of(ctx, glossaryKey{x.o.Analyzer.Name()}, func() (*glossary, error) { return newGlossary(), nil })
}

// reader reads texts, one after the other. It remembers words and keeps its memory.
type reader struct {
	analyzer text.Analyzer
	shared   *glossary // nil if the glossary is the reader's own
	glossary *glossary
	words    *text.Vocabulary
	number   []int32   // of the term of each word, -1 for none
	counts   []counted // of the sentence
	place    []int32   // of a term among the counts, from 1; 0 between sentences
	local    []int32   // of a term among those of a summary, from 1; 0 between summaries
	numbered []int32   // the terms that have one

	said        []said     // of a text
	terms       []counted  // of its sentences
	prose, rest []sentence // of a summary
	weights     []weighted // of their terms
}

// counted is how often a term is in a sentence.
type counted struct{ term, times int32 }

// rememberedWords is how many words a reader remembers.
const rememberedWords = 1 << 17

// begin begins a summary, under a glossary that is shared or, for nil, the reader's own.
func (r *reader) begin(shared *glossary) {
	clear(r.prose) // they hold texts
	clear(r.rest)
	r.prose, r.rest, r.weights = r.prose[:0], r.rest[:0], r.weights[:0]
	if r.words != nil && r.shared == shared && r.words.Len() <= rememberedWords {
		return
	}
	r.shared, r.glossary = shared, shared
	if shared == nil {
		r.glossary = newGlossary()
	}
	r.words, r.number = text.NewVocabulary(), r.number[:0]
}

func (r *reader) term(word []byte) int32 {
	n, added := r.words.Add(word)
	if added {
		t := int32(-1)
		if term, ok := r.analyzer.Term(string(word)); ok {
			t = r.glossary.number(term)
		}
		r.number = append(r.number, t)
	}
	return r.number[n]
}

// count counts the words of a sentence, and its terms, in the order of their first
// appearance, until the next sentence.
func (r *reader) count(s string) (words int) {
	for _, c := range r.counts {
		r.place[c.term] = 0
	}
	r.counts = r.counts[:0]
	r.analyzer.Words(s, func(word []byte) bool {
		words++
		t := r.term(word)
		if t < 0 {
			return true
		}
		if int(t) >= len(r.place) {
			r.place = append(r.place, make([]int32, int(t)+1-len(r.place))...)
		}
		if r.place[t] == 0 {
			r.counts = append(r.counts, counted{term: t})
			r.place[t] = int32(len(r.counts))
		}
		r.counts[r.place[t]-1].times++
		return true
	})
	return words
}

// places are the terms of a sentence by their places among those of the summary, in the
// order in which these come up, until the next summary.
func (r *reader) places(of []counted) []weighted {
	start := len(r.weights)
	for _, c := range of {
		if int(c.term) >= len(r.local) {
			r.local = append(r.local, make([]int32, int(c.term)+1-len(r.local))...)
		}
		if r.local[c.term] == 0 {
			r.numbered = append(r.numbered, c.term)
			r.local[c.term] = int32(len(r.numbered))
		}
		r.weights = append(r.weights, weighted{r.local[c.term] - 1, float64(c.times)})
	}
	return r.weights[start:len(r.weights):len(r.weights)]
}

// end ends a summary, and returns how many terms it had.
func (r *reader) end() int {
	n := len(r.numbered)
	for _, t := range r.numbered {
		r.local[t] = 0
	}
	r.numbered = r.numbered[:0]
	return n
}
