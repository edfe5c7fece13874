// SPDX-License-Identifier: Apache-2.0

package store

import (
	"math"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/vector"
)

// Candidate is a record that an engine found by its vector, with the similarity as the engine computes it.
type Candidate struct {
	ID     string
	Vector []float32
	Score  float64
}

// spare is the number of candidates that an exact search asks an engine for beyond K. It suffices unless many
// records are almost equally similar to the query.
const spare = 10

// Nearest answers queries with the similarities and the order of package vector, for an engine that rounds
// otherwise. Find returns the K best candidates of each query by the engine's similarity, equal ones by id, or
// fewer if there are no more. A search is exact by an Effort of 1, or if always is set. Then find is asked for
// more than K, and again for more as long as a record that it left out may be among the K best.
func (t TableSchema) Nearest(queries []VectorQuery, always bool, find func([]VectorQuery) ([][]Candidate, error)) ([][]Hit, error) {
	hits := make([][]Hit, len(queries))
	exact := make([]bool, len(queries))
	var open []int // indexes of queries without a final answer
	for i, q := range queries {
		if err := t.CheckVector(q); err != nil {
			return nil, err
		}
		zeros := !slices.ContainsFunc(q.Vector, func(x float32) bool { return x != 0 }) // every similarity is 0
		exact[i] = (always || q.Effort == 1) && !zeros
		if q.K > 0 {
			open = append(open, i)
		}
	}
	for more := spare; ; more *= 4 {
		asked := make([]VectorQuery, len(open))
		for n, i := range open {
			asked[n] = queries[i]
			if exact[i] {
				asked[n].K = max(queries[i].K, queries[i].K+more) // the sum of a huge K overflows
			}
		}
		lists, err := find(asked)
		if err != nil {
			return nil, err
		}
		var left []int
		for n, i := range open {
			var worst float64
			if hits[i], worst, err = rescore(queries[i], lists[n]); err != nil {
				return nil, err
			}
			if exact[i] && len(lists[n]) == asked[n].K && worst+rounding(t.Dim) >= hits[i][queries[i].K-1].Score {
				left = append(left, i)
			}
		}
		if open = left; len(open) == 0 {
			return hits, nil
		}
	}
}

// rescore returns the K best candidates as package vector ranks them, equal ones by id, and the smallest
// similarity of a candidate as the engine computes it.
func rescore(q VectorQuery, list []Candidate) (hits []Hit, worst float64, err error) {
	slices.SortFunc(list, func(a, b Candidate) int { return strings.Compare(a.ID, b.ID) })
	rows := make([][]float32, len(list))
	worst = math.Inf(1)
	for i, c := range list {
		rows[i], worst = c.Vector, min(worst, c.Score)
	}
	x, err := vector.New(vector.Options{Dim: len(q.Vector), Cosine: true, Workers: 1})
	if err == nil {
		err = x.Add(rows...)
	}
	if err != nil {
		return nil, 0, err
	}
	found, err := x.Search(q.Vector, q.K, nil)
	for _, f := range found {
		hits = append(hits, Hit{list[f.ID].ID, f.Score})
	}
	return hits, worst, err
}

// rounding is the largest difference between a cosine of vectors with n components in float32 and in package
// vector. A sum of n products has a relative error of n·2⁻²⁴ in any order; the cosine has three sums, of
// which two are under a root. Eight more are for Lucene, which adds 1 to a cosine, and for the rounding of
// vectors and scores to float32.
func rounding(n int) float64 { return 1.01 * float64(n+8) * 0x1p-23 }
