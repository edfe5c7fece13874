// SPDX-License-Identifier: Apache-2.0

package report

import (
	"fmt"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/record"
)

func labels(ticks []tick) []string {
	var out []string
	for _, t := range ticks {
		out = append(out, t.Label)
	}
	return out
}

func TestPlot(t *testing.T) {
	var p plot
	p.add("a", 2, measured{value: ref(0.10), interval: &Interval{0.05, 0.30}})
	p.add("a", 7, measured{})
	p.add("a", 12, measured{value: ref(0.20)})
	p.add("b", 2, measured{value: ref(0)})
	d := p.draw()
	if len(d.Lines) != 2 || len(d.Lines[0].Dots) != 2 {
		t.Fatalf("%+v", d.Lines)
	}
	// The axes go from 2 to 12 and from 0 to the end of the interval.
	at := func(share float64) string {
		return fmt.Sprintf("%.1f", plotBottom+share*(plotTop-plotBottom))
	}
	want := fmt.Sprintf("%d.0,%s %d.0,%s", plotLeft, at(10.0/30), plotRight, at(20.0/30))
	if d.Lines[0].Points != want {
		t.Errorf("points %s, want %s", d.Lines[0].Points, want)
	}
	if diff := cmp.Diff([]whisker{{strconv.Itoa(plotLeft) + ".0", at(5.0 / 30), at(1)}}, d.Lines[0].Whiskers); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12"}, labels(d.XTicks)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"0", "5", "10", "15", "20", "25", "30"}, labels(d.YTicks)); diff != "" {
		t.Error(diff)
	}
	if (plot{}).draw() != nil {
		t.Error("a plot without a point is drawn")
	}
	one := plot{}
	one.add("a", 5, measured{value: ref(0)})
	if got := one.draw().Lines[0].Points; got != fmt.Sprintf("%.1f,%d.0", float64(plotLeft+plotRight)/2, plotBottom) {
		t.Errorf("a single point is at %s", got)
	}
}

func TestLogPlot(t *testing.T) {
	p := plot{LogX: true, LogY: true}
	for i, y := range []float64{1, 0.1, 0.001, 0} {
		p.add("a", []int{1, 10, 100, 1000}[i], measured{value: ref(y)})
	}
	d := p.draw()
	if len(d.Lines[0].Dots) != 3 {
		t.Errorf("0 has a point on a logarithmic axis: %+v", d.Lines[0].Dots)
	}
	if diff := cmp.Diff([][]string{{"1", "10", "100"}, {"0.1", "1", "10", "100"}}, [][]string{labels(d.XTicks), labels(d.YTicks)}); diff != "" {
		t.Error(diff)
	}
}

func TestDegrees(t *testing.T) {
	d := record.Degrees{3, 4, 2, 0, 1}
	for class, want := range []struct {
		least int
		tail  float64
	}{{0, 1}, {1, 0.7}, {2, 0.3}, {4, 0.1}, {8, 0.1}} {
		if least(class) != want.least || tail(d, class) != want.tail {
			t.Errorf("class %d: from %d edges %v, want %+v", class, least(class), tail(d, class), want)
		}
	}
}
