// SPDX-License-Identifier: Apache-2.0

package flat_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// The textbook definition of BM25 in place of the default recipe, with at most one chunk of a page.
func ExampleNewBM25() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := flat.NewBM25(k, flat.BM25Options{Plain: true, Common: kit.Common{MaxPerDoc: 1}})
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

func ExampleNewZeroShot() {
	model := llmtest.NewScript("scripted").Reply(llmtest.Any, "The moon.")
	k, err := kit.ByModel(kit.ModelOptions{Model: model})
	if err != nil {
		panic(err)
	}
	system, err := flat.NewZeroShot(k)
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	if _, err := system.Index(ctx, nil); err != nil { // the retriever reads no documents
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "What raises the tides?"})
	if err != nil {
		panic(err)
	}
	fmt.Println(a.Text, len(a.Evidence))
	// Output: The moon. 0
}
