// SPDX-License-Identifier: Apache-2.0

package report

import (
	"math"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// MinQuestions is how many questions an interval or a test takes: with fewer it says
// next to nothing, and looks as if it did.
const MinQuestions = 10

// sample gathers one figure over questions, with the source page each is
// about: questions about one page are not independent.
type sample struct {
	values  []float64
	sources []string
}

func (s *sample) add(v *float64, source string) {
	if v != nil {
		s.values = append(s.values, *v)
		s.sources = append(s.sources, source)
	}
}

// source names the page a question is about.
func source(r benchmark.Result) string { return r.Domain + "\x00" + r.Item.Source() }

// mean is nil where nothing was added.
func (s *sample) mean() *float64 {
	if len(s.values) == 0 {
		return nil
	}
	var sum float64
	for _, v := range s.values {
		sum += v
	}
	return ref(sum / float64(len(s.values)))
}

// interval is the 95 % interval of the mean, cut to 0..1: Student's t over
// source pages. Where every value is 0 or 1 it is not narrower than Wilson's,
// which has a width even when all values are equal. It is nil where there are
// too few questions.
func (s *sample) interval() *Interval {
	if len(s.values) < MinQuestions {
		return nil
	}
	i, err := stats.StudentT(s.values, stats.Number(s.sources), stats.Options{})
	if err != nil {
		return nil
	}
	out := Interval{max(i.Low, 0), min(i.High, 1)}
	ones := 0
	for _, v := range s.values {
		if v != 0 && v != 1 {
			return &out
		}
		ones += int(v)
	}
	if w, err := stats.Wilson(ones, len(s.values), stats.Options{}); err == nil {
		out = Interval{min(out[0], w.Low), max(out[1], w.High)}
	}
	return &out
}

// quantile is the smallest value that at least a share q of the sorted values
// do not exceed.
func quantile(sorted []float64, q float64) float64 {
	i := int(math.Ceil(q*float64(len(sorted)))) - 1
	return sorted[max(i, 0)]
}

func round(f float64, digits int) float64 {
	scale := math.Pow10(digits)
	return math.Round(f*scale) / scale
}

func ref(f float64) *float64 { return &f }
