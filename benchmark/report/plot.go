// SPDX-License-Identifier: Apache-2.0

package report

import "github.com/wildgraph/wildgraph/benchmark/page"

// addBar adds a bar to a chart of bars; what is not defined has none of a length.
func addBar(c *page.Chart, name string, value *float64, text string) {
	c.Bars = append(c.Bars, page.Bar{Name: name, Value: deref(value), Text: text})
}

// addPoint appends a share to a line of a chart and makes the line if it is new. What
// is not defined, and 0 on a logarithmic axis, is no point.
func addPoint(c *page.Chart, name string, x int, m measured) {
	if m.value == nil || c.LogY && *m.value <= 0 {
		return
	}
	if n := len(c.Lines); n == 0 || c.Lines[n-1].Name != name {
		c.Lines = append(c.Lines, page.Line{Name: name})
	}
	p := page.Point{X: float64(x), Y: 100 * *m.value}
	if m.interval != nil {
		p.Low, p.High = ref(100*m.interval[0]), ref(100*m.interval[1])
	}
	line := &c.Lines[len(c.Lines)-1]
	line.Points = append(line.Points, p)
}
