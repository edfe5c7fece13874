// SPDX-License-Identifier: Apache-2.0

package stats_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/judge/stats"
)

func ExampleWilson() {
	interval, err := stats.Wilson(14, 20, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(interval)
	// Output: 0.700 [0.481, 0.855] (95 %, n = 20)
}

// Twelve questions about four pages, answered by two systems.
func ExampleCompare() {
	a := []float64{0, .5, 1, .2, .3, .1, 1, 1, .8, 0, .1, .4}
	b := []float64{.5, .5, 1, .6, .7, .5, 1, .9, 1, .4, .1, .8}
	pages := []string{"p1", "p1", "p1", "p2", "p2", "p2", "p3", "p3", "p3", "p4", "p4", "p4"}
	comparison, err := stats.Compare(a, b, stats.Number(pages), stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%v, p = %.3f, detectable %.3f\n", comparison.Effect, comparison.P, comparison.Detectable(1))
	// Output: 0.217 [-0.086, 0.433] (95 %, n = 12), p = 0.137, detectable 0.338
}

func ExampleHolm() {
	adjusted, err := stats.Holm([]float64{.01, .04, .03})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(adjusted)
	// Output: [0.03 0.06 0.06]
}
