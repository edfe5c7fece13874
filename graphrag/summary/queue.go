// SPDX-License-Identifier: Apache-2.0

package summary

// queue is the sentences that may still be chosen, as a heap: the one of the largest gain
// first, equal ones in their order. Gains change only with a choice, and what does not fit
// is passed by, which is most of the sentences where a name is in many.
type queue struct {
	scores, likeness, gain []float64
	heap                   []int32
	chosen                 []float64 // the sentence that was chosen last, by term
}

func newQueue(scores []float64) *queue {
	q := &queue{scores: scores, likeness: make([]float64, len(scores)), gain: make([]float64, len(scores)), heap: make([]int32, len(scores))}
	for i := range q.heap {
		q.heap[i] = int32(i)
	}
	q.order()
	return q
}

// choose takes account of a sentence that was chosen.
func (q *queue) choose(sentences []sentence, chosen []weighted) {
	for _, t := range chosen {
		if int(t.term) >= len(q.chosen) {
			q.chosen = append(q.chosen, make([]float64, int(t.term)+1-len(q.chosen))...)
		}
		q.chosen[t.term] = t.weight
	}
	left := q.heap[:0]
	for _, i := range q.heap {
		q.likeness[i] = max(q.likeness[i], q.cosine(sentences[i].terms))
		if q.likeness[i] <= .95 { // the same again is never worth its place
			left = append(left, i)
		}
	}
	q.heap = left
	for _, t := range chosen {
		q.chosen[t.term] = 0
	}
	q.order()
}

// cosine with the chosen one: both have length 1, and their terms are in order.
func (q *queue) cosine(terms []weighted) float64 {
	sum := 0.0
	for _, t := range terms {
		if int(t.term) >= len(q.chosen) {
			break
		}
		sum += float64(t.weight * q.chosen[t.term])
	}
	return sum
}

// order computes the gains, and makes a heap.
func (q *queue) order() {
	for _, i := range q.heap {
		q.gain[i] = (1-redundancy)*q.scores[i] - redundancy*q.likeness[i]
	}
	for at := len(q.heap)/2 - 1; at >= 0; at-- {
		q.down(at)
	}
}

func (q *queue) pop() (int32, bool) {
	last := len(q.heap) - 1
	if last < 0 {
		return 0, false
	}
	first := q.heap[0]
	q.heap[0] = q.heap[last]
	q.heap = q.heap[:last]
	q.down(0)
	return first, true
}

func (q *queue) down(at int) {
	for {
		child := 2*at + 1
		if child >= len(q.heap) {
			return
		}
		if child+1 < len(q.heap) && q.before(q.heap[child+1], q.heap[child]) {
			child++
		}
		if !q.before(q.heap[child], q.heap[at]) {
			return
		}
		q.heap[at], q.heap[child] = q.heap[child], q.heap[at]
		at = child
	}
}

func (q *queue) before(a, b int32) bool {
	return q.gain[a] > q.gain[b] || q.gain[a] == q.gain[b] && a < b
}
