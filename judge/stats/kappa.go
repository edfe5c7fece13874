// SPDX-License-Identifier: Apache-2.0

package stats

import (
	"fmt"
	"math"
	"slices"
)

// Kappa is the agreement of two raters beyond chance (Cohen, Educational and
// Psychological Measurement 20, 1960), with the interval of the bootstrap over
// items, or over clusters of items: 1 when they agree, 0 when they agree as often as
// chance would have it, below 0 when less often. The ratings of item i are first[i] and
// second[i]; any two different ratings are as bad. When all ratings are equal the error
// wraps [ErrUndefined]. It is how far a judge agrees with people, and people with
// each other.
func Kappa(first, second []int, clusters []int32, o Options) (Interval, error) {
	if len(first) != len(second) {
		return Interval{}, fmt.Errorf("stats: kappa: %d and %d ratings: want one of each rater for every item", len(first), len(second))
	}
	names := slices.Compact(slices.Sorted(slices.Values(slices.Concat(first, second))))
	if len(names) == 1 {
		return Interval{}, fmt.Errorf("stats: kappa: %w: all ratings are equal", ErrUndefined)
	}
	place := func(rating int) int { i, _ := slices.BinarySearch(names, rating); return i }
	i, err := BootstrapStatistic(len(first), clusters, func() func([]int32) float64 {
		rows, columns := make([]float64, len(names)), make([]float64, len(names))
		return func(items []int32) float64 {
			clear(rows)
			clear(columns)
			same, expected := 0.0, 0.0
			for _, it := range items {
				a, b := place(first[it]), place(second[it])
				rows[a]++
				columns[b]++
				if a == b {
					same++
				}
			}
			n := float64(len(items))
			for k := range rows {
				expected += rows[k] * columns[k] / n
			}
			if expected == n {
				return math.NaN()
			}
			return (same - expected) / (n - expected)
		}
	}, o)
	if err != nil {
		return Interval{}, fmt.Errorf("stats: kappa: %w", err)
	}
	return i, nil
}
