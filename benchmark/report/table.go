// SPDX-License-Identifier: Apache-2.0

package report

import (
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/internal/display"
)

// addPublished puts each published row about a domain, "" for all together, below the row of the same system,
// and rows of other systems below all. The figures fill the columns of qualityGroups; later columns stay
// empty. There are none if the procedure of the judge or the answers differ: the figures would not compare.
// If the data differ, a note says why.
func (r *Report) addPublished(t *page.Table, domain string) {
	if r.Published == nil || !r.label.published {
		return
	}
	rows := slices.DeleteFunc(slices.Clone(r.Published.Rows), func(p benchmark.PublishedRow) bool { return p.Domain != domain })
	if why, absent := r.Published.Absent[domain]; absent {
		t.Notes = append(t.Notes, "Published rows do not stand here: "+why+".")
	}
	if len(rows) == 0 {
		return
	}
	var out []page.Row
	used := make([]bool, len(rows))
	for n, own := range t.Rows {
		out = append(out, own)
		for i, p := range rows {
			if s := r.Systems[n]; p.System == s.System || slices.Contains(s.Also, p.System) {
				used[i] = true
				out = append(out, r.publishedRow(p, "↳ published"+tableOf(p, rows), len(t.Columns())))
			}
		}
	}
	for i, p := range rows {
		if !used[i] {
			out = append(out, r.publishedRow(p, p.System+", published"+tableOf(p, rows), len(t.Columns())))
		}
	}
	t.Rows = out
	t.Notes = append(t.Notes, publishedNotes(rows)...)
}

// tableOf names the table of a row if several have one of its system.
func tableOf(p benchmark.PublishedRow, rows []benchmark.PublishedRow) string {
	for _, other := range rows {
		if other.System == p.System && other.Source != p.Source {
			_, table, _ := strings.Cut(p.Source, ", ")
			return ", " + table
		}
	}
	return ""
}

func (r *Report) publishedRow(p benchmark.PublishedRow, name string, columns int) page.Row {
	f1, said := p.F1MeanOfQuestions, []string{name + ": accuracy"}
	switch {
	case p.F1OfMeans != nil:
		f1, said[0] = p.F1OfMeans, said[0]+" and F1 of means"
	case f1 != nil:
		said[0] += " and mean F1"
	}
	said = append(said, p.Model)
	if p.Mode != "" {
		said = append(said, p.Mode)
	}
	row := page.Row{
		Name:      strings.Join(append(said, display.Counted(p.Questions, "question")), ", "),
		Cells:     []page.Cell{{Text: percent(p.AvgAccuracy)}},
		Published: true,
	}
	for _, kind := range r.types {
		if !kind.Statements {
			row.Cells = append(row.Cells, page.Cell{Text: percent(p.Accuracy(kind.Key))})
		}
	}
	for _, f := range []*float64{p.Recall, p.Precision, f1} {
		row.Cells = append(row.Cells, page.Cell{Text: percent(f)})
	}
	for len(row.Cells) < columns {
		row.Cells = append(row.Cells, page.Cell{})
	}
	return row
}

// publishedNotes returns the sources of the rows, and their own notes.
func publishedNotes(rows []benchmark.PublishedRow) []string {
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
	return []string{"Published rows: " + strings.Join(append([]string{strings.Join(sources, " and ")}, notes...), "; ") + "."}
}

// estimate is a figure with its interval; both may be nil. A size is no percentage. An unmarked figure is
// never the best of its column, and does not compete with others for it.
type estimate struct {
	value    *float64
	interval *Interval
	size     bool
	unmarked bool
	ranked   bool // of the ranked chunks
}

// point returns a defined figure in percent over x.
func (m estimate) point(x float64) page.Point {
	p := page.Point{X: x, Y: 100 * *m.value}
	if m.interval != nil {
		p.Low, p.High = ref(100*m.interval[0]), ref(100*m.interval[1])
	}
	return p
}

// addFigures adds rows of figures and marks the best of every column.
func addFigures(t *page.Table, names []string, rows [][]estimate) {
	for i, name := range names {
		row := page.Row{Name: name}
		for c, m := range rows[i] {
			cell := page.Cell{Text: percent(m.value), Best: !m.unmarked && isBest(rows, c, m.value)}
			if m.size && m.value != nil {
				cell.Text = decimal(m.value, 0)
			}
			if m.interval != nil {
				cell.Interval = m.interval.text("–")
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
}

// isBest reports whether f is larger than all other figures of a column, of which there must be at least one.
func isBest(rows [][]estimate, column int, f *float64) bool {
	if f == nil {
		return false
	}
	smaller, equal := 0, 0
	for _, row := range rows {
		m := row[column]
		if m.unmarked || m.value == nil {
			continue
		}
		if *m.value > *f {
			return false
		}
		if *m.value < *f {
			smaller++
		} else {
			equal++
		}
	}
	return smaller > 0 && equal == 1
}

// addTexts adds a row of texts; without any, all its cells are n/a.
func addTexts(t *page.Table, name string, texts ...string) {
	row := page.Row{Name: name}
	for i := range t.Columns() {
		cell := page.Cell{Text: notApplicable}
		if len(texts) > 0 {
			cell.Text = texts[i]
		}
		row.Cells = append(row.Cells, cell)
	}
	t.Rows = append(t.Rows, row)
}
