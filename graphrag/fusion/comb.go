// SPDX-License-Identifier: Apache-2.0

package fusion

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// Norm brings the scores of one list to a scale that compares between lists.
// Both kinds move the lowest score of a list to 0, so that a place at the end
// of a list is never worth less than no place in it. A list whose scores are
// all equal gives 1 to each of its identifiers.
type Norm int

const (
	// MinMax maps the scores of a list linearly onto 0..1 (Lee, "Analyses of
	// Multiple Evidence Combination", SIGIR 1997). It is the default.
	MinMax Norm = iota
	// ZScore divides by the standard deviation of the list's scores, after
	// the shift to 0: one extreme score squeezes the others less than with
	// MinMax (Montague and Aslam, "Relevance Score Normalization for
	// Metasearch", CIKM 2001).
	ZScore
)

// CombSUM adds the normalised scores of each identifier over the lists (Fox
// and Shaw, "Combination of Multiple Searches", TREC-2, 1993). The error
// names every score that is not finite and an unknown norm.
func CombSUM[ID cmp.Ordered](norm Norm, lists ...[]Scored[ID]) ([]Scored[ID], error) {
	return combine(norm, false, lists)
}

// CombMNZ is [CombSUM] multiplied by the number of lists that hold the
// identifier: it favours what several retrievers agree on (Fox and Shaw,
// 1993).
func CombMNZ[ID cmp.Ordered](norm Norm, lists ...[]Scored[ID]) ([]Scored[ID], error) {
	return combine(norm, true, lists)
}

func combine[ID cmp.Ordered](norm Norm, votes bool, lists [][]Scored[ID]) ([]Scored[ID], error) {
	if err := checkScores(norm, lists); err != nil {
		return nil, err
	}
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	b := newBallot[ID](total)
	for _, list := range lists {
		start := len(b.shares)
		b.startList()
		for _, s := range list {
			if b.first(s.ID) {
				b.add(s.ID, s.Score)
			}
		}
		normalise(norm, b.shares[start:])
	}
	return b.count(votes), nil
}

func checkScores[ID cmp.Ordered](norm Norm, lists [][]Scored[ID]) error {
	var errs []error
	if norm != MinMax && norm != ZScore {
		errs = append(errs, fmt.Errorf("fusion: combine: unknown norm %d, want MinMax or ZScore", norm))
	}
	for i, list := range lists {
		for place, s := range list {
			if math.IsNaN(s.Score) || math.IsInf(s.Score, 0) {
				errs = append(errs, fmt.Errorf("fusion: combine: list %d, place %d: score is %v, want a finite number", i, place, s.Score))
			}
		}
	}
	return errors.Join(errs...)
}

// normalise rescales the scores of one list in place.
func normalise[ID cmp.Ordered](norm Norm, list []Scored[ID]) {
	if len(list) == 0 {
		return
	}
	low, high := list[0].Score, list[0].Score
	for _, s := range list {
		low, high = min(low, s.Score), max(high, s.Score)
	}
	if low == high {
		for i := range list {
			list[i].Score = 1
		}
		return
	}
	scale := 1.0
	if math.IsInf(high-low, 0) {
		scale = 0.5
	}
	span := scale*high - scale*low
	for i := range list {
		list[i].Score = (scale*list[i].Score - scale*low) / span
	}
	if norm == ZScore {
		divideByDeviation(list)
	}
}

// divideByDeviation expects scores within 0..1 that are not all equal.
func divideByDeviation[ID cmp.Ordered](list []Scored[ID]) {
	n, mean, squares := float64(len(list)), 0.0, 0.0
	for _, s := range list {
		mean += s.Score / n
	}
	for _, s := range list {
		squares += (s.Score - mean) * (s.Score - mean)
	}
	deviation := math.Sqrt(squares / n)
	for i := range list {
		list[i].Score /= deviation
	}
}
