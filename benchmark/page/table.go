// SPDX-License-Identifier: Apache-2.0

package page

import "fmt"

// Table is a table with the charts that are drawn above it.
type Table struct {
	Title string
	// Heading heads the names of the rows, Groups the columns after them.
	Heading string
	Groups  []Group
	Rows    []Row
	Notes   []string
	Charts  []Chart
}

// Columns lists the column headings without their groups.
func (t Table) Columns() []string {
	var out []string
	for _, g := range t.Groups {
		out = append(out, g.Columns...)
	}
	return out
}

// Group is a group of columns under one heading. Qualified columns make no sense without
// the heading.
type Group struct {
	Heading   string
	Columns   []string
	Qualified bool
}

// Row is a named row of cells. Published rows are not of this run.
type Row struct {
	Name      string
	Cells     []Cell
	Published bool
}

// Cell is one figure as text. Best marks the best of its column, Interval is ""
// where there is none.
type Cell struct {
	Text     string
	Best     bool
	Interval string
}

// Chart draws lines over a count.
type Chart struct {
	Title string `json:"title"`
	// X names the horizontal axis; the vertical one is in percent.
	X     string `json:"x,omitempty"`
	Lines []Line `json:"lines,omitempty"`
}

// Line is a named line, its points in ascending order of X.
type Line struct {
	Name   string  `json:"name"`
	Points []Point `json:"points"`
}

// Point is a value over X, with its interval where there is one.
type Point struct {
	X    float64  `json:"x"`
	Y    float64  `json:"y"`
	Low  *float64 `json:"low,omitempty"`
	High *float64 `json:"high,omitempty"`
}

// data lists the values of a chart in words, for readers who cannot see it.
func (c Chart) data() []string {
	var out []string
	for _, l := range c.Lines {
		for _, p := range l.Points {
			out = append(out, fmt.Sprintf("%s: %.4g at %.4g", l.Name, p.Y, p.X))
		}
	}
	return out
}
