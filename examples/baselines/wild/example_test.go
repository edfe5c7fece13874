// SPDX-License-Identifier: Apache-2.0

package wild_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// The parts of wild without a kit.
func Example() {
	ctx := context.Background()
	docs := []graphrag.Document{
		{ID: "owls.md", Title: "Owls", Text: "Barn owls hunt by ear. A barn owl hears a mouse under the snow."},
		{ID: "tides.md", Title: "Tides", Text: "The moon raises the tides of the sea."},
	}
	pages, err := chunk.Pages(ctx, docs, chunk.PageOptions{})
	if err != nil {
		panic(err)
	}
	system, err := retrieve.NewPages(ctx, pages, retrieve.PagesOptions{})
	if err != nil {
		panic(err)
	}
	q := graphrag.Question{Text: "How does a barn owl find mice?", Tokens: 1000, Depth: 1}
	if text.AsksOverview(q.Text) {
		q.Tokens *= 2
	}
	found, err := system.Retrieve(ctx, q)
	if err != nil {
		panic(err)
	}
	fmt.Println(found.Ranked[0].Chunk.ID, len(found.Evidence), found.Evidence[0].Chunk.Text)
	// Output: owls.md#000000 1 Barn owls hunt by ear. A barn owl hears a mouse under the snow.
}
