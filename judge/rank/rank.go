// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"math"
	"slices"
)

// Judgments are the levels of the judged documents of a query; 0 and below is not
// relevant.
type Judgments map[string]int32

// AtLeast keeps the documents of a level or above, for measures by a higher level of
// relevance.
func (j Judgments) AtLeast(level int32) Judgments {
	out := make(Judgments)
	for doc, l := range j {
		if l >= level {
			out[doc] = l
		}
	}
	return out
}

func (j Judgments) relevant() int {
	n := 0
	for _, level := range j {
		if level > 0 {
			n++
		}
	}
	return n
}

// hits lists the ranks, from 1, of the relevant documents among the first k.
func (j Judgments) hits(ranked []string, k int) []int {
	var out []int
	ranked = cut(ranked, k)
	for i, doc := range ranked {
		if j[doc] > 0 && !slices.Contains(ranked[:i], doc) {
			out = append(out, i+1)
		}
	}
	return out
}

func cut[T any](list []T, k int) []T {
	if k > 0 && k < len(list) {
		return list[:k]
	}
	return list
}

// Recall is the share of the relevant documents that are among the first k.
func Recall(ranked []string, j Judgments, k int) float64 {
	return ratio(float64(len(j.hits(ranked, k))), float64(j.relevant()))
}

// Precision is the share of the first k places that have a relevant document; k is
// positive, and divides also where fewer documents are ranked.
func Precision(ranked []string, j Judgments, k int) float64 {
	return ratio(float64(len(j.hits(ranked, k))), float64(k))
}

// AP is average precision: the sum of the precision at each relevant document ÷ the
// number of relevant documents.
func AP(ranked []string, j Judgments, k int) float64 {
	sum := 0.0
	for i, rank := range j.hits(ranked, k) {
		sum += float64(i+1) / float64(rank)
	}
	return ratio(sum, float64(j.relevant()))
}

// RR is the reciprocal rank: 1 ÷ the rank of the first relevant document.
func RR(ranked []string, j Judgments, k int) float64 {
	hits := j.hits(ranked, k)
	if len(hits) == 0 {
		return 0
	}
	return 1 / float64(hits[0])
}

// Success is 1 if any of the first k documents is relevant, else 0.
func Success(ranked []string, j Judgments, k int) float64 {
	return float64(min(1, len(j.hits(ranked, k))))
}

// NDCG is the discounted cumulative gain of the ranking ÷ that of the ideal ranking.
func NDCG(ranked []string, j Judgments, k int) float64 {
	gains := make([]int32, len(ranked))
	for i, doc := range ranked {
		if !slices.Contains(ranked[:i], doc) {
			gains[i] = j[doc]
		}
	}
	var ideal []int32
	for _, level := range j {
		ideal = append(ideal, level)
	}
	slices.Sort(ideal)
	slices.Reverse(ideal)
	return ratio(dcg(cut(gains, k)), dcg(cut(ideal, k)))
}

func dcg(gains []int32) float64 {
	sum := 0.0
	for i, g := range gains {
		if g > 0 {
			sum += float64(g) / math.Log2(float64(i+2))
		}
	}
	return sum
}

// ratio is a ÷ b, and 0 where there is nothing to divide by.
func ratio(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}
