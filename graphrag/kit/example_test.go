// SPDX-License-Identifier: Apache-2.0

package kit_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// A system of one's own: what a recipe builds over a corpus is its retriever.
func Example() {
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	system, err := kit.New(kit.Frame{
		Name: "words", Kit: parts,
		Common: kit.Common{Progress: func(s graphrag.IndexStats) { fmt.Println(s.Documents, "documents,", s.Chunks, "chunks") }},
		Build: func(ctx context.Context, c *kit.Corpus) (graphrag.Retriever, error) {
			return retrieve.NewSparse(ctx, c.Chunks, bm25.Options{})
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if _, err := system.Index(ctx, graphrag.Documents(
		graphrag.Document{ID: "fram.md", Text: "Colin Archer built the Fram."},
		graphrag.Document{ID: "gjoa.md", Text: "Amundsen sailed the Gjoa."},
	)); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(system.List(ctx))
	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	fmt.Println(answer.Text, err)
	// Output:
	// 2 documents, 2 chunks
	// [fram.md gjoa.md] <nil>
	// Colin Archer built the Fram. <nil>
}
