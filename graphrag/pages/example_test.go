// SPDX-License-Identifier: Apache-2.0

package pages_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/pages"
)

func ExampleCut() {
	var docs []graphrag.Document
	for _, said := range []string{"Barn owls hunt by ear.", "The moon raises the tides.", "The Fram was built in Larvik.", "Amundsen reached the pole in 1911."} {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(len(docs)), Text: "# Notes\n\n[Subscribe](https://example.org) now.\n\n" + said})
	}
	list, err := pages.Cut(context.Background(), docs, pages.CutOptions{})
	if err != nil {
		panic(err)
	}
	for _, p := range list {
		for _, c := range p.Passages() {
			fmt.Printf("%s %q\n", c.ID, c.Text)
		}
	}
	// Output:
	// 0#000000 "# Notes\n\nSubscribe now.\n\nBarn owls hunt by ear."
	// 1#000000 "# Notes\n\nSubscribe now.\n\nThe moon raises the tides."
	// 2#000000 "# Notes\n\nSubscribe now.\n\nThe Fram was built in Larvik."
	// 3#000000 "# Notes\n\nSubscribe now.\n\nAmundsen reached the pole in 1911."
}
