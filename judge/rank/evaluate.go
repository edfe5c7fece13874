// SPDX-License-Identifier: Apache-2.0

package rank

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Averaging says which queries a mean is over.
type Averaging uint8

// The rules of averaging in use.
const (
	// Complete takes all queries of the qrels; one that is missing from the
	// run counts 0. trec_eval -c, ir_measures; BEIR's MRR.
	Complete Averaging = iota
	// InRun takes the queries that are in the qrels and in the run.
	// trec_eval 9 without -c, pytrec_eval, BEIR.
	InRun
)

// averagings is indexed by Averaging and never changed.
var averagings = [...]string{Complete: "complete", InRun: "in-run"}

// String is the name of the rule.
func (a Averaging) String() string {
	if int(a) >= len(averagings) {
		return "averaging(" + strconv.Itoa(int(a)) + ")"
	}
	return averagings[a]
}

// Result holds one value per query and measure, all in 0..1.
type Result struct {
	Measures  []Measure `json:"measures"`
	Averaging Averaging `json:"averaging"`
	// Queries are those the means are over, in the order of the qrels.
	Queries []string `json:"queries"`
	// Values has the values of the first query in the order of Measures,
	// then those of the second, and so on.
	Values []float64 `json:"values"`
	// Missing are the queries of the qrels that are not in the run, Unjudged
	// those of the run that are not in the qrels.
	Missing  []string `json:"missing,omitempty"`
	Unjudged []string `json:"unjudged,omitempty"`
}

// Evaluate computes measures for every query that the averaging rule takes. It
// fails if a measure is not valid, reporting all of them.
func Evaluate(qrels *Qrels, run *Run, measures []Measure, averaging Averaging) (Result, error) {
	errs := make([]error, 0, len(measures)+1)
	for _, m := range measures {
		errs = append(errs, m.check())
	}
	if int(averaging) >= len(averagings) {
		errs = append(errs, fmt.Errorf("rank: %v: no such averaging rule", averaging))
	}
	if err := errors.Join(errs...); err != nil {
		return Result{}, err
	}
	result := Result{Measures: slices.Clone(measures), Averaging: averaging}
	for _, query := range run.Queries() {
		if !qrels.lists.has(query) {
			result.Unjudged = append(result.Unjudged, query)
		}
	}
	var b bench
	for _, query := range qrels.Queries() {
		missing := !run.lists.has(query)
		if missing {
			result.Missing = append(result.Missing, query)
		}
		t := b.topic(qrels.lists.of(query), run.Hits(query))
		if missing && averaging == InRun {
			continue
		}
		result.Queries = append(result.Queries, query)
		for _, m := range measures {
			result.Values = append(result.Values, m.of(t))
		}
	}
	return result, nil
}

// Mean is the mean of the measure with the given number, over len(Queries)
// queries; 0 if there is none.
func (r Result) Mean(measure int) float64 {
	sum := 0.0
	for q := range r.Queries {
		sum += r.Values[q*len(r.Measures)+measure]
	}
	return ratio(sum, float64(len(r.Queries)))
}

// Column has the values of the measure with the given number, in the order of
// Queries: what an interval or a paired test wants.
func (r Result) Column(measure int) []float64 {
	column := make([]float64, len(r.Queries))
	for q := range column {
		column[q] = r.Values[q*len(r.Measures)+measure]
	}
	return column
}

// bench holds the working memory of an evaluation.
type bench struct {
	gains, levels []int32
	discounts     []float64
}

// topic lays out a query; the next call overwrites it.
func (b *bench) topic(judgments []Judgment, hits []Hit) topic {
	b.gains, b.levels = b.gains[:0], b.levels[:0]
	for _, h := range hits {
		b.gains = append(b.gains, level(judgments, h.Doc))
	}
	for _, j := range judgments {
		if j.Level > 0 {
			b.levels = append(b.levels, j.Level)
		}
	}
	slices.Sort(b.levels)
	slices.Reverse(b.levels)
	for i := len(b.discounts); i < max(len(b.gains), len(b.levels)); i++ {
		b.discounts = append(b.discounts, math.Log2(float64(i+2)))
	}
	return topic{b.gains, b.levels, b.discounts}
}
