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

// words are the words of the corpus.
type words struct {
	facts  map[string][]int32 // that have a word, ascending
	chunks map[string]int     // how many have it
	n      int                // chunks
}

// chunkWordsKey is the key of the words of a graph's chunks.
type chunkWordsKey struct{ *kg.Graph }

// chunkWords counts the chunks that have each word.
func chunkWords(chunks text.List) map[string]int {
	n := make(map[string]int)
	for c := range chunks.All() {
		for _, term := range distinct(text.Default().Terms(c)) {
			n[term]++
		}
	}
	return n
}

// factWords lists the facts that have each word.
func factWords(facts []perception.Fact) map[string][]int32 {
	of := make(map[string][]int32)
	for f := range facts {
		for _, term := range distinct(text.Default().Terms(facts[f].Text)) {
			of[term] = append(of[term], int32(f))
		}
	}
	return of
}

// parts are the words of a question: in of a bit for each that a fact has, and in
// weights what each is worth, by how few chunks have it (BM25's measure), all of them
// 1 together. A question has at most as many words as there are bits; of a longer one
// the rarest count.
func (w *words) parts(question string, facts int) (of []uint64, weights []float64) {
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
