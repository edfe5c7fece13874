// SPDX-License-Identifier: Apache-2.0

package lightrag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// The entities of the question bring their relations, and the chunks of both.
func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := lightrag.New(k, lightrag.Options{Mode: lightrag.Local})
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
	a, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(system.Name())
	for _, h := range a.Ranked {
		fmt.Println(h.Chunk.Doc)
	}
	for _, d := range a.Derived {
		if d.Kind == "relation" {
			fmt.Println(d.Text)
		}
	}
	// Output:
	// lightrag-local
	// fram.md
	// archer.md
	// Colin Archer – Fram: The Fram was built by Colin Archer.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
}
