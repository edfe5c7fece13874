// SPDX-License-Identifier: Apache-2.0

package wildgraph_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
)

func ExampleLoad() {
	// With a checkout of the data set: os.DirFS("WildGraphBench").
	set, err := wildgraph.Load(small(), benchmark.LoadOptions{Domains: []string{"birds"}})
	if err != nil {
		panic(err)
	}
	fmt.Println(len(set.Domains[0].Items), "questions over", set.Domains[0].Pages, "pages")
	for _, it := range set.Domains[0].Items {
		fmt.Println(it.Question.ID, it.Type, it.Gold)
	}
	// Output:
	// 3 questions over 4 pages
	// birds/1 single-fact [[Hearing of Owls.txt]]
	// birds/2 multi-fact [[Hearing of Owls.txt] [Sight.txt Vision.txt]]
	// birds/4 summary [[Sight.txt Vision.txt] [page.txt]]
}

func ExampleSlug() {
	fmt.Println(wildgraph.Slug("Typhoon Bolaven: 59 dead – CNN.com"))
	// Output:
	// Typhoon Bolaven 59 dead CNNcom
}
