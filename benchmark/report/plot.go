// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

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

// plot is a line plot of shares over a count.
type plot struct {
	Title, X   string
	LogX, LogY bool
	Lines      []plotLine
}

// plotLine is one named line, its points in ascending order of X.
type plotLine struct {
	Name   string
	Points []plotPoint
}

// plotPoint is a share in percent with its interval, if there is one.
type plotPoint struct {
	X, Y     float64
	Interval *Interval
}

// add appends a point to a line and makes the line if it is new. What is not
// defined, and 0 on a logarithmic axis, is no point.
func (p *plot) add(name string, x int, m measured) {
	if m.value == nil || p.LogY && *m.value <= 0 {
		return
	}
	if n := len(p.Lines); n == 0 || p.Lines[n-1].Name != name {
		p.Lines = append(p.Lines, plotLine{Name: name})
	}
	line := &p.Lines[len(p.Lines)-1]
	line.Points = append(line.Points, plotPoint{float64(x), 100 * *m.value, m.interval})
}

// The drawing area of a plot, in the units of its SVG.
const (
	plotWidth, plotHeight = 640, 330
	plotLeft, plotTop     = 52, 12
	plotRight, plotBottom = 624, 276

	plotColours   = 8  // more lines are dashed
	intervalLines = 3  // with more lines, intervals are left out
	xTicks        = 12 // at most, on a linear axis
	yTicks        = 7
)

// drawing is a plot in the coordinates of its SVG.
type drawing struct {
	Title, X                                        string
	Width, Height, Left, Top, Right, Bottom, LabelY int
	XTicks, YTicks                                  []tick
	Lines                                           []drawnLine
}

type tick struct {
	At    string // the coordinate
	Label string
}

type drawnLine struct {
	Name     string
	Colour   int
	Dashed   bool
	Points   string // for a polyline
	Dots     []dot
	Whiskers []whisker
}

type dot struct{ X, Y, Text string }

type whisker struct{ X, Low, High string }

// axis maps values to coordinates.
type axis struct {
	low, high float64 // values, logarithms of them on a logarithmic axis
	from, to  float64 // coordinates
	log       bool
}

func (a axis) scale(v float64) float64 {
	if a.log {
		return math.Log10(v)
	}
	return v
}

func (a axis) at(v float64) string {
	share := 0.5
	if a.high > a.low {
		share = (a.scale(v) - a.low) / (a.high - a.low)
	}
	return strconv.FormatFloat(a.from+share*(a.to-a.from), 'f', 1, 64)
}

// draw computes the coordinates; nil without a point.
func (p plot) draw() *drawing {
	x, y := p.axes()
	if x == nil {
		return nil
	}
	d := &drawing{
		Title: p.Title, X: p.X, Width: plotWidth, Height: plotHeight, Left: plotLeft, Top: plotTop,
		Right: plotRight, Bottom: plotBottom, LabelY: plotBottom + 36, XTicks: x.ticks(xTicks), YTicks: y.ticks(yTicks),
	}
	for i, l := range p.Lines {
		out := drawnLine{Name: l.Name, Colour: i % plotColours, Dashed: i >= plotColours}
		var path []string
		for _, q := range l.Points {
			cx, cy := x.at(q.X), y.at(q.Y)
			path = append(path, cx+","+cy)
			out.Dots = append(out.Dots, dot{cx, cy, fmt.Sprintf("%s: %s at %s", l.Name, short(q.Y), short(q.X))})
			if q.Interval != nil && len(p.Lines) <= intervalLines {
				out.Whiskers = append(out.Whiskers, whisker{cx, y.at(100 * q.Interval[0]), y.at(100 * q.Interval[1])})
			}
		}
		out.Points = strings.Join(path, " ")
		d.Lines = append(d.Lines, out)
	}
	return d
}

// axes hold all points and, where they are drawn, intervals.
func (p plot) axes() (*axis, *axis) {
	x := &axis{low: math.Inf(1), high: math.Inf(-1), from: plotLeft, to: plotRight, log: p.LogX}
	y := &axis{low: math.Inf(1), high: math.Inf(-1), from: plotBottom, to: plotTop, log: p.LogY}
	hold := func(a *axis, v float64) {
		a.low, a.high = min(a.low, a.scale(v)), max(a.high, a.scale(v))
	}
	for _, l := range p.Lines {
		for _, q := range l.Points {
			hold(x, q.X)
			hold(y, q.Y)
			if q.Interval != nil && len(p.Lines) <= intervalLines {
				hold(y, 100*q.Interval[1])
			}
		}
	}
	if math.IsInf(x.low, 1) {
		return nil, nil
	}
	if y.log {
		y.low, y.high = math.Floor(y.low), math.Ceil(y.high)
	} else {
		y.low = 0
		y.high = max(y.high, 1)
	}
	return x, y
}

// ticks are at most so many round numbers, or powers of ten on a logarithmic
// axis.
func (a axis) ticks(most int) []tick {
	var out []tick
	if a.log {
		for e := math.Ceil(a.low); e <= a.high; e++ {
			v := math.Pow(10, e)
			out = append(out, tick{a.at(v), short(v)})
		}
		return out
	}
	step := 1.0
	for i := 0; (a.high-a.low)/step > float64(most); i++ {
		step *= []float64{2, 2.5, 2}[i%3] // 1, 2, 5, 10, 20, …
	}
	for v := math.Ceil(a.low/step) * step; v <= a.high; v += step {
		out = append(out, tick{a.at(v), short(v)})
	}
	return out
}

// short is a number for an axis: one decimal, or two digits below 1.
func short(f float64) string {
	if f != 0 && math.Abs(f) < 1 {
		return strconv.FormatFloat(f, 'g', 2, 64)
	}
	return strings.TrimSuffix(strconv.FormatFloat(f, 'f', 1, 64), ".0")
}
