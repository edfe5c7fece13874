// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// counter counts the terms of texts, one text after the other. It numbers
// terms as they come and remembers the term of each word, so that a word is
// stemmed once.
type counter struct {
	analyzer *text.Analyzer
	words    map[string]int32 // word to number, or stopWord
	numbers  map[string]int32 // term to number
	terms    []string         // number to term
	counts   []int32          // by number, all 0 between texts
	touched  []int32          // numbers that occur in the text
}

const stopWord = -1

func newCounter(a *text.Analyzer) *counter {
	return &counter{analyzer: a, words: map[string]int32{}, numbers: map[string]int32{}}
}

// number returns the number of a word's term, or stopWord.
func (c *counter) number(word []byte) int32 {
	if n, known := c.words[string(word)]; known {
		return n
	}
	n := int32(stopWord)
	if term, ok := c.analyzer.Term(string(word)); ok {
		if n, ok = c.numbers[term]; !ok {
			n = int32(len(c.terms))
			c.numbers[term] = n
			c.terms = append(c.terms, term)
			c.counts = append(c.counts, 0)
		}
	}
	c.words[string(word)] = n
	return n
}

// count calls yield for every distinct term of s, in the order in which they
// occur first.
func (c *counter) count(s string, yield func(number, count int32)) {
	c.touched = c.touched[:0]
	c.analyzer.Words(s, func(word []byte) {
		n := c.number(word)
		if n == stopWord {
			return
		}
		if c.counts[n] == 0 {
			c.touched = append(c.touched, n)
		}
		c.counts[n]++
	})
	for _, n := range c.touched {
		yield(n, c.counts[n])
		c.counts[n] = 0
	}
}

// maxCounted is the number of words a counter may remember between texts.
const maxCounted = 1 << 17

// trim forgets everything if there is too much of it.
func (c *counter) trim() {
	if len(c.words) > maxCounted {
		clear(c.words)
		clear(c.numbers)
		c.terms, c.counts = c.terms[:0], c.counts[:0]
	}
}

// bag is a counted text: its terms, by their numbers in a vocabulary, in
// ascending order.
type bag []entry

type entry struct {
	term  int32
	count int32
}

func (b bag) sort() {
	slices.SortFunc(b, func(x, y entry) int { return cmp.Compare(x.term, y.term) })
}

// vocabulary numbers the terms of a corpus, the most frequent first, and
// knows in how many texts each occurs.
type vocabulary struct {
	terms   []string
	df      []int32
	texts   int
	numbers map[string]int32
}

func newVocabulary(terms []string, df []int32, texts int) *vocabulary {
	v := &vocabulary{terms: terms, df: df, texts: texts, numbers: make(map[string]int32, len(terms))}
	for i, term := range terms {
		v.numbers[term] = int32(i)
	}
	return v
}

// rootIDF returns the square root of each term's idf.
func (v *vocabulary) rootIDF() []float64 {
	roots := make([]float64, len(v.df))
	for i, df := range v.df {
		roots[i] = math.Sqrt(idf(int(df), v.texts))
	}
	return roots
}

// count returns the terms of s that the vocabulary has.
func (v *vocabulary) count(c *counter, s string) bag {
	var b bag
	c.count(s, func(n, count int32) {
		if term, ok := v.numbers[c.terms[n]]; ok {
			b = append(b, entry{term, count})
		}
	})
	b.sort()
	c.trim()
	return b
}

// readCorpus counts all texts and builds their vocabulary of at most maxTerms
// terms that occur in minDF texts or more: the most frequent, equal ones in
// the order of the alphabet. Nothing in the result depends on the number of
// workers.
func readCorpus(ctx context.Context, a *text.Analyzer, texts []string, maxTerms, minDF, workers int) (*vocabulary, []bag, error) {
	if workers == 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	workers = max(1, min(workers, len(texts)))
	bags := make([]bag, len(texts))
	counters := make([]*counter, workers)
	frequency := make([][]int32, workers) // of the counter's terms in its texts
	var wg sync.WaitGroup
	for w := range workers {
		counters[w] = newCounter(a)
		wg.Go(func() {
			c := counters[w]
			for i := w; i < len(texts) && ctx.Err() == nil; i += workers {
				c.count(texts[i], func(n, count int32) {
					bags[i] = append(bags[i], entry{n, count})
				})
				frequency[w] = append(frequency[w], make([]int32, len(c.terms)-len(frequency[w]))...)
				for _, e := range bags[i] {
					frequency[w][e.term]++
				}
			}
		})
	}
	wg.Wait()
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	v := mergeVocabularies(counters, frequency, len(texts), maxTerms, minDF)
	for w, c := range counters {
		renumber := make([]int32, len(c.terms))
		for n, term := range c.terms {
			renumber[n] = -1
			if number, ok := v.numbers[term]; ok {
				renumber[n] = number
			}
		}
		for i := w; i < len(texts); i += workers {
			bags[i] = bags[i].renumber(renumber)
		}
	}
	return v, bags, nil
}

// renumber gives the entries other numbers and drops those with -1.
func (b bag) renumber(numbers []int32) bag {
	kept := b[:0]
	for _, e := range b {
		if n := numbers[e.term]; n >= 0 {
			kept = append(kept, entry{n, e.count})
		}
	}
	kept.sort()
	return kept
}

func mergeVocabularies(counters []*counter, frequency [][]int32, texts, maxTerms, minDF int) *vocabulary {
	total := make(map[string]int32)
	for w, c := range counters {
		for n, df := range frequency[w] {
			total[c.terms[n]] += df
		}
	}
	terms := make([]string, 0, len(total))
	for term, df := range total {
		if int(df) >= minDF {
			terms = append(terms, term)
		}
	}
	slices.SortFunc(terms, func(x, y string) int {
		return cmp.Or(cmp.Compare(total[y], total[x]), cmp.Compare(x, y))
	})
	terms = slices.Clone(terms[:min(len(terms), maxTerms)])
	df := make([]int32, len(terms))
	for i, term := range terms {
		df[i] = total[term]
	}
	return newVocabulary(terms, df, texts)
}
