// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// The golden value is scikit-learn 1.9.1's (cohen_kappa_score).
func TestKappa(t *testing.T) {
	a := []int{0, 1, 2, 2, 1, 0, 3, 3, 1, 2, 0, 1, 2, 3, 3, 1}
	b := []int{0, 1, 2, 1, 1, 1, 3, 2, 1, 2, 0, 0, 2, 3, 1, 3}
	for _, tt := range []struct {
		name   string
		a, b   []int
		want   float64
		failed error
	}{
		{"four ratings", a, b, 0.4920634921, nil},
		{"the same", a, a, 1, nil},
		{"as chance would have it", []int{0, 0, 1, 1}, []int{0, 1, 0, 1}, 0, nil},
		{"always apart", []int{0, 1}, []int{1, 0}, -1, nil},
		{"all equal", []int{1, 1, 1}, []int{1, 1, 1}, 0, stats.ErrUndefined},
		{"nothing", nil, nil, 0, stats.ErrTooFew},
	} {
		got, err := stats.Kappa(tt.a, tt.b, stats.Options{})
		if !errors.Is(err, tt.failed) || err == nil && (math.Abs(got.Estimate-tt.want) > 1e-9 || !(got.Low <= tt.want && tt.want <= got.High)) {
			t.Errorf("%s: %v, %v, want %v, %v", tt.name, got, err, tt.want, tt.failed)
		}
	}
	if _, err := stats.Kappa(a, b[:3], stats.Options{}); err == nil {
		t.Error("raters of different items are compared")
	}
}

func ExampleKappa() {
	people := []int{1, 1, 0, 1, 0, 0, 1, 0}
	judge := []int{1, 1, 0, 0, 0, 0, 1, 1}
	k, err := stats.Kappa(people, judge, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(k)
	// Output: 0.500 [-0.100, 1.000] (95 %, n = 8)
}
