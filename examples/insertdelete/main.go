// SPDX-License-Identifier: Apache-2.0

// Command insertdelete changes a finished index: readers see the state of the last change.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func main() {
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	system, err := flat.NewBM25(parts, flat.BM25Options{})
	if err != nil {
		log.Fatal(err)
	}
	if _, err := system.Index(ctx, graphrag.Documents(graphrag.Document{ID: "owl", Text: "Barn owls hear mice."})); err != nil {
		log.Fatal(err)
	}
	stats, err := system.Insert(ctx, graphrag.Documents(
		graphrag.Document{ID: "fram", Text: "Colin Archer built the Fram."}, graphrag.Document{ID: "gjoa", Text: "Amundsen bought the Gjøa."}))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("after an insert:", stats.Documents, "documents")
	if stats, err = system.Delete(ctx, "owl"); err != nil {
		log.Fatal(err)
	}
	found, err := system.Retrieve(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("after a delete:", stats.Documents, "documents; found:", found.Ranked[0].Chunk.Doc)
}
