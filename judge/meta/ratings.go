// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// MaxCategories is the largest number of different ratings that a confusion
// matrix, and with it kappa, takes.
const MaxCategories = 256

// Ratings are what raters said about items. Make them with NewRatings.
type Ratings struct {
	raters int
	// values are the different ratings, rising; codes has the place in
	// values of each rating, item by item, and missing.
	values []float64
	codes  []int32
}

const missing = -1

// NewRatings takes one list of ratings per rater, all over the same items in
// the same order; NaN says that the rater did not rate the item. Ratings are
// numbers: 0 and 1 for wrong and right, or the points of a scale.
func NewRatings(raters ...[]float64) (Ratings, error) {
	if len(raters) < 2 {
		return Ratings{}, fmt.Errorf("meta: ratings: %w: %d raters, want two at least", stats.ErrTooFew, len(raters))
	}
	var errs []error
	var values []float64
	for r, ratings := range raters {
		if len(ratings) != len(raters[0]) {
			errs = append(errs, fmt.Errorf("meta: ratings: rater %d has %d items, rater 0 has %d: want NaN for what was not rated",
				r, len(ratings), len(raters[0])))
		}
		for i, v := range ratings {
			if math.IsInf(v, 0) {
				errs = append(errs, fmt.Errorf("meta: ratings: rater %d, item %d: %v: want it finite", r, i, v))
				break
			}
			if !math.IsNaN(v) {
				values = append(values, v)
			}
		}
	}
	if err := errors.Join(errs...); err != nil {
		return Ratings{}, err
	}
	slices.Sort(values)
	values = slices.Compact(values)
	t := Ratings{len(raters), values, make([]int32, 0, len(raters)*len(raters[0]))}
	for i := range raters[0] {
		for _, ratings := range raters {
			code, ok := slices.BinarySearch(values, ratings[i])
			if !ok {
				code = missing
			}
			t.codes = append(t.codes, int32(code))
		}
	}
	return t, nil
}

// Items is the number of items.
func (t Ratings) Items() int {
	if t.raters == 0 {
		return 0
	}
	return len(t.codes) / t.raters
}

// of are the codes of an item.
func (t Ratings) of(item int32) []int32 {
	return t.codes[int(item)*t.raters : (int(item)+1)*t.raters]
}

func (t Ratings) all() []int32 {
	items := make([]int32, t.Items())
	for i := range items {
		items[i] = int32(i)
	}
	return items
}

// Confusion counts how often one rater said this and another that.
type Confusion struct {
	// Values are the different ratings of all raters, rising.
	Values []float64 `json:"values"`
	// Counts has, for each value of the first rater, how often the second
	// said each value: row by row.
	Counts []int `json:"counts"`
	// Skipped items lack one of the two ratings.
	Skipped int `json:"skipped,omitempty"`
}

// Confusion is the confusion matrix of two raters, counted from 0. It fails if
// there are more than MaxCategories different ratings.
func (t Ratings) Confusion(first, second int) (Confusion, error) {
	if first < 0 || second < 0 || first >= t.raters || second >= t.raters {
		return Confusion{}, fmt.Errorf("meta: confusion: raters %d and %d of %d", first, second, t.raters)
	}
	if err := t.checkCategories(); err != nil {
		return Confusion{}, fmt.Errorf("meta: confusion: %w", err)
	}
	c := Confusion{Values: slices.Clone(t.values), Counts: make([]int, len(t.values)*len(t.values))}
	c.Skipped = t.Items() - t.tally(c.Counts, t.all(), first, second)
	return c, nil
}

// At is how often the first rater gave value number i and the second j.
func (c Confusion) At(i, j int) int { return c.Counts[i*len(c.Values)+j] }

// tally counts pairs of ratings and returns how many there were.
func (t Ratings) tally(counts []int, items []int32, first, second int) int {
	n := 0
	for _, item := range items {
		codes := t.of(item)
		if a, b := codes[first], codes[second]; a >= 0 && b >= 0 {
			counts[int(a)*len(t.values)+int(b)]++
			n++
		}
	}
	return n
}

func (t Ratings) checkCategories() error {
	if len(t.values) > MaxCategories {
		return fmt.Errorf("%d different ratings, at most %d make a matrix: use AlphaInterval or round", len(t.values), MaxCategories)
	}
	return nil
}
