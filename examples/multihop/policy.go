// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
)

// labelDepth is the depth of the recall by which expansion is said to have helped.
const labelDepth = 10

// policyTables say what it brings to decide for each question whether the graph is
// used: a step of a question that is not expanded is what it was without the graph, so
// all policies choose between the same two results.
func policyTables(run *benchmark.Run, seed uint64, _ bool) ([]report.Table, error) {
	var without, with []benchmark.Result
	for i, system := range run.Systems {
		results, _ := rankings(run, i, "")
		switch system.Name {
		case never:
			without = results
		case always:
			with = results
		}
	}
	t := report.Table{
		Title: "when to expand", RowHeading: "Policy",
		Groups: []report.ColumnGroup{{Columns: []string{"expanded", "R@5", "R@10", "R@15", "R@10 less never", "R@10 less always"}}},
		Notes: []string{
			"Rule: a relative clause, \"of the\" twice, or several names. Classifier: a logistic regression on six counts of the wording, " +
				fmt.Sprintf("learnt on a half of the questions (did expansion raise R@%d?), with the threshold that is best there, and applied to the other half, both ways.", labelDepth),
			"Oracle: the better of both, question by question, which no policy exceeds.",
		},
	}
	for _, p := range policies(without, with, seed) {
		chosen := slices.Clone(without)
		expanded := 0.0
		for i, yes := range p.expand {
			if yes {
				chosen[i] = with[i]
				expanded++
			}
		}
		row := report.TableRow{Name: p.name, Cells: []report.Cell{percent(expanded / float64(len(chosen)))}}
		for _, k := range recallDepths {
			row.Cells = append(row.Cells, percent(mean(each(chosen, func(r benchmark.Result) float64 { return recallAt(r, k) }))))
		}
		for _, other := range [][]benchmark.Result{without, with} {
			text, err := difference(each(other, atLabel), each(chosen, atLabel), hundred, seed)
			if err != nil {
				return nil, err
			}
			row.Cells = append(row.Cells, report.Cell{Text: text})
		}
		t.Rows = append(t.Rows, row)
	}
	return []report.Table{t}, nil
}

func atLabel(r benchmark.Result) float64 { return recallAt(r, labelDepth) }

// policy says for each question whether it is expanded.
type policy struct {
	name   string
	expand []bool
}

func policies(without, with []benchmark.Result, seed uint64) []policy {
	n := len(without)
	gain := make([]float64, n)
	words := make([]wording, n)
	rule, oracle, all := make([]bool, n), make([]bool, n), make([]bool, n)
	for i := range without {
		gain[i] = atLabel(with[i]) - atLabel(without[i])
		words[i] = wordingOf(without[i].Item.Question.Text)
		rule[i], oracle[i], all[i] = words[i].complex(), gain[i] > 0, true
	}
	return []policy{{never, make([]bool, n)}, {always, all}, {"rule", rule}, {"classifier, held out", heldOut(words, gain, seed)}, {"oracle", oracle}}
}

// heldOut decides each half of the questions by what was learnt from the other half.
func heldOut(words []wording, gain []float64, seed uint64) []bool {
	order := rand.New(rand.NewPCG(seed, 0)).Perm(len(words))
	half := len(order) / 2
	out := make([]bool, len(words))
	for _, fold := range [][2][]int{{order[:half], order[half:]}, {order[half:], order[:half]}} {
		var of []wording
		var labels []bool
		var gains []float64
		for _, i := range fold[0] {
			of, labels, gains = append(of, words[i]), append(labels, gain[i] > 0), append(gains, gain[i])
		}
		l := fit(of, labels)
		least := threshold(l, of, gains)
		for _, i := range fold[1] {
			out[i] = l.probability(words[i]) >= least
		}
	}
	return out
}

// threshold is the probability from which on expansion gains most on the questions
// that were learnt from; of several the largest, which expands least.
func threshold(l logistic, of []wording, gains []float64) float64 {
	best, least := 0.0, math.Inf(1)
	for _, w := range of {
		p, sum := l.probability(w), 0.0
		for i, other := range of {
			if l.probability(other) >= p {
				sum += gains[i]
			}
		}
		if sum > best || sum == best && best > 0 && p > least {
			best, least = sum, p
		}
	}
	return least
}
