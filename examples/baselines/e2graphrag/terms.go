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

// maxTerms bounds a sentence, so that a page without a full stop does not make a pair
// of any two of its words, and the terms of a question that are looked at.
const maxTerms = 32

// terms are the words of a corpus: which stand in one sentence, and in which chunks
// they are how often.
type terms struct {
	analyzer text.Analyzer
	words    *text.Vocabulary
	graph    *graph.Graph // an edge weighs as often as its ends stand in one sentence
	chunks   [][]posting  // of each term, in order
}

type posting struct{ chunk, count int32 }

func newTerms(ctx context.Context, chunks []graphrag.Chunk) (*terms, error) {
	t := &terms{analyzer: nouns{text.Default()}}
	number := text.NewNumbering(t.analyzer)
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

// inOrder are the terms of a text, with repetitions.
func (t *terms) inOrder(number *text.Numbering, s string) (found []int32) {
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

// pairs are the pairs of different terms that stand in one sentence, and weigh as often
// as they do.
func pairs(terms int, sentences [][]int32) (edges []graph.Edge) {
	in := make([][]int32, terms) // the sentences of each term, as often as it stands there
	for i, s := range sentences {
		for _, t := range s {
			in[t] = append(in[t], int32(i))
		}
	}
	together := make([]int32, terms) // how often with the term at hand
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

// in are the different terms of a text that the corpus has, in order of appearance.
func (t *terms) in(s string, most int) (found []int32) {
	for _, term := range t.inOrder(text.NewLookup(t.analyzer, t.words), s) {
		if !slices.Contains(found, term) && len(found) < most {
			found = append(found, term)
		}
	}
	return found
}

// occurrences is how often terms occur in a text.
func (t *terms) occurrences(of []int32, s string) (n int) {
	for _, term := range t.inOrder(text.NewLookup(t.analyzer, t.words), s) {
		if slices.Contains(of, term) {
			n++
		}
	}
	return n
}

// both are the chunks with both terms, in order.
func (t *terms) both(a, b int32) (chunks []int32) {
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

// count is how often a term occurs in a chunk.
func (t *terms) count(term, chunk int32) int {
	i, ok := slices.BinarySearchFunc(t.chunks[term], chunk, func(p posting, c int32) int { return int(p.chunk - c) })
	if !ok {
		return 0
	}
	return int(t.chunks[term][i].count)
}

// path is a shortest path of at most four terms between two, the ends among them; nil
// if there is none. It looks at every edge once at most.
func (t *terms) path(a, b int32) []int32 {
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

// nouns are the words that may be nouns or names, by their stems.
type nouns struct{ text.Analyzer }

func (a nouns) Term(word string) (string, bool) {
	if !rules.MayBeNoun(word) {
		return "", false
	}
	return a.Analyzer.Term(word)
}
