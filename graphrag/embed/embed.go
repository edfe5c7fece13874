// SPDX-License-Identifier: Apache-2.0

package embed

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Embedder turns texts into vectors, such that texts of similar content have a large dot product. It has the
// method set of langchaingo's embeddings.Embedder, so each implements the other.
//
// All vectors of one embedder have the same length, whatever the text, also for an empty one. EmbedDocuments
// returns one vector for each text, in order; none for no texts. Both methods are safe for concurrent use, and
// when ctx is cancelled they return an error that wraps the context's. Package graphragtest checks these rules.
type Embedder interface {
	EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error)
	EmbedQuery(ctx context.Context, text string) ([]float32, error)
}

// Func makes an [Embedder] of a function, which embeds texts and questions alike.
type Func func(ctx context.Context, texts []string) ([][]float32, error)

// EmbedDocuments calls f.
func (f Func) EmbedDocuments(ctx context.Context, texts []string) ([][]float32, error) {
	return f(ctx, texts)
}

// EmbedQuery calls f with the question.
func (f Func) EmbedQuery(ctx context.Context, text string) ([]float32, error) {
	rows, err := f(ctx, []string{text})
	if err == nil && len(rows) != 1 {
		err = fmt.Errorf("embed: the function gave %d vectors for 1 text", len(rows))
	}
	if err != nil {
		return nil, err
	}
	return rows[0], nil
}

// Model describes an embedder. The embedders of this package implement it; others need not.
type Model interface {
	// Name identifies the embedder and everything its vectors depend on: equal names mean equal vectors. An
	// index stores the name to reject other embedders.
	Name() string
	// Dim is the length of the vectors.
	Dim() int
}

// atOnce is the number of texts that are embedded in one call: enough to keep a server busy, few
// enough to stop soon after a cancel.
const atOnce = 256

// Batches embeds texts, atOnce per call, and yields the vectors of each call. It ends at an error.
func Batches(ctx context.Context, e Embedder, texts text.List) iter.Seq2[[][]float32, error] {
	return func(yield func([][]float32, error) bool) {
		for from := 0; from < texts.Len(); from += atOnce {
			part := make([]string, min(atOnce, texts.Len()-from))
			for i := range part {
				part[i] = texts.At(from + i)
			}
			rows, err := e.EmbedDocuments(ctx, part)
			if err == nil && len(rows) != len(part) {
				err = fmt.Errorf("embed: the embedder gave %d vectors for %d texts", len(rows), len(part))
			}
			if !yield(rows, err) || err != nil {
				return
			}
		}
	}
}

// Query returns the vector of a query, or nil if it is all zeros: then the embedder knows no word of the query.
func Query(ctx context.Context, e Embedder, text string) ([]float32, error) {
	row, err := e.EmbedQuery(ctx, text)
	if err != nil || !slices.ContainsFunc(row, func(c float32) bool { return c != 0 }) {
		return nil, err
	}
	return row, nil
}

// grain is the number of texts that a worker takes at a time.
const grain = 16

// counter counts the terms of one text at a time.
type counter struct {
	numbers *text.Numbering
	counts  []int32 // by term number; all zero between texts
	touched []int32 // numbers of the terms of the current text
	cols    []int32 // buffers of LSA.embed: term numbers and their weights
	vals    []float32
}

// bag counts the terms of a text.
func (c *counter) bag(s string) bag {
	c.touched = c.touched[:0]
	c.numbers.Text(s, func(terms []int32) bool {
		if n := c.numbers.Terms().Len() - len(c.counts); n > 0 {
			c.counts = append(c.counts, make([]int32, n)...)
		}
		for _, n := range terms {
			if n < 0 {
				continue
			}
			if c.counts[n] == 0 {
				c.touched = append(c.touched, n)
			}
			c.counts[n]++
		}
		return true
	})
	var b bag
	for _, n := range c.touched {
		b = append(b, entry{n, c.counts[n]})
		c.counts[n] = 0
	}
	b.sort()
	return b
}

// maxWords is the number of words that a counter may cache between texts.
const maxWords = 1 << 17

// bag is the term counts of a text, in ascending order of the terms' numbers in a vocabulary.
type bag []entry

type entry struct {
	term  int32
	count int32
}

