// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/internal/check"
)

// Ranks 1 and 10 beat rank 5 twice while the constant is below 35; at 35 both are worth 1/20, and above it the
// two ranks 5 win.
func TestConstantOfFusion(t *testing.T) {
	a := []string{"x", "b", "c", "d", "y"}
	b := []string{"j", "k", "l", "m", "y", "n", "o", "p", "q", "x"}
	for _, tt := range []struct {
		k    float64
		x, y float64
	}{
		{0, 1.1, .4}, {10, .140909, .133333}, {34, .0512987, .0512821}, {35, .05, .05}, {36, .0487662, .0487805}, {60, .030679157, .030769231},
	} {
		score := map[string]float64{}
		for _, s := range Weighted(tt.k, nil, a, b) {
			score[s.ID] = s.Score
		}
		check.True(t, math.Abs(score["x"]-tt.x) <= 1e-6 && math.Abs(score["y"]-tt.y) <= 1e-6,
			"constant %v: %v and %v, want %v and %v", tt.k, score["x"], score["y"], tt.x, tt.y)
	}
}
