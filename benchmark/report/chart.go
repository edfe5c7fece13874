// SPDX-License-Identifier: Apache-2.0

package report

// chart is a horizontal bar chart of one figure.
type chart struct {
	Title string
	Bars  []bar
}

type bar struct {
	Name, Text string
	Value      float64
}

func (c *chart) add(name string, value *float64, text string) {
	c.Bars = append(c.Bars, bar{Name: name, Text: text, Value: deref(value)})
}

// Width is the length of a bar in percent: of 1, or of the longest if that is
// more.
func (c chart) Width(b bar) float64 {
	full := 1.0
	for _, other := range c.Bars {
		full = max(full, other.Value)
	}
	return 100 * b.Value / full
}
