// SPDX-License-Identifier: Apache-2.0

package naiverag_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/naiverag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := naiverag.New(k, naiverag.Options{})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	docs := graphrag.Documents(
		graphrag.Document{ID: "owls.md", Text: "Barn owls find a mouse under the snow by ear."},
		graphrag.Document{ID: "tides.md", Text: "The moon raises the tides of the sea."},
	)
	if _, err := system.Index(ctx, docs); err != nil {
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "What raises the tides?", K: 1})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text)
	// Output: The moon raises the tides of the sea.
}
