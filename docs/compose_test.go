// SPDX-License-Identifier: Apache-2.0

package docs_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/flat"
	"github.com/wildgraph/wildgraph/examples/baselines/hipporag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// Systems are retrievers: HippoRAG and BM25 fused, at most one chunk of a page,
// asked again with what was found, as IRCoT does with a model's sentence.
func Example_compose() {
	ctx := context.Background()
	parts, _ := kit.Offline(kit.OfflineOptions{Seed: 1})
	graph, _ := hipporag.New(parts, hipporag.Options{})
	words, _ := flat.NewBM25(parts, flat.BM25Options{})
	for _, system := range []graphrag.System{graph, words} {
		if _, err := system.Index(ctx, graphrag.Documents(baselinestest.Pages...)); err != nil {
			panic(err)
		}
	}
	both, _ := retrieve.Fuse(graph, words)
	pages, _ := retrieve.PerDoc(both, 1)
	next := func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		sentences := strings.SplitAfter(m.Found.Ranked[0].Chunk.Text, ". ")
		return agent.Move{Query: strings.TrimSpace(sentences[1])}, nil
	}
	hops, err := agent.Reflecting(pages, pages, next, agent.Options{
		Steps: 1, Merge: func(_ context.Context, all []graphrag.Found, want int) (graphrag.Found, error) {
			return retrieve.Highest(all, want)
		},
	})
	if err != nil {
		panic(err)
	}
	found, err := hops.Retrieve(ctx, graphrag.Question{Text: "Where was the builder of the Fram born?", K: 3})
	if err != nil {
		panic(err)
	}
	for _, step := range found.Steps {
		if step.Kind == "search" {
			fmt.Println("searched:", step.Query)
		}
	}
	for _, hit := range found.Ranked {
		fmt.Println(hit.Chunk.Doc)
	}
	// Output:
	// searched: Colin Archer built the ship in Larvik for Fridtjof Nansen.
	// fram.md
	// larvik.md
	// amundsen.md
}
