// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/anonyrag"
	"github.com/wildgraph/wildgraph/benchmark/report"
	"github.com/wildgraph/wildgraph/judge"
)

// tally is what the table shows of a system on one domain.
type tally struct {
	chosen, choices int // right of all that were judged
	names           anonyrag.Counts
	recall          float64
	recalls         int
}

func (t *tally) add(r benchmark.Result) {
	reversion := strings.HasPrefix(r.Item.Type, anonyrag.Reversion)
	if r.Evidence.RecallAt5 != nil && !reversion { // raw books have choices alone
		t.recall += *r.Evidence.RecallAt5
		t.recalls++
	}
	switch j := r.Judgment.Fact; {
	case j == nil || j.State != judge.Scored:
	case reversion:
		said := r.Answer.Text
		if r.Answer.Refused {
			said = ""
		}
		t.names = t.names.Plus(anonyrag.Compare(anonyrag.GoldOf(r.Item.Reference, r.Item.Aliases...), anonyrag.ParseReversion(said)))
	default:
		t.choices++
		if j.Value == 1 {
			t.chosen++
		}
	}
}

// percent is a share in percent, n/a of nothing.
func percent(part float64, of int) report.Cell {
	if of == 0 {
		return report.Cell{Text: "n/a"}
	}
	return report.Cell{Text: fmt.Sprintf("%.1f", 100*part/float64(of))}
}

// table has a row for each system and a group for each language: the share of right
// choices with the names as they are and hidden, the micro F1 of names that were found
// again, and evidence recall before and after.
func table(run *benchmark.Run, r *report.Report, topK int, byModel bool) report.Table {
	t := report.Table{Title: fmt.Sprintf("What is right with names as they are (raw) and hidden, %d chunks read", topK), Notes: []string{
		"Choice: right letters in percent. Names: micro F1 of the names found behind their placeholders. R@5: gold passages of choices among the first five chunks.",
	}}
	if !byModel {
		t.Title += " (offline)"
		t.Notes = append(t.Notes, "Offline the option is taken that shares most words with the evidence; a guess is right in 25. No passage holds the names:",
			"to find them again, and to answer without passages, takes a model that knows the book, so these are n/a.")
	}
	for i, d := range run.Dataset.Domains {
		if strings.HasSuffix(d.Name, rawSuffix) {
			continue
		}
		raw := -1
		columns := []string{"choice", "names", "R@5"}
		if i > 0 && run.Dataset.Domains[i-1].Name == d.Name+rawSuffix {
			raw = i - 1
			columns = []string{"choice raw", "hidden", "names", "R@5 raw", "hidden"}
		}
		t.Groups = append(t.Groups, report.ColumnGroup{Heading: d.Name, Columns: columns, Qualified: true})
		for n, s := range run.Systems {
			if len(t.Rows) <= n {
				t.Rows = append(t.Rows, report.TableRow{Name: s.Name})
				if len(r.Systems[n].NotCompared) > 0 {
					t.Rows[n].Name += " †"
				}
			}
			t.Rows[n].Cells = append(t.Rows[n].Cells, cells(s, raw, i)...)
		}
	}
	return t
}

// cells are those of a system for a language; raw is the place of the domain with its
// names, -1 if there is none.
func cells(s benchmark.SystemRun, raw, hidden int) []report.Cell {
	of := func(domain int) (t tally) {
		if s.NotApplicable == "" && domain >= 0 {
			for _, r := range s.Domains[domain].Results {
				t.add(r)
			}
		}
		return t
	}
	before, after := of(raw), of(hidden)
	names := report.Cell{Text: "n/a"}
	if after.names.Gold > 0 {
		names.Text = fmt.Sprintf("%.1f", 100*after.names.F1())
	}
	choice, recall := percent(float64(after.chosen), after.choices), percent(after.recall, after.recalls)
	if raw < 0 {
		return []report.Cell{choice, names, recall}
	}
	return []report.Cell{percent(float64(before.chosen), before.choices), choice, names, percent(before.recall, before.recalls), recall}
}
