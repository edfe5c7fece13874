// SPDX-License-Identifier: Apache-2.0

package report

import (
	"cmp"
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// Table is a table of a report, ready to be rendered.
type Table struct {
	Title string
	// RowHeading heads the names of the rows; "" means System.
	RowHeading string
	// Groups head the columns after the first, left to right.
	Groups []ColumnGroup
	Rows   []TableRow
	Notes  []string

	charts []page.Chart // drawn where there is a page to draw on
}

// ColumnGroup is a group of columns under one heading.
type ColumnGroup struct {
	Heading string
	Columns []string
	// Qualified columns make no sense without the heading.
	Qualified bool
}

// TableRow is a named row of cells. Published rows are not of this run.
type TableRow struct {
	Name      string
	Cells     []Cell
	Published bool
}

// Cell is one figure as text; Best marks the best of its column. Interval is
// its 95 % confidence interval, "" where there is none.
type Cell struct {
	Text     string
	Best     bool
	Interval string
}

// measured is a figure with its interval; both may be nil. A size is no
// percentage. What is unmarked is never the best of its column, and keeps none from
// being it.
type measured struct {
	value    *float64
	interval *Interval
	size     bool
	unmarked bool
	ranked   bool // of the ranked chunks
}

// clean takes out of names and notes what could steer a terminal.
func (t *Table) clean() {
	t.Title = text.OneLine(t.Title)
	for i := range t.Rows {
		t.Rows[i].Name = text.OneLine(t.Rows[i].Name)
	}
	for i := range t.Notes {
		t.Notes[i] = text.OneLine(t.Notes[i])
	}
}

// Heading returns the heading of the rows.
func (t Table) Heading() string {
	return cmp.Or(t.RowHeading, "System")
}

// Columns returns the column headings without their groups.
func (t Table) Columns() []string {
	var out []string
	for _, g := range t.Groups {
		out = append(out, g.Columns...)
	}
	return out
}

// fill adds rows of figures and marks the best of every column.
func (t *Table) fill(names []string, rows [][]measured) {
	for i, name := range names {
		row := TableRow{Name: name}
		for c, m := range rows[i] {
			cell := Cell{Text: percent(m.value), Best: !m.unmarked && isBest(rows, c, m.value)}
			if m.size && m.value != nil {
				cell.Text = decimal(m.value, 0)
			}
			if m.interval != nil {
				cell.Interval = fmt.Sprintf("%.1f–%.1f", 100*m.interval[0], 100*m.interval[1])
			}
			row.Cells = append(row.Cells, cell)
		}
		t.Rows = append(t.Rows, row)
	}
}

// isBest tells whether no figure of a column is larger than f, and one is smaller:
// where all are equal there is no best.
func isBest(rows [][]measured, column int, f *float64) bool {
	if f == nil {
		return false
	}
	smaller := false
	for _, row := range rows {
		m := row[column]
		if m.unmarked || m.value == nil {
			continue
		}
		if *m.value > *f {
			return false
		}
		smaller = smaller || *m.value < *f
	}
	return smaller
}

// addTexts adds a row of texts; without any, all its cells are n/a.
func (t *Table) addTexts(name string, texts ...string) {
	row := TableRow{Name: name}
	for i := range t.Columns() {
		cell := Cell{Text: notApplicable}
		if len(texts) > 0 {
			cell.Text = texts[i]
		}
		row.Cells = append(row.Cells, cell)
	}
	t.Rows = append(t.Rows, row)
}
