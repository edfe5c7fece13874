// SPDX-License-Identifier: Apache-2.0

package e2graphrag

import (
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// maxTerms bounds the terms of a sentence, so that a page without a full stop does not make a pair of
// any two words, and the terms of a question.
const maxTerms = 32

// termIndex contains the terms of a corpus, their pairs in sentences, and their counts in chunks.
type termIndex struct {
	analyzer text.Analyzer
	words    *text.Vocabulary
	graph    *graph.Graph // an edge has the number of sentences with both ends as its weight
	chunks   [][]posting  // of each term, in order
}

type posting struct{ chunk, count int32 }

func newTermIndex(ctx context.Context, chunks []graphrag.Chunk) (*termIndex, error) {
	t := &termIndex{analyzer: nouns{text.Default()}}
	number := new(text.Vocabulary).Numbering(t.analyzer)
	t.words = number.Terms()
	var sentences [][]int32
	of := make(map[int32][]posting)
	for i, c := range chunks {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		counts := make(map[int32]int32)
		for _, s := range text.Sentences(c.Text) {
			found := t.inOrder(number, s.In(c.Text))
			for _, term := range found {
				counts[term]++
			}
			sentences = append(sentences, slices.Collect(slices.Chunk(found, maxTerms))...)
		}
		for term, n := range counts {
			of[term] = append(of[term], posting{int32(i), n})
		}
	}
	t.chunks = make([][]posting, t.words.Len())
	for term, list := range of {
		t.chunks[term] = list
	}
	var err error
	t.graph, err = graph.New(t.words.Len(), pairs(t.words.Len(), sentences), graph.Options{})
	return t, err
}

// inOrder returns the terms of a text, with repetitions.
func (t *termIndex) inOrder(number *text.Numbering, s string) (found []int32) {
	number.Text(s, func(terms []int32) bool {
		for _, term := range terms {
			if term >= 0 {
				found = append(found, term)
			}
		}
		return true
	})
	return found
}

// pairs returns the pairs of different terms in a sentence, weighted by their number.
func pairs(terms int, sentences [][]int32) (edges []graph.Edge) {
	in := make([][]int32, terms) // the sentences of each term, once per occurrence
	for i, s := range sentences {
		for _, t := range s {
			in[t] = append(in[t], int32(i))
		}
	}
	together := make([]int32, terms) // number of pairs with b
	var beside []int32
	for b := range int32(terms) {
		for _, i := range in[b] {
			for _, a := range sentences[i] {
				if a >= b {
					continue
				}
				if together[a]++; together[a] == 1 {
					beside = append(beside, a)
				}
			}
		}
		for _, a := range beside {
			edges = append(edges, graph.Edge{From: a, To: b, Weight: float64(together[a])})
			together[a] = 0
		}
		beside = beside[:0]
	}
	return edges
}

// in returns the different terms of a text that the corpus contains, in order of appearance.
func (t *termIndex) in(s string, most int) (found []int32) {
	for _, term := range t.inOrder(t.words.Lookup(t.analyzer), s) {
		if !slices.Contains(found, term) && len(found) < most {
			found = append(found, term)
		}
	}
	return found
}

// occurrences counts the occurrences of terms in a text.
func (t *termIndex) occurrences(of []int32, s string) (n int) {
	for _, term := range t.inOrder(t.words.Lookup(t.analyzer), s) {
		if slices.Contains(of, term) {
			n++
		}
	}
	return n
}

// both returns the chunks with both terms, in order.
func (t *termIndex) both(a, b int32) (chunks []int32) {
	x, y := t.chunks[a], t.chunks[b]
	for len(x) > 0 && len(y) > 0 {
		switch {
		case x[0].chunk < y[0].chunk:
			x = x[1:]
		case x[0].chunk > y[0].chunk:
			y = y[1:]
		default:
			chunks = append(chunks, x[0].chunk)
			x, y = x[1:], y[1:]
		}
	}
	return chunks
}

// count returns the number of occurrences of a term in a chunk.
func (t *termIndex) count(term, chunk int32) int {
	i, ok := slices.BinarySearchFunc(t.chunks[term], chunk, func(p posting, c int32) int { return int(p.chunk - c) })
	if !ok {
		return 0
	}
	return int(t.chunks[term][i].count)
}

// path returns a shortest path of at most four terms between two, with its ends, or nil. It visits
// every edge at most once.
func (t *termIndex) path(a, b int32) []int32 {
	if t.graph.Degree(a) > t.graph.Degree(b) {
		p := t.path(b, a)
		slices.Reverse(p)
		return p
	}
	beside := t.graph.Neighbors(b)
	if _, ok := slices.BinarySearch(beside, a); ok {
		return []int32{a, b}
	}
	near := make(map[int32]bool, len(beside))
	for _, n := range beside {
		near[n] = true
	}
	first := t.graph.Neighbors(a)
	for _, n := range first {
		if near[n] {
			return []int32{a, n, b}
		}
	}
	for _, n := range first {
		for _, m := range t.graph.Neighbors(n) {
			if near[m] {
				return []int32{a, n, m, b}
			}
		}
	}
	return nil
}

// nouns analyzes words that may be nouns or names.
type nouns struct{ text.Analyzer }

func (a nouns) Term(word string) (string, bool) {
	if !rules.MayBeNoun(word) {
		return "", false
	}
	return a.Analyzer.Term(word)
}
