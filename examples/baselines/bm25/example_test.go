// SPDX-License-Identifier: Apache-2.0

package bm25_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/bm25"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// The textbook definition in place of the default recipe, with one chunk of a
// page at most.
func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := bm25.New(k, bm25.Options{Plain: true, Common: kit.Common{MaxPerDoc: 1}})
	if err != nil {
		panic(err)
	}
	docs := graphrag.Documents(graphrag.Document{ID: "owls.md", Text: "Barn owls find a mouse under the snow by ear."})
	stats, err := system.Index(context.Background(), docs)
	if err != nil {
		panic(err)
	}
	fmt.Println(system.Name(), stats.Documents, stats.Chunks)
	// Output: bm25 1 1
}
