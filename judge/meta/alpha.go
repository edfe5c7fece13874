// SPDX-License-Identifier: Apache-2.0

package meta

import "math"

// alpha computes Krippendorff's alpha, 1 - observed ÷ expected disagreement
// (Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011).
//
// The squared distance of the ordinal measure, (n_c/2 + those between + n_k/2)²
// for ratings c and k, is that of their mean ranks. So ordinal is interval on
// ranks, and both expected disagreements are a variance.
type alpha struct {
	ratings Ratings
	measure Measure
	raters  []int
	// Working memory: of each value how often it occurs, and where it stands
	// (its number, or its mean rank).
	counts []int
	place  []float64
	codes  []int32 // of one item, without the missing
}

func (t Ratings) newAlpha(m Measure, raters ...int) *alpha {
	return &alpha{ratings: t, measure: m, raters: raters,
		counts: make([]int, len(t.values)), place: make([]float64, len(t.values)), codes: make([]int32, 0, len(raters))}
}

// of is alpha on the items given, NaN if undefined.
func (a *alpha) of(items []int32) float64 {
	clear(a.counts)
	n := 0
	for _, item := range items {
		codes := a.rated(item)
		for _, c := range codes {
			a.counts[c]++
		}
		n += len(codes)
	}
	a.setPlaces()
	observed := 0.0
	for _, item := range items {
		if codes := a.rated(item); len(codes) > 1 {
			observed += a.disagreement(codes)
		}
	}
	expected := a.expected(n)
	if !(expected > 0) {
		return math.NaN()
	}
	return 1 - float64(n-1)*observed/expected
}

// rated are the ratings of an item; none if there is nothing to compare.
func (a *alpha) rated(item int32) []int32 {
	all := a.ratings.of(item)
	a.codes = a.codes[:0]
	for _, r := range a.raters {
		if all[r] >= 0 {
			a.codes = append(a.codes, all[r])
		}
	}
	if len(a.codes) < 2 {
		return nil
	}
	return a.codes
}

func (a *alpha) setPlaces() {
	before := 0
	for c, n := range a.counts {
		if a.measure == AlphaOrdinal {
			a.place[c] = float64(before) + float64(n)/2
			before += n
		} else {
			a.place[c] = a.ratings.values[c]
		}
	}
}

// disagreement is the sum over ordered pairs of ratings of one item, divided
// by the number of its ratings less one.
func (a *alpha) disagreement(codes []int32) float64 {
	sum := 0.0
	for i, c := range codes {
		for _, k := range codes[:i] {
			switch {
			case c == k:
			case a.measure == AlphaNominal:
				sum += 2
			default:
				d := a.place[c] - a.place[k]
				sum += 2 * d * d
			}
		}
	}
	return sum / float64(len(codes)-1)
}

// expected is the sum over ordered pairs of all n ratings.
func (a *alpha) expected(n int) float64 {
	if a.measure == AlphaNominal {
		equal := 0
		for _, c := range a.counts {
			equal += c * c
		}
		return float64(n)*float64(n) - float64(equal)
	}
	mean, different := 0.0, 0
	for c, k := range a.counts {
		mean += float64(k) * a.place[c]
		if k > 0 {
			different++
		}
	}
	mean /= float64(n)
	if different < 2 {
		return 0
	}
	squares := 0.0
	for c, k := range a.counts {
		d := a.place[c] - mean
		squares += float64(k) * d * d
	}
	return 2 * float64(n) * squares
}
