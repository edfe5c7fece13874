// SPDX-License-Identifier: Apache-2.0

package passage_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/passage"
)

func ExampleCut() {
	var docs []graphrag.Document
	for _, said := range []string{"Barn owls hunt by ear.", "The moon raises the tides.", "The Fram was built in Larvik.", "Amundsen reached the pole in 1911."} {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(len(docs)), Text: "# Notes\n\n[Subscribe](https://example.org) now.\n\n" + said})
	}
	pages, err := passage.Cut(context.Background(), docs, passage.Options{})
	if err != nil {
		panic(err)
	}
	for _, p := range pages {
		for _, c := range p.Passages() {
			fmt.Printf("%s %q\n", c.ID, c.Text)
		}
	}
	// Output:
	// 0#000000 "# Notes\nSubscribe now.\nBarn owls hunt by ear."
	// 1#000000 "# Notes\nThe moon raises the tides."
	// 2#000000 "# Notes\nThe Fram was built in Larvik."
	// 3#000000 "# Notes\nAmundsen reached the pole in 1911."
}
