// SPDX-License-Identifier: Apache-2.0

package community

import (
	"slices"
	"sync/atomic"
	"testing"
)

// Every task is done once, and before the next list begins, by workers that the crew has.
func TestCrew(t *testing.T) {
	for _, workers := range []int{1, 2, 5} {
		crew := newCrew(workers)
		times := make([]int32, 100)
		for round := range int32(200) {
			n := int(round) % (len(times) + 1)
			crew.each(n, func(worker, task int) {
				if worker < 0 || worker >= workers {
					t.Errorf("worker %d of %d", worker, workers)
				}
				atomic.AddInt32(&times[task], 1)
			})
			if slices.ContainsFunc(times[:n], func(k int32) bool { return k != 1 }) || slices.Max(append(times[n:], 0)) > 0 {
				t.Fatalf("%d tasks of %d workers: %v", n, workers, times)
			}
			clear(times)
		}
		crew.dismiss()
	}
}
