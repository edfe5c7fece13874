// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"fmt"
	"os"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// The same chunks, found in memory and in a store.
func ExampleShelf() {
	ctx := context.Background()
	dir, err := os.MkdirTemp("", "find")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	s, err := disk.Open(dir, disk.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	chunks := []graphrag.Chunk{
		{ID: "fram#0", Doc: "fram", Text: "The Fram sailed to Antarctica."},
		{ID: "gjoa#0", Doc: "gjoa", Text: "The Gjøa sailed the Northwest Passage."},
	}
	for _, place := range []kit.Place{{}, {Store: s, Prefix: "ships"}} {
		shelf := kit.NewShelf(place)
		words, err := shelf.Sparse(ctx, chunks, bm25.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		found, err := words.Retrieve(ctx, graphrag.Question{Text: "Which ship sailed to Antarctica?", K: 1})
		fmt.Println(found.Ranked[0].Chunk.Doc, err, shelf.Close())
	}
	// Output:
	// fram <nil> <nil>
	// fram <nil> <nil>
}
