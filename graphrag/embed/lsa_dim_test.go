// SPDX-License-Identifier: Apache-2.0

package embed

import "testing"

// Dimensions follow the size of the corpus between two bounds.
func TestAutomaticDim(t *testing.T) {
	for texts, want := range map[int]int{0: 384, 3000: 384, 8643: 650, 21_400: 1024, 1 << 30: 1024} {
		if got := automaticDim(texts); got != want {
			t.Errorf("%d texts: %d dimensions, want %d", texts, got, want)
		}
	}
}
