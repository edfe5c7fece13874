// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"fmt"
	"strconv"
)

// HippoRecall is the recall of HippoRAG's evaluation (arXiv 2405.14831;
// retrieval_eval.py): of the different gold documents, the share that is among
// the first k retrieved. Unlike [Recall] it takes lists in which a document
// may stand twice, taking two places, and it knows no levels. It is 0 when
// there is no gold document or k is not positive.
func HippoRecall(ranked, gold []string, k int) float64 {
	found := make(map[string]bool, len(gold))
	for _, d := range gold {
		found[d] = false
	}
	hits := 0
	for _, d := range ranked[:max(0, min(k, len(ranked)))] {
		if already, isGold := found[d]; isGold && !already {
			found[d] = true
			hits++
		}
	}
	return ratio(float64(hits), float64(len(found)))
}

// MeanHippoRecall is the mean of HippoRecall over queries, rounded to four
// decimals as HippoRAG reports it; 0 for no query. Lists of different length
// are an error.
func MeanHippoRecall(ranked, gold [][]string, k int) (float64, error) {
	if len(ranked) != len(gold) {
		return 0, fmt.Errorf("rank: mean recall: %d rankings, %d lists of gold documents: want as many", len(ranked), len(gold))
	}
	sum := 0.0
	for i := range ranked {
		sum += HippoRecall(ranked[i], gold[i], k)
	}
	// Correct to the last bit, as Python's round is.
	return strconv.ParseFloat(strconv.FormatFloat(ratio(sum, float64(len(gold))), 'f', 4, 64), 64)
}
