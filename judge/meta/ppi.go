// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat"

	"github.com/wildgraph/wildgraph/judge/stats"
)

// Corrected is a mean of judge scores, corrected by human labels.
type Corrected struct {
	// Mean is the corrected mean. Its interval holds the error of the judge
	// as well as chance. N is the number of unlabelled and labelled answers.
	Mean stats.Interval `json:"mean"`
	// Judge is the plain mean of the judge's scores of unlabelled answers,
	// Bias what the labels say about it: the mean of the judge's less the
	// people's scores on labelled answers.
	Judge float64 `json:"judge"`
	Bias  float64 `json:"bias"`
	// Weight is how far the judge was trusted: 1 for plain PPI, 0 would be
	// the mean of the labels alone.
	Weight float64 `json:"weight"`
	// Labels is the number of labelled answers, and LabelsOnly the interval
	// that they give without a judge, by the same approximation.
	Labels     int            `json:"labels"`
	LabelsOnly stats.Interval `json:"labels_only"`
}

// PPI estimates the mean human score of many answers of which a judge scored
// all and people only some: prediction-powered inference (Angelopoulos et al.,
// arXiv 2301.09633, algorithm 1), as ARES uses it.
//
// human and judge are the scores of the labelled answers, in the same order;
// unlabelled are the judge's scores of the others, drawn from the same
// population. The estimate is the mean of unlabelled less the judge's bias on
// the labelled; the interval is normal. It fails with fewer than two answers of
// a kind, and ARES (arXiv 2311.09476) asks for 50 labels, better some hundred.
func PPI(human, judge, unlabelled []float64, o stats.Options) (Corrected, error) {
	return ppi(human, judge, unlabelled, o, func() float64 { return 1 })
}

// PPITuned is PPI that trusts the judge as far as its scores go with the
// labels (PPI++, arXiv 2311.01453, section 6): never much worse than the
// labels alone, better than PPI when the judge is poor.
func PPITuned(human, judge, unlabelled []float64, o stats.Options) (Corrected, error) {
	return ppi(human, judge, unlabelled, o, func() float64 { return tunedWeight(human, judge, unlabelled) })
}

func ppi(human, judge, unlabelled []float64, o stats.Options, weigh func() float64) (Corrected, error) {
	switch {
	case len(human) != len(judge):
		return Corrected{}, fmt.Errorf("meta: ppi: %d labels, %d judge scores of the same answers: want as many", len(human), len(judge))
	case len(human) < 2 || len(unlabelled) < 2:
		return Corrected{}, fmt.Errorf("meta: ppi: %w: %d labelled and %d unlabelled answers, want two at least of each", stats.ErrTooFew, len(human), len(unlabelled))
	}
	for _, scores := range [][]float64{human, judge, unlabelled} {
		for i, v := range scores {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return Corrected{}, fmt.Errorf("meta: ppi: score %d is %v: want it finite", i, v)
			}
		}
	}
	weight := weigh()
	rest := make([]float64, len(human)) // what the judge leaves unexplained
	for i := range rest {
		rest[i] = human[i] - weight*judge[i]
	}
	n, many := float64(len(human)), float64(len(unlabelled))
	// The variances are not corrected for small numbers: as in the paper's algorithm.
	judgeMean, judgeVariance := stat.PopMeanVariance(unlabelled, nil)
	restMean, restVariance := stat.PopMeanVariance(rest, nil)
	labelMean, labelVariance := stat.PopMeanVariance(human, nil)
	onLabelled := stat.Mean(judge, nil)
	c := Corrected{Judge: judgeMean, Bias: onLabelled - labelMean, Weight: weight, Labels: len(human)}
	var err error
	if c.Mean, err = stats.Normal(weight*judgeMean+restMean, math.Sqrt(weight*weight*judgeVariance/many+restVariance/n), o); err != nil {
		return Corrected{}, err
	}
	if c.LabelsOnly, err = stats.Normal(labelMean, math.Sqrt(labelVariance/n), o); err != nil {
		return Corrected{}, err
	}
	c.Mean.N, c.Mean.Method = len(human)+len(unlabelled), "ppi"
	c.LabelsOnly.N = len(human)
	return c, nil
}

// tunedWeight is the weight with the smallest variance, kept in 0..1; 0 if the
// judge gives the same score to all.
func tunedWeight(human, judge, unlabelled []float64) float64 {
	n, many := float64(len(human)), float64(len(unlabelled))
	humanMean := stat.Mean(human, nil)
	judgeMean := stat.Mean(judge, nil)
	covariance := 0.0
	for i := range human {
		covariance += (human[i] - humanMean) * (judge[i] - judgeMean)
	}
	all := append(append(make([]float64, 0, len(judge)+len(unlabelled)), judge...), unlabelled...)
	_, variance := stat.PopMeanVariance(all, nil)
	variance *= (n + many) / (n + many - 1)
	if !(variance > 0) {
		return 0
	}
	return min(1, max(0, covariance/n/((1+n/many)*variance)))
}
