// SPDX-License-Identifier: Apache-2.0

package construct_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark/construct"
)

func Example() {
	a := construct.Parse(`# Barn owl

Barn owls catch mice in total darkness.[^1] Everybody knows that.

[^1]: ["Acoustic location of prey"](https://prey.example/owls)
`, "owl.md", construct.Options{})
	grounds := construct.NewGrounds(a.Citations(), func(url string) bool { return true })
	for _, s := range a.Sections() {
		stated, _ := construct.Rules{}.State(context.Background(), a, s)
		gold, _ := grounds.Ground(a, s, stated)
		for _, t := range gold.Triples {
			fmt.Println(gold.Path, t.Statement, t.URLs)
		}
	}
	fmt.Println(a.References()[0].Title)
	// Output:
	// [Barn owl] Barn owls catch mice in total darkness. [https://prey.example/owls]
	// Acoustic location of prey
}
