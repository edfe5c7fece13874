// SPDX-License-Identifier: Apache-2.0

package fusion

import (
	"cmp"
	"errors"
	"fmt"
	"math"
)

// DefaultK is the constant of reciprocal rank fusion. Cormack, Clarke and
// Büttcher, "Reciprocal Rank Fusion outperforms Condorcet and individual Rank
// Learning Methods", SIGIR 2009, section 2, fixed it in a pilot study.
const DefaultK = 60

// RRF merges lists by reciprocal rank fusion with [DefaultK]: the score of an
// identifier is the sum of 1/(k+rank) over the lists that hold it, ranks
// counted from 1.
func RRF[ID cmp.Ordered](lists ...[]ID) []Scored[ID] {
	return reciprocal(DefaultK, nil, lists)
}

// RRFOptions change reciprocal rank fusion. The zero value is [RRF].
type RRFOptions struct {
	// K flattens the difference between ranks; 0 means [DefaultK].
	// It must not be negative.
	K float64
	// Weights holds one factor for each list, finite and not negative; nil
	// gives every list 1. A list with weight 0 still brings its identifiers,
	// with score 0.
	Weights []float64
}

// WeightedRRF is [RRF] with another constant or with weights for the lists:
// the sum of weight/(k+rank). The error names everything that is wrong with
// the options.
func WeightedRRF[ID cmp.Ordered](opts RRFOptions, lists ...[]ID) ([]Scored[ID], error) {
	if err := opts.check(len(lists)); err != nil {
		return nil, err
	}
	if opts.K == 0 {
		opts.K = DefaultK
	}
	return reciprocal(opts.K, opts.Weights, lists), nil
}

func (o RRFOptions) check(lists int) error {
	var errs []error
	if !(o.K >= 0) || math.IsInf(o.K, 0) {
		errs = append(errs, fmt.Errorf("fusion: RRF: K is %v, want a finite number >= 0", o.K))
	}
	if o.Weights != nil && len(o.Weights) != lists {
		errs = append(errs, fmt.Errorf("fusion: RRF: %d weights for %d lists, want one each", len(o.Weights), lists))
	}
	for i, w := range o.Weights {
		if !(w >= 0) || math.IsInf(w, 0) {
			errs = append(errs, fmt.Errorf("fusion: RRF: weight %d is %v, want a finite number >= 0", i, w))
		}
	}
	return errors.Join(errs...)
}

func reciprocal[ID cmp.Ordered](k float64, weights []float64, lists [][]ID) []Scored[ID] {
	total := 0
	for _, list := range lists {
		total += len(list)
	}
	b := newBallot[ID](total)
	for i, list := range lists {
		weight := 1.0
		if weights != nil {
			weight = weights[i]
		}
		b.startList()
		for place, id := range list {
			if b.first(id) {
				b.add(id, weight/(k+float64(place+1)))
			}
		}
	}
	return b.count(false)
}
