// SPDX-License-Identifier: Apache-2.0

package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark/page"
	"github.com/wildgraph/wildgraph/benchmark/record"
)

func TestPoints(t *testing.T) {
	var c page.Chart
	addPoint(&c, "a", 2, measured{value: ref(0.10), interval: &Interval{0.05, 0.30}})
	addPoint(&c, "a", 7, measured{})
	addPoint(&c, "a", 12, measured{value: ref(0.20)})
	addPoint(&c, "b", 2, measured{value: ref(0)})
	want := []page.Line{
		{Name: "a", Points: []page.Point{{X: 2, Y: 10, Low: ref(5), High: ref(30)}, {X: 12, Y: 20}}},
		{Name: "b", Points: []page.Point{{X: 2}}},
	}
	if diff := cmp.Diff(want, c.Lines); diff != "" {
		t.Error(diff)
	}
	log := page.Chart{LogY: true}
	addPoint(&log, "a", 1, measured{value: ref(0)})
	if len(log.Lines) != 0 {
		t.Error("0 has a point on a logarithmic axis")
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
