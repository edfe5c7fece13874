// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge"
	"github.com/wildgraph/wildgraph/judge/liverag"
	"github.com/wildgraph/wildgraph/judge/stats"
)

// judged are the figures that a judge gives of an answer.
func judged(name string) []measure {
	verdict := func(r benchmark.Result) (float64, bool) {
		return value(r, func(f *judge.FactJudgment) judge.Verdict { return f.Verdict })
	}
	if name != liverag.Profile {
		return []measure{{"accuracy", verdict, hundred}}
	}
	faithful := func(r benchmark.Result) (float64, bool) {
		return value(r, func(f *judge.FactJudgment) judge.Verdict { return f.Scores["faithfulness"] })
	}
	return []measure{
		{"correctness", verdict, liverag.Points(1) - liverag.Points(0)},
		{"faithfulness", faithful, liverag.Faithfulness(1) - liverag.Faithfulness(0)},
	}
}

// value is a verdict of the judge, false if it is none.
func value(r benchmark.Result, of func(*judge.FactJudgment) judge.Verdict) (float64, bool) {
	if r.Judgment.Fact == nil {
		return 0, false
	}
	v := of(r.Judgment.Fact)
	return v.Value, v.State == judge.Scored
}

// liveRAGTable has a row for each system.
func liveRAGTable(run *benchmark.Run, seed uint64) (report.Table, error) {
	t := report.Table{
		Title:  "LiveRAG's scales by " + run.Judge,
		Groups: []report.ColumnGroup{{Columns: []string{"correctness (-1 to 2)", "scored", "faithfulness (-1 to 1)", "scored", "of"}}},
		Notes:  []string{"With the 95 % interval of the bootstrap. What is not scored: replies of the judge that cannot be used; faithfulness of no answer or no evidence."},
	}
	scales := []func(float64) float64{liverag.Points, liverag.Faithfulness}
	for _, s := range run.Systems {
		row := report.TableRow{Name: s.Name}
		n := 0
		for i, m := range judged(liverag.Profile) {
			var values []float64
			n = 0
			for _, d := range s.Domains {
				n += len(d.Results)
				for _, r := range d.Results {
					if v, ok := m.of(r); ok {
						values = append(values, scales[i](v))
					}
				}
			}
			text, err := meanOf(values, seed)
			if err != nil {
				return t, err
			}
			row.Cells = append(row.Cells, report.Cell{Text: text}, report.Cell{Text: fmt.Sprint(len(values))})
		}
		row.Cells = append(row.Cells, report.Cell{Text: fmt.Sprint(n)})
		t.Rows = append(t.Rows, row)
	}
	return t, nil
}

// meanOf is a mean with its interval.
func meanOf(values []float64, seed uint64) (string, error) {
	if len(values) == 0 {
		return "n/a", nil
	}
	if len(values) < leastInterval {
		return fmt.Sprintf("%.3f", mean(values)), nil
	}
	i, err := stats.Bootstrap(values, nil, stats.Options{Seed: seed})
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Estimate, i.Low, i.High), err
}
