// SPDX-License-Identifier: Apache-2.0

package fastgraphrag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// The system is told what the texts are about and what will be asked; a model's
// extractions depend on it.
func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := fastgraphrag.New(k, fastgraphrag.Options{
		Domain:    "Ships of polar explorers, and who built and sailed them.",
		Questions: []string{"Who built the Fram?"},
		Types:     []string{"person", "ship", "place"},
	})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	docs := graphrag.Documents(
		graphrag.Document{ID: "fram.md", Text: "The Fram was built by Colin Archer."},
		graphrag.Document{ID: "archer.md", Text: "Colin Archer was born in Larvik."},
	)
	if _, err := system.Index(ctx, docs); err != nil {
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, h := range a.Ranked {
		fmt.Println(h.Chunk.Doc)
	}
	for _, d := range a.Derived {
		if d.Kind == "relation" {
			fmt.Println(d.Text)
		}
	}
	// Output:
	// fram.md
	// archer.md
	// Fram – Colin Archer: The Fram was built by Colin Archer.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
}
