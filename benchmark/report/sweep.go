// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark/page"
)

// swept names the questions of a sweep.
func (r *Report) swept() (title, plural string) {
	var titles, plurals []string
	for _, kind := range r.types {
		if kind.Swept {
			titles, plurals = append(titles, kind.Title), append(plurals, kind.Plural)
		}
	}
	return strings.Join(titles, ", "), strings.Join(plurals, ", ")
}

// sweepTable shows a row for each system and k, and marks the best k of each.
func (r *Report) sweepTable() Table {
	verdicts := []string{"f1_mean_of_questions", "f1_of_means", "recall", "precision"}
	prompt := []string{"context_tokens", "evidence_recall", "provenance_recall"}
	title, plural := r.swept()
	t := Table{
		Title:  r.label.title(capital(plural) + " over top-k"),
		Groups: []ColumnGroup{{title, titles(verdicts...), true}, {"Final prompt", titles(prompt...), false}},
		Notes: []string{"Percent, over all " + strings.ToLower(title) + " questions of the run; the best k of each system is marked. " +
			"Figure 5 of the paper draws F1 over k for HippoRAG 2 on one domain: it rises to k = 8 and falls to k = 12."},
	}
	if note := r.label.note(); note != "" {
		t.Notes = append(t.Notes, note)
	}
	prefix := r.label.prefix()
	f1 := page.Chart{Title: prefix + "F1 of " + plural + ", mean of questions (%)", X: "top-k"}
	recall := page.Chart{Title: prefix + "recall of " + plural + " (%)", X: "top-k"}
	for _, s := range r.Systems {
		var names []string
		var rows [][]measured
		for _, p := range s.Sweep {
			row := s.row(Types{title: p.Type}.row(title, append(verdicts, prompt...)...))
			names = append(names, fmt.Sprintf("%s, k = %d", s.name(), p.K))
			rows = append(rows, row)
			addPoint(&f1, s.System, p.K, row[0])
			addPoint(&recall, s.System, p.K, row[2])
		}
		t.fill(names, rows)
	}
	t.charts = []page.Chart{f1, recall}
	return t
}
