// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// corpusWords has the words of the corpus.
type corpusWords struct {
	facts  map[string][]int32 // with a word, ascending
	chunks map[string]int     // the number of chunks with a word
	n      int                // the number of chunks
}

// chunkWordsKey is the key of the words of a graph's chunks.
type chunkWordsKey struct{ *kg.Graph }

// chunkWords counts the chunks with each word.
func chunkWords(chunks text.List) map[string]int {
	n := make(map[string]int)
	for c := range chunks.All() {
		for _, term := range distinct(text.Default().Terms(c)) {
			n[term]++
		}
	}
	return n
}

// factWords lists the facts with each word.
func factWords(facts []perception.Fact) map[string][]int32 {
	of := make(map[string][]int32)
	for f := range facts {
		for _, term := range distinct(text.Default().Terms(facts[f].Text)) {
			of[term] = append(of[term], int32(f))
		}
	}
	return of
}

// parts returns the words of a question: of has, for each fact, a bit for each word in it; weights has BM25's
// inverse document frequency of each word, scaled to the sum 1. It uses the path.MaxParts rarest words.
func (w *corpusWords) parts(question string, facts int) (of []uint64, weights []float64) {
	var all []rank.Scored[string]
	for _, term := range distinct(text.Default().Terms(question)) {
		df := float64(w.chunks[term])
		all = append(all, rank.Scored[string]{ID: term, Score: math.Log(1 + (float64(w.n)-df+.5)/(df+.5))})
	}
	all = rank.Best(all, path.MaxParts)
	sum := 0.0
	for _, x := range all {
		sum += x.Score
	}
	of, weights = make([]uint64, facts), make([]float64, len(all))
	for i, x := range all {
		weights[i] = x.Score / sum
		for _, f := range w.facts[x.ID] {
			of[f] |= 1 << i
		}
	}
	return of, weights
}

func distinct(terms []string) []string {
	slices.Sort(terms)
	return slices.Compact(terms)
}
