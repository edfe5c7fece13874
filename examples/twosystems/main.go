// SPDX-License-Identifier: Apache-2.0

// Command twosystems compares the results of two systems for the same question.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func main() {
	ctx := context.Background()
	docs := []graphrag.Document{
		{ID: "fram", Title: "Fram", Text: "Colin Archer built the Fram for Fridtjof Nansen."},
		{ID: "archer", Title: "Colin Archer", Text: "Colin Archer was born in Larvik."},
		{ID: "owl", Title: "Barn owl", Text: "Barn owls hear mice under the snow."},
	}
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	for _, name := range []string{"bm25", "hipporag2"} {
		entry, _ := all.Find(name)
		system, err := entry.New(parts, kit.Common{})
		if err != nil {
			log.Fatal(err)
		}
		_, err = system.Index(ctx, graphrag.Documents(docs...))
		if err != nil {
			log.Fatal(err)
		}
		found, err := system.Retrieve(ctx, graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Print(name, ":")
		for _, hit := range found.Ranked[:min(2, len(found.Ranked))] {
			fmt.Print(" ", hit.Chunk.Doc)
		}
		fmt.Println()
	}
}
