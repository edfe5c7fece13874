// SPDX-License-Identifier: Apache-2.0

package article_test

import (
	"fmt"

	"github.com/wildgraph/wildgraph/benchmark/article"
)

func Example() {
	a := article.Parse(`# Barn owl

Barn owls catch mice in total darkness.[^prey]

[^prey]: ["Acoustic location of prey"](https://prey.example/owls)
`, "owl.md", article.Options{})
	for _, s := range a.Sections() {
		for _, m := range article.Marks(s.Body) {
			fmt.Println(s.Path, m.Number, m.Note, a.Citations().URLs(m))
		}
	}
	// Output: [Barn owl] 1 prey [https://prey.example/owls]
}
