// SPDX-License-Identifier: Apache-2.0

package embed

import "math"

// weighted is a term of a text with its weight.
type weighted struct {
	term   int32
	weight float64
}

// idf is the inverse document frequency of BM25, never negative:
// ln(1 + (N - df + 1/2)/(df + 1/2)).
func idf(df, texts int) float64 {
	n, d := float64(texts), float64(df)
	return math.Log1p((n - d + .5) / (d + .5))
}

// termWeight is (1 + ln tf)·√idf. The root is because the dot product of two
// texts multiplies the weights of a term: each side brings half of its idf,
// and the product holds it once, as BM25 does. Weights with the whole idf on
// both sides, the usual TF-IDF, let the rarest term of a query decide alone.
func termWeight(count int32, rootIDF float64) float64 {
	return (1 + math.Log(float64(count))) * rootIDF
}

// weigh gives the terms of a text their weights, and returns the squared
// length of that.
func weigh(b bag, rootIDF []float64) (row []weighted, squares float64) {
	row = make([]weighted, len(b))
	for i, e := range b {
		w := termWeight(e.count, rootIDF[e.term])
		row[i] = weighted{e.term, w}
		squares += float64(w * w)
	}
	return row, squares
}

// unit scales v to length 1; zeros stay zeros.
func unit(v []float32) []float32 {
	squares := 0.0
	for _, c := range v {
		squares += float64(c) * float64(c) // exact products
	}
	if squares == 0 {
		return v
	}
	length := math.Sqrt(squares)
	for i, c := range v {
		v[i] = float32(float64(c) / length)
	}
	return v
}
