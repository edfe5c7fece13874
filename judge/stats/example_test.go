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
	fmt.Println(comparison)
	// Output: B - A = +21.7 points, 95 % interval [+6.7, +33.3], p = 0.125; with 12 questions in 4 clusters you cannot see less than 19.5 points
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

// The interval of an F1 of mean precision and mean recall, which is no mean of
// questions.
func ExampleBootstrapStatistic() {
	precision := []float64{.9, .8, .7, 1, .6, .9}
	recall := []float64{.2, .4, .3, .5, .1, .3}
	f1 := func() func([]int32) float64 {
		return func(items []int32) float64 {
			p, r := 0.0, 0.0
			for _, i := range items {
				p += precision[i]
				r += recall[i]
			}
			return 2 * p * r / (p + r) / float64(len(items))
		}
	}
	interval, err := stats.BootstrapStatistic(len(precision), nil, f1, stats.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%.3f, holds .43: %t, holds .7: %t\n", interval.Estimate, interval.Contains(.43), interval.Contains(.7))
	// Output: 0.439, holds .43: true, holds .7: false
}

// Few and skewed scores: the bootstrap follows the skew.
func ExampleBootstrap() {
	scores := []float64{.1, .1, .2, .05, .9, .15, .1, .3, .02, .6, .1, .95}
	t, err := stats.StudentT(scores, nil, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	bca, err := stats.Bootstrap(scores, nil, stats.Options{Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Method, t)
	fmt.Printf("%s is higher at both ends: %t\n", bca.Method, bca.Low > t.Low && bca.High > t.High)
	// Output:
	// student-t 0.298 [0.087, 0.508] (95 %, n = 12)
	// bca is higher at both ends: true
}

func ExamplePermutation() {
	test, err := stats.Permutation([]float64{.2, 0, .05, -.1, .3, .2, .4, .05}, nil, stats.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s, %d patterns, p = %.4f\n", test.Method, test.Patterns, test.P)
	// Output: permutation-exact, 128 patterns, p = 0.0781
}
