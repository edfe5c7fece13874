// SPDX-License-Identifier: Apache-2.0

package pairwise

import (
	"errors"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// Tally counts comparisons. The zero value is ready; it is not safe for concurrent use.
type Tally struct{ rates map[Criterion]Rate }

// Rate is how often the second answer wins by one criterion.
type Rate struct {
	Criterion Criterion `json:"criterion"`
	A         int       `json:"a"`
	B         int       `json:"b"`
	Ties      int       `json:"ties"`
	// Flipped are the ties whose winner changed with the order: many of them tell
	// that the judge goes by position.
	Flipped  int `json:"flipped"`
	Unscored int `json:"unscored"`
	// WinRate is the share of B's wins among the scored comparisons, a tie counting
	// half, with the interval of Agresti and Min; nil without a scored comparison.
	WinRate *stats.Interval `json:"win_rate,omitempty"`
	// Sign is the exact sign test of no difference: ties take no part in it.
	Sign stats.Test `json:"sign_test,omitzero"`
}

// Add counts a comparison.
func (t *Tally) Add(c Comparison) {
	if t.rates == nil {
		t.rates = make(map[Criterion]Rate)
	}
	for _, v := range c.Verdicts {
		r := t.rates[v.Criterion]
		switch v.Outcome {
		case A:
			r.A++
		case B:
			r.B++
		case Tie:
			r.Ties++
		default:
			r.Unscored++
		}
		if v.Flipped() {
			r.Flipped++
		}
		t.rates[v.Criterion] = r
	}
}

// Rates are the win rates in the order of [Criteria]. Questions are taken for
// independent of each other.
func (t *Tally) Rates(o stats.Options) ([]Rate, error) {
	var out []Rate
	for _, criterion := range Criteria() {
		r := t.rates[criterion]
		r.Criterion = criterion
		// The win rate is a half more than half the difference of the shares, ties or
		// not, and the sign test is McNemar's.
		d, err := stats.McNemar(r.A, r.B, r.A+r.B+r.Ties, o)
		switch {
		case err == nil:
			i := d.Effect
			i.Estimate, i.Low, i.High, i.SE = (1+i.Estimate)/2, (1+i.Low)/2, (1+i.High)/2, i.SE/2
			r.WinRate, r.Sign = &i, d.Test
		case !errors.Is(err, stats.ErrTooFew):
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
