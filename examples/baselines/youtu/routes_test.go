// SPDX-License-Identifier: Apache-2.0

package youtu_test

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// The worked example of four routes: [t1 t2 t3], [t2 t4], [t3] and [t2 t3 t5] with a
// constant of 60.
func TestFourRoutesWorked(t *testing.T) {
	merged := rank.RRF([]int32{1, 2, 3}, []int32{2, 4}, []int32{3}, []int32{2, 3, 5})
	want := []rank.Scored[int32]{{ID: 2, Score: .048915918}, {ID: 3, Score: .048395491}, {ID: 1, Score: .016393443}, {ID: 4, Score: .016129032}, {ID: 5, Score: .015873016}}
	for i, w := range want {
		if got := merged[i]; len(merged) != len(want) || got.ID != w.ID || math.Abs(got.Score-w.Score) > 1e-9 {
			t.Errorf("place %d is t%d with %.9f, want t%d with %.9f", i+1, got.ID, got.Score, w.ID, w.Score)
		}
	}
}