func (b bag) sort() {
	slices.SortFunc(b, func(x, y entry) int { return cmp.Compare(x.term, y.term) })
}

// vocabulary numbers the terms of a corpus, the most frequent first, and counts the texts with each.
type vocabulary struct {
	terms   *text.Vocabulary
	df      []int32
	texts   int
	rootIDF []float64 // square root of each term's idf
}

// add appends a term.
func (v *vocabulary) add(term []byte, df int32) {
	v.terms.Add(term)
	v.df = append(v.df, df)
	// The inverse document frequency of BM25, never negative: ln(1 + (N - df + 1/2)/(df + 1/2)).
	n, d := float64(v.texts), float64(df)
	v.rootIDF = append(v.rootIDF, math.Sqrt(math.Log1p((n-d+.5)/(d+.5))))
}

// readCorpus counts the terms of all texts and builds their vocabulary: at most maxTerms terms, each in at
// least two texts of a large corpus; the most frequent first, then alphabetically. The result does not depend
// on the number of workers.
func readCorpus(ctx context.Context, a text.Analyzer, texts []string, workers int) (*vocabulary, []bag, error) {
	bags, counted := make([]bag, len(texts)), make([]int, len(texts)) // counted is the worker that counted each text
	counters := make([]*counter, par.Workers(workers))
	for w := range counters {
		counters[w] = &counter{numbers: new(text.Vocabulary).Numbering(a)}
	}
	frequency := make([][]int32, len(counters)) // by worker and its term number: number of its texts with the term
	err := par.Ranges(ctx, len(texts), grain, workers, func(w, lo, hi int) error {
		for i := lo; i < hi && ctx.Err() == nil; i++ {
			bags[i], counted[i] = counters[w].bag(texts[i]), w
			frequency[w] = append(frequency[w], make([]int32, counters[w].numbers.Terms().Len()-len(frequency[w]))...)
			for _, e := range bags[i] {
				frequency[w][e.term]++
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	v := mergeVocabularies(counters, frequency, len(texts))
	numbers := make([][]int32, len(counters)) // by worker: the numbers in v of the worker's terms
	for w := range counters {
		for n := range frequency[w] {
			numbers[w] = append(numbers[w], int32(v.terms.Find(counters[w].numbers.Terms().At(n))))
		}
	}
	return v, bags, par.Each(ctx, len(bags), workers, func(i int) error {
		bags[i] = bags[i].renumber(numbers[counted[i]])
		return nil
	})
}

// renumber replaces term numbers, and drops terms whose new number is -1.
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

func mergeVocabularies(counters []*counter, frequency [][]int32, texts int) *vocabulary {
	total := make(map[string]int32)
	for w := range frequency {
		for n, df := range frequency[w] {
			total[string(counters[w].numbers.Terms().At(n))] += df
		}
	}
	terms := make([]string, 0, len(total))
	least := 2
	if texts < 100 {
		least = 1
	}
	for term, df := range total {
		if int(df) >= least {
			terms = append(terms, term)
		}
	}
	slices.SortFunc(terms, func(x, y string) int {
		return cmp.Or(cmp.Compare(total[y], total[x]), cmp.Compare(x, y))
	})
	v := &vocabulary{terms: new(text.Vocabulary), texts: texts}
	for _, term := range terms[:min(len(terms), maxTerms)] {
		v.add([]byte(term), total[term])
	}
	return v
}

// weighted is a term of a text with its weight.
type weighted struct {
	term   int32
	weight float64
}

// termWeight returns (1 + ln tf)·√idf. The dot product of two texts multiplies the weights of a term: with the
// root of the idf in each weight, the product contains the idf once, as BM25 does. With the whole idf in both
// weights, the usual TF-IDF, the rarest term of a query decides alone.
func termWeight(count int32, rootIDF float64) float64 {
	return (1 + math.Log(float64(count))) * rootIDF
}

// weigh returns the weights of a text's terms, and the sum of their squares.
func weigh(b bag, rootIDF []float64) (row []weighted, squares float64) {
	row = make([]weighted, len(b))
	for i, e := range b {
		w := termWeight(e.count, rootIDF[e.term])
		row[i] = weighted{e.term, w}
		squares += float64(w * w)
	}
	return row, squares
}
