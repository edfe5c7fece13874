// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// recallDepths are those of the tables of GeAR (arXiv 2412.18431, Table 1).
var recallDepths = []int{5, 10, 15}

// rankings are the results of a system for the questions of a type, "" for all, that
// have gold passages.
func rankings(run *benchmark.Run, system int, kind string) (out []benchmark.Result, err error) {
	for _, d := range run.Systems[system].Domains {
		for _, r := range d.Results {
			if r.Answer.Error != "" {
				return nil, fmt.Errorf("question %s: %s", r.Item.Question.ID, r.Answer.Error)
			}
			if len(r.Item.Gold) > 0 && (kind == "" || r.Item.Type == kind) {
				out = append(out, r)
			}
		}
	}
	if kind == "" && len(out) == 0 {
		return nil, errors.New("no question has gold passages: experiments are on data sets that name them, such as musique")
	}
	return out, nil
}

// recallAt is the share of gold passages among the first k.
func recallAt(r benchmark.Result, k int) float64 {
	var docs []string
	for _, h := range r.Answer.Ranked[:min(k, len(r.Answer.Ranked))] {
		docs = append(docs, h.Doc)
	}
	return benchmark.UnitRecall(r.Item.Gold, docs)
}

func each(results []benchmark.Result, f func(benchmark.Result) float64) []float64 {
	out := make([]float64, len(results))
	for i, r := range results {
		out[i] = f(r)
	}
	return out
}

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// kindOf is a type of questions, with how many there are.
type kindOf struct{ key, title string }

// kindsOf are all questions, and the types of the run: of MuSiQue, by their hops.
func kindsOf(set *benchmark.Dataset, run *benchmark.Run) []kindOf {
	all, _ := rankings(run, 0, "")
	out := []kindOf{{"", fmt.Sprintf("All, n = %d", len(all))}}
	for _, t := range set.Types {
		if of, _ := rankings(run, 0, t.Key); len(of) > 0 && len(of) < len(all) {
			out = append(out, kindOf{t.Key, fmt.Sprintf("%s, n = %d", t.Title, len(of))})
		}
	}
	return out
}

// recallTable has a row for each variant, and the depths of each type of questions.
func recallTable(set *benchmark.Dataset, run *benchmark.Run) report.Table {
	t := report.Table{Title: "recall of gold passages (%)", RowHeading: "Variant"}
	kinds := kindsOf(set, run)
	for _, kind := range kinds {
		g := report.ColumnGroup{Heading: kind.title}
		for _, k := range recallDepths {
			g.Columns = append(g.Columns, fmt.Sprintf("R@%d", k))
		}
		t.Groups = append(t.Groups, g)
	}
	for i, s := range run.Systems {
		row := report.TableRow{Name: s.Name}
		for _, kind := range kinds {
			results, _ := rankings(run, i, kind.key)
			for _, k := range recallDepths {
				row.Cells = append(row.Cells, percent(mean(each(results, func(r benchmark.Result) float64 { return recallAt(r, k) }))))
			}
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func percent(share float64) report.Cell { return report.Cell{Text: fmt.Sprintf("%.1f", 100*share)} }

// pairTable compares pairs question by question: the second less the first.
func pairTable(set *benchmark.Dataset, run *benchmark.Run, pairs [][2]string, judged []measure, seed uint64) (report.Table, error) {
	measures := judged
	for _, k := range slices.Backward(recallDepths) {
		of := func(r benchmark.Result) (float64, bool) { return recallAt(r, k), true }
		measures = append([]measure{{fmt.Sprintf("R@%d", k), of, hundred}}, measures...)
	}
	t := report.Table{
		Title: "paired differences, second less first", RowHeading: "Pair", Groups: []report.ColumnGroup{{}},
		Notes: []string{fmt.Sprintf("With the 95 %% interval of the paired bootstrap, from %d questions on; recall and accuracy in points. Judged are the questions that the judge scored for both.", leastInterval)},
	}
	for _, m := range measures {
		t.Groups[0].Columns = append(t.Groups[0].Columns, m.name)
	}
	at := func(name string) int {
		return slices.IndexFunc(run.Systems, func(s benchmark.SystemRun) bool { return s.Name == name })
	}
	for _, pair := range pairs {
		for _, kind := range kindsOf(set, run) {
			a, _ := rankings(run, at(pair[0]), kind.key)
			b, _ := rankings(run, at(pair[1]), kind.key)
			row := report.TableRow{Name: fmt.Sprintf("%s → %s: %s", pair[0], pair[1], kind.title)}
			for _, m := range measures {
				text, err := m.difference(a, b, seed)
				if err != nil {
					return t, err
				}
				row.Cells = append(row.Cells, report.Cell{Text: text})
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t, nil
}

// leastInterval is the least number of questions of which an interval is told: the
// bootstrap of fewer has next to none to draw from.
const leastInterval = 10

// measure is a figure of a question; false where there is none.
type measure struct {
	name string
	of   func(benchmark.Result) (float64, bool)
	unit float64 // what 1 is shown as
}

const hundred = 100

// difference is that of the questions that have the figure from both.
func (m measure) difference(a, b []benchmark.Result, seed uint64) (string, error) {
	var of [2][]float64
	for i := range a {
		x, ok1 := m.of(a[i])
		y, ok2 := m.of(b[i])
		if ok1 && ok2 {
			of[0], of[1] = append(of[0], x), append(of[1], y)
		}
	}
	return difference(of[0], of[1], m.unit, seed)
}

// difference is the mean of b less that of a with its interval: two digits of what is
// shown in small units, one of others.
func difference(a, b []float64, unit float64, seed uint64) (string, error) {
	digits := 1
	if unit < hundred {
		digits = 2
	}
	if len(a) == 0 {
		return "n/a", nil
	}
	if len(a) < leastInterval {
		return fmt.Sprintf("%+.*f", digits, unit*(mean(b)-mean(a))), nil
	}
	c, err := stats.Compare(a, b, nil, stats.Options{Seed: seed})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%+.*f [%.*f, %.*f]", digits, unit*c.Effect.Estimate, digits, unit*c.Effect.Low, digits, unit*c.Effect.High), nil
}
