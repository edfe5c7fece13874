// SPDX-License-Identifier: Apache-2.0

package graphrag_test

import (
	"context"
	"fmt"
	"strings"
	"testing/fstest"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
)

// A published system over a folder of files, offline.
func Example() {
	ctx := context.Background()
	notes := fstest.MapFS{"fram.md": {Data: []byte("The Fram was built by Colin Archer in Larvik.")}} // or os.DirFS("notes")
	parts, _ := kit.Offline(kit.OfflineOptions{})
	system, _ := hipporag2.New(parts, hipporag2.Options{})
	if _, err := system.Index(ctx, load.Documents(ctx, notes)); err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 5})
	fmt.Println(answer.Text)
	fmt.Println(answer.Evidence[0].Chunk.Doc)
	// Output:
	// The Fram was built by Colin Archer in Larvik.
	// fram.md
}

// A function is a Retriever: here, one that finds the chunks that hold the
// question.
func ExampleRetrieverFunc() {
	chunks := []graphrag.Chunk{
		{ID: "owls.md#000000", Doc: "owls.md", Text: "Owls hunt by ear."},
		{ID: "owls.md#000001", Doc: "owls.md", Text: "Owls fly silently."},
	}
	var r graphrag.Retriever = graphrag.RetrieverFunc(
		func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
			var hits []graphrag.Hit
			for _, c := range chunks {
				if len(hits) < q.Want() && strings.Contains(c.Text, q.Text) {
					hits = append(hits, graphrag.Hit{Chunk: c, Score: 1, Source: "substring"})
				}
			}
			return graphrag.Found{Ranked: hits}, nil
		})
	found, _ := r.Retrieve(context.Background(), graphrag.Question{Text: "silently", K: 5})
	for _, h := range found.Ranked {
		fmt.Println(h.Chunk.ID, h.Chunk.Text)
	}
	// Output:
	// owls.md#000001 Owls fly silently.
}

func ExampleUsage_Add() {
	a := graphrag.Usage{Calls: 1, PromptTokens: 900, CompletionTokens: 40}
	b := graphrag.Usage{CachedCalls: 1} // served from the cache: costs nothing
	fmt.Printf("%+v\n", a.Add(b))
	// Output:
	// {Calls:1 CachedCalls:1 PromptTokens:900 CompletionTokens:40 EmbeddedTokens:0 ProviderCached:0 Estimated:false Unread:0}
}
