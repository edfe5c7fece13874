// SPDX-License-Identifier: Apache-2.0

package page

import (
	"fmt"
	"strconv"
)

// Table is a table with the charts that are drawn above it.
type Table struct {
	Title string
	// Heading heads the names of the rows, Groups the columns after them.
	Heading string
	Groups  []Group
	Rows    []Row
	Notes   []string
	Charts  []Chart
	// Open tells that the table is not folded.
	Open bool
}

// Group is a group of columns under one heading.
type Group struct {
	Heading string
	Columns []string
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

// Chart draws lines over a count, or bars.
type Chart struct {
	Title string `json:"title"`
	// X names the axis of lines; on a logarithmic one no value is 0.
	X    string `json:"x,omitempty"`
	LogX bool   `json:"log_x,omitempty"`
	LogY bool   `json:"log_y,omitempty"`
	// Lines are in percent. Without them there are bars.
	Lines []Line `json:"lines,omitempty"`
	Bars  []Bar  `json:"bars,omitempty"`
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

// Bar is a named value, and the value as text.
type Bar struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Text  string  `json:"text"`
}

// data are the values of a chart in words, for those who do not see it.
func (c Chart) data() []string {
	var out []string
	for _, l := range c.Lines {
		for _, p := range l.Points {
			out = append(out, fmt.Sprintf("%s: %s at %s", l.Name, short(p.Y), short(p.X)))
		}
	}
	for _, b := range c.Bars {
		out = append(out, b.Name+": "+b.Text)
	}
	return out
}

// short is a number with four significant digits.
func short(f float64) string {
	if f >= 1000 {
		return strconv.FormatFloat(f, 'f', 0, 64)
	}
	return strconv.FormatFloat(f, 'g', 4, 64)
}
