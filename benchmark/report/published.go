// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
)

// publishedRows returns the rows about a domain, "" for all together.
func publishedRows(p *benchmark.Published, domain string) []benchmark.PublishedRow {
	if p == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(p.Rows), func(r benchmark.PublishedRow) bool { return r.Domain != domain })
}

// publishedF1 is the figure and which of the two it is.
func publishedF1(p benchmark.PublishedRow) (*float64, string) {
	if p.F1OfMeans != nil {
		return p.F1OfMeans, "F1 of means"
	}
	return p.F1MeanOfQuestions, "mean F1"
}

// addPublished puts each published row under the row of the same system, and
// those of other systems below all. The figures fill the columns of
// Report.qualityGroups; what follows those stays empty. asked is how many questions
// the run has in this table.
func (t *Table) addPublished(rows []benchmark.PublishedRow, asked int) {
	if len(rows) == 0 {
		return
	}
	var out []TableRow
	used := make([]bool, len(rows))
	for _, own := range t.Rows {
		out = append(out, own)
		for i, p := range rows {
			if p.System == own.Name {
				used[i] = true
				out = append(out, publishedRow(p, "↳ published", len(own.Cells)))
			}
		}
	}
	for i, p := range rows {
		if !used[i] {
			out = append(out, publishedRow(p, p.System+", published", len(t.Columns())))
		}
	}
	t.Rows = out
	t.Notes = append(t.Notes, publishedNotes(rows, asked)...)
}

func publishedRow(p benchmark.PublishedRow, name string, columns int) TableRow {
	f1, kind := publishedF1(p)
	row := TableRow{Name: fmt.Sprintf("%s: %s, %s", name, p.Model, kind), Published: true}
	for _, f := range []*float64{p.AvgAccuracy, p.SingleFact, p.MultiFact, p.Recall, p.Precision, f1} {
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
	if n := rows[0].Questions; n != asked {
		notes = append(notes, fmt.Sprintf("they are about %s, this run asks %s", plural(n, "question"), count(asked)))
	}
	return []string{"Published rows: " + strings.Join(append([]string{strings.Join(sources, " and ")}, notes...), "; ") + "."}
}
