// SPDX-License-Identifier: Apache-2.0

package rank

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
