// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// addPublished puts each published row about a domain, "" for all together,
// under the row of the same system, and those of other systems below all. The
// figures fill the columns of qualityGroups; what follows those stays empty.
// asked is how many questions the run has in this table. Where another procedure has
// judged, or rules have answered, there are none: the figures would not compare.
func (r *Report) addPublished(t *Table, domain string, asked int) {
	if r.Published == nil || !r.label.published {
		return
	}
	rows := slices.DeleteFunc(slices.Clone(r.Published.Rows), func(p benchmark.PublishedRow) bool { return p.Domain != domain })
	if len(rows) == 0 {
		return
	}
	var out []TableRow
	used := make([]bool, len(rows))
	for n, own := range t.Rows {
		out = append(out, own)
		for i, p := range rows {
			if s := r.Systems[n]; p.System == s.System || slices.Contains(s.Also, p.System) {
				used[i] = true
				out = append(out, r.publishedRow(p, "↳ published", len(t.Columns())))
			}
		}
	}
	for i, p := range rows {
		if !used[i] {
			out = append(out, r.publishedRow(p, p.System+", published", len(t.Columns())))
		}
	}
	t.Rows = out
	t.Notes = append(t.Notes, publishedNotes(rows, asked)...)
}

func (r *Report) publishedRow(p benchmark.PublishedRow, name string, columns int) TableRow {
	f1, which := p.F1MeanOfQuestions, "mean F1"
	if p.F1OfMeans != nil {
		f1, which = p.F1OfMeans, "F1 of means"
	}
	row := TableRow{
		Name:      fmt.Sprintf("%s: %s, %s", name, p.Model, which),
		Cells:     []Cell{{Text: percent(p.AvgAccuracy)}},
		Published: true,
	}
	for _, kind := range r.types {
		if !kind.Statements {
			row.Cells = append(row.Cells, Cell{Text: percent(p.Accuracy(kind.Key))})
		}
	}
	for _, f := range []*float64{p.Recall, p.Precision, f1} {
		row.Cells = append(row.Cells, Cell{Text: percent(f)})
	}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, Cell{})
	}
	return row
}

// publishedNotes say where the rows are from, and what they say of themselves.
func publishedNotes(rows []benchmark.PublishedRow, asked int) []string {
	var sources, notes []string
	add := func(list *[]string, s string) {
		if s != "" && !slices.Contains(*list, s) {
			*list = append(*list, s)
		}
	}
	for _, p := range rows {
		add(&sources, p.Source+" (judge: "+p.Judge+")")
		add(&notes, p.Note)
	}
	if n := rows[0].Questions; n != 0 && n != asked {
		notes = append(notes, fmt.Sprintf("they are about %s, this run asks %s", plural(n, "question"), count(asked)))
	}
	return []string{"Published rows: " + strings.Join(append([]string{strings.Join(sources, " and ")}, notes...), "; ") + "."}
}
