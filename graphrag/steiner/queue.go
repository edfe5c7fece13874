// SPDX-License-Identifier: Apache-2.0

package steiner

// queue is a binary heap of clusters by time, the lower cluster first among
// equal times, in which a cluster's time can be changed.
type queue struct {
	order []int32 // clusters
	place []int32 // of each cluster in order, or none
	time  []float64
}

func newQueue(clusters int) queue {
	q := queue{place: make([]int32, clusters), time: make([]float64, clusters)}
	for c := range q.place {
		q.place[c] = none
	}
	return q
}

func (q *queue) len() int { return len(q.order) }

// top returns the first cluster and its time.
func (q *queue) top() (float64, int32) { return q.time[q.order[0]], q.order[0] }

// set puts a cluster into the queue or changes its time.
func (q *queue) set(c int32, time float64) {
	q.time[c] = time
	if q.place[c] == none {
		q.place[c] = int32(len(q.order))
		q.order = append(q.order, c)
	}
	q.settle(int(q.place[c]))
}

// remove takes a cluster out.
func (q *queue) remove(c int32) {
	at, last := int(q.place[c]), len(q.order)-1
	q.swap(at, last)
	q.order = q.order[:last]
	q.place[c] = none
	if at < last {
		q.settle(at)
	}
}

// settle moves the cluster at a place up or down to where it belongs.
func (q *queue) settle(at int) {
	for at > 0 && q.before(at, (at-1)/2) {
		q.swap(at, (at-1)/2)
		at = (at - 1) / 2
	}
	for {
		child := 2*at + 1
		if child+1 < len(q.order) && q.before(child+1, child) {
			child++
		}
		if child >= len(q.order) || !q.before(child, at) {
			return
		}
		q.swap(at, child)
		at = child
	}
}

func (q *queue) before(i, j int) bool {
	a, b := q.order[i], q.order[j]
	return q.time[a] < q.time[b] || q.time[a] == q.time[b] && a < b
}

func (q *queue) swap(i, j int) {
	q.order[i], q.order[j] = q.order[j], q.order[i]
	q.place[q.order[i]], q.place[q.order[j]] = int32(i), int32(j)
}
