// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// Validation sets the agreement of a judge with people beside that of people
// among themselves.
type Validation struct {
	Measure Measure `json:"measure"`
	// Judge is the mean agreement of the judge with one person, Ceiling that
	// of one person with another: means over pairs.
	Judge   stats.Interval `json:"judge"`
	Ceiling stats.Interval `json:"ceiling"`
	// Gap is Judge minus Ceiling, both on the same resamples. A judge whose
	// gap holds 0 was not shown to be worse than one more person.
	Gap stats.Interval `json:"gap"`
}

// Validate compares a judge with two people or more. Ratings are over the same
// items in the same order, NaN is missing; see [Ratings] and
// [Ratings.Interval].
func Validate(judge []float64, people [][]float64, m Measure, clusters []int32, o stats.Options) (Validation, error) {
	if len(people) < 2 {
		return Validation{}, fmt.Errorf("meta: validate: %w: %d people, want two at least to know how far people agree", stats.ErrTooFew, len(people))
	}
	t, err := NewRatings(append([][]float64{judge}, people...)...)
	if err != nil {
		return Validation{}, err
	}
	if int(m) >= len(measures) {
		return Validation{}, fmt.Errorf("meta: validate: %v: no such measure", m)
	}
	among := allPairs(1, t.raters)
	var with [][2]int
	for person := 1; person < t.raters; person++ {
		with = append(with, [2]int{0, person})
	}
	if err := t.checkPairs(m, append(with[:len(with):len(with)], among...)); err != nil {
		return Validation{}, err
	}
	judged, ceiling := t.meanOfPairs(m, with), t.meanOfPairs(m, among)
	gap := func() func([]int32) float64 {
		j, c := judged(), ceiling()
		return func(items []int32) float64 { return j(items) - c(items) }
	}
	v := Validation{Measure: m}
	for _, part := range []struct {
		name      string
		interval  *stats.Interval
		statistic func() func([]int32) float64
	}{{"judge", &v.Judge, judged}, {"ceiling", &v.Ceiling, ceiling}, {"gap", &v.Gap, gap}} {
		if *part.interval, err = stats.BootstrapStatistic(t.Items(), clusters, part.statistic, o); err != nil {
			return Validation{}, fmt.Errorf("meta: validate: %s: %w", part.name, err)
		}
	}
	return v, nil
}
