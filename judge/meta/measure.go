// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"math"
	"strconv"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// Measure says how agreement is measured. All are 1 when raters agree; kappa
// and alpha are 0 when they agree as often as chance would have it, and below
// when less often.
type Measure uint8

// The measures of agreement.
const (
	// Exact is the share of equal ratings.
	Exact Measure = iota
	// Kappa is Cohen's (1960): any two different ratings are as bad.
	Kappa
	// KappaLinear and KappaQuadratic are Cohen's weighted kappa (1968):
	// ratings that are i places apart on the scale count i, or i². The scale
	// is that of the ratings that occur, whoever gave them, one place each.
	KappaLinear
	KappaQuadratic
	// AlphaNominal, AlphaOrdinal and AlphaInterval are Krippendorff's (2011):
	// ratings are names, ranks or numbers. They take any number of raters
	// and missing ratings.
	AlphaNominal
	AlphaOrdinal
	AlphaInterval
)

// measures is indexed by Measure and never changed.
var measures = [...]string{
	Exact: "exact", Kappa: "kappa", KappaLinear: "kappa-linear", KappaQuadratic: "kappa-quadratic",
	AlphaNominal: "alpha-nominal", AlphaOrdinal: "alpha-ordinal", AlphaInterval: "alpha-interval",
}

// String is the name of the measure, such as "kappa-linear".
func (m Measure) String() string {
	if int(m) >= len(measures) {
		return "measure(" + strconv.Itoa(int(m)) + ")"
	}
	return measures[m]
}

// Agreement of all raters. Exact and kappa compare two raters at a time; of
// more raters it is the mean over pairs (for kappa: Light 1971).
func (t Ratings) Agreement(m Measure) (float64, error) {
	if err := t.check(m); err != nil {
		return 0, err
	}
	v := t.statistic(m)()(t.all())
	if math.IsNaN(v) {
		return 0, fmt.Errorf("meta: %v: %w: all ratings are equal", m, stats.ErrUndefined)
	}
	return v, nil
}

// Interval is Agreement with the interval of the bootstrap over items, or over
// clusters of items.
func (t Ratings) Interval(m Measure, clusters []int32, o stats.Options) (stats.Interval, error) {
	if err := t.check(m); err != nil {
		return stats.Interval{}, err
	}
	i, err := stats.BootstrapStatistic(t.Items(), clusters, t.statistic(m), o)
	if err != nil {
		return stats.Interval{}, fmt.Errorf("meta: interval of %v: %w", m, err)
	}
	return i, nil
}

// statistic is the agreement of all raters on the items given.
func (t Ratings) statistic(m Measure) func() func([]int32) float64 {
	if m >= AlphaNominal {
		raters := make([]int, t.raters)
		for r := range raters {
			raters[r] = r
		}
		return func() func([]int32) float64 {
			a := t.newAlpha(m, raters...)
			return a.of
		}
	}
	return t.meanOfPairs(m, allPairs(0, t.raters))
}

// meanOfPairs is the mean agreement over pairs of raters.
func (t Ratings) meanOfPairs(m Measure, pairs [][2]int) func() func([]int32) float64 {
	return func() func([]int32) float64 {
		of := make([]func([]int32) float64, len(pairs))
		table := newTable(len(t.values))
		for p, pair := range pairs {
			if m >= AlphaNominal {
				of[p] = t.newAlpha(m, pair[0], pair[1]).of
				continue
			}
			of[p] = func(items []int32) float64 {
				clear(table.counts)
				n := t.tally(table.counts, items, pair[0], pair[1])
				return table.agreement(m, n)
			}
		}
		return func(items []int32) float64 {
			sum := 0.0
			for _, f := range of {
				sum += f(items)
			}
			return sum / float64(len(of))
		}
	}
}

// allPairs of raters in from..to-1.
func allPairs(from, to int) (pairs [][2]int) {
	for a := from; a < to; a++ {
		for b := a + 1; b < to; b++ {
			pairs = append(pairs, [2]int{a, b})
		}
	}
	return pairs
}

// check wants ratings that can be compared: for each pair of raters an item
// that both rated, or for alpha an item with two ratings.
func (t Ratings) check(m Measure) error {
	if int(m) >= len(measures) {
		return fmt.Errorf("meta: %v: no such measure", m)
	}
	if t.raters < 2 {
		return fmt.Errorf("meta: %v: %w: no raters", m, stats.ErrTooFew)
	}
	if m >= AlphaNominal {
		for i := range t.Items() {
			if rated(t.of(int32(i))) > 1 {
				return nil
			}
		}
		return fmt.Errorf("meta: %v: %w: no item with two ratings", m, stats.ErrTooFew)
	}
	return t.checkPairs(m, allPairs(0, t.raters))
}

func (t Ratings) checkPairs(m Measure, pairs [][2]int) error {
	if m < AlphaNominal {
		if err := t.checkCategories(); err != nil {
			return fmt.Errorf("meta: %v: %w", m, err)
		}
	}
	for _, p := range pairs {
		both := false
		for i := 0; i < t.Items() && !both; i++ {
			codes := t.of(int32(i))
			both = codes[p[0]] >= 0 && codes[p[1]] >= 0
		}
		if !both {
			return fmt.Errorf("meta: %v: %w: raters %d and %d have no item in common", m, stats.ErrTooFew, p[0], p[1])
		}
	}
	return nil
}

func rated(codes []int32) int {
	n := 0
	for _, c := range codes {
		if c >= 0 {
			n++
		}
	}
	return n
}

// table is a confusion matrix and its margins, used again and again.
type table struct {
	counts        []int // row by row
	rows, columns []int
}

func newTable(categories int) *table {
	return &table{make([]int, categories*categories), make([]int, categories), make([]int, categories)}
}

// agreement is Exact or kappa of n pairs; NaN if it is undefined. Kappa is 1 -
// observed ÷ expected disagreement.
func (t *table) agreement(m Measure, n int) float64 {
	clear(t.rows)
	clear(t.columns)
	observed := 0.0
	for i := range t.rows {
		for j := range t.columns {
			c := t.counts[i*len(t.columns)+j]
			t.rows[i] += c
			t.columns[j] += c
			observed += m.apart(i, j) * float64(c)
		}
	}
	if m == Exact {
		return 1 - observed/float64(n)
	}
	expected := 0.0
	for i, row := range t.rows {
		for j, column := range t.columns {
			expected += m.apart(i, j) * float64(row) * float64(column)
		}
	}
	if expected == 0 {
		return math.NaN()
	}
	return 1 - observed*float64(n)/expected
}

// apart is how bad it is to say i where another says j.
func (m Measure) apart(i, j int) float64 {
	d := float64(i - j)
	switch {
	case i == j:
		return 0
	case m == KappaLinear:
		return math.Abs(d)
	case m == KappaQuadratic:
		return d * d
	}
	return 1
}
