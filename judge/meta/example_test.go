// SPDX-License-Identifier: Apache-2.0

package meta_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/judge/meta"
	"github.com/wildgraph/wildgraph/judge/stats"
)

func ExampleRatings() {
	// What a judge and a person said about ten answers: 0, 1/2 or 1.
	judge := []float64{1, 1, .5, 0, 0, 1, .5, .5, 0, 1}
	person := []float64{1, .5, .5, 0, 0, 1, 1, .5, 0, 1}
	ratings, err := meta.NewRatings(judge, person)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, m := range []meta.Measure{meta.Exact, meta.KappaQuadratic, meta.AlphaOrdinal} {
		interval, err := ratings.Interval(m, nil, stats.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(m, interval)
	}
	confusion, err := ratings.Confusion(0, 1)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("judge 1, person 1/2:", confusion.At(2, 1))
	// Output:
	// exact 0.800 [0.500, 1.000] (95 %, n = 10)
	// kappa-quadratic 0.855 [0.400, 1.000] (95 %, n = 10)
	// alpha-ordinal 0.842 [0.293, 1.000] (95 %, n = 10)
	// judge 1, person 1/2: 1
}

func ExampleValidate() {
	judge := []float64{1, 1, 0, 0, 1, 0, 1, 0}
	people := [][]float64{{1, 1, 0, 0, 1, 0, 0, 0}, {1, 0, 0, 0, 1, 1, 1, 0}}
	v, err := meta.Validate(judge, people, meta.Exact, nil, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("judge with people %.4f, people with people %.4f\n", v.Judge.Estimate, v.Ceiling.Estimate)
	// Output: judge with people 0.8125, people with people 0.6250
}

// Twelve answers have labels by people, twenty more only a judge's scores.
func ExamplePPI() {
	human := []float64{1, 0, 1, 0, 0, 1, 0, 0, 1, 1, 1, 0}
	judge := []float64{.9, .2, .7, .8, .4, .6, .5, .1, .9, .3, 1, .6}
	others := []float64{.8, .7, .9, .3, .2, .6, .5, .9, 1, .4, .3, .8, .7, .6, .9, .1, .75, .85, .2, .95}
	c, err := meta.PPI(human, judge, others, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("judge %.4f, corrected %.4f [%.4f, %.4f]\n", c.Judge, c.Mean.Estimate, c.Mean.Low, c.Mean.High)
	// Output: judge 0.6225, corrected 0.5392 [0.2715, 0.8069]
}
