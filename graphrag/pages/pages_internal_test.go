// SPDX-License-Identifier: Apache-2.0

package pages

import (
	"fmt"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The memory for questions does not grow with their number, whatever their budgets.
func TestPagesMemory(t *testing.T) {
	var docs []graphrag.Document
	for i := range 40 {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("Ship %d carries tar.", i)})
	}
	pages := check.Of(Cut(t.Context(), docs, CutOptions{})).OK(t)
	p := check.Of(New(t.Context(), pages, Options{})).OK(t)
	one := p.memory.New().(*queryMemory)
	p.memory.New = func() any { return one }
	for range 12 {
		for _, tokens := range []int{500, 3000} {
			check.OK(t, check.Err(p.Retrieve(t.Context(), graphrag.Question{Text: "Which ship carries tar?", Tokens: tokens})))
		}
	}
	n := cap(one.list)
	check.True(t, n <= 2*len(pages), "room for %d candidates, of %d pages", n, len(pages))
}

// For many tiles, the weights do not depend on the level and spread of an encoder's cosines; for few, typical
// values are used.
func TestDeviation(t *testing.T) {
	var wide, narrow []float64
	for i := range 5000 {
		x := math.Sin(float64(i))
		wide, narrow = append(wide, .3*x), append(narrow, .7+.06*x)
	}
	of := func(x []float64) float64 {
		var d deviation
		d.add(x)
		return d.value()
	}
	ratio := of(wide) / of(narrow)
	check.True(t, math.Abs(ratio-5) <= .3, "cosines five times as far apart: %v", ratio)
	for _, few := range [][]float64{{.9}, {.5, .5}, {.45, .55}} {
		got := of(few)
		check.True(t, math.Abs(got-usualDeviation) <= .002, "%v: %v", few, got)
	}
}
