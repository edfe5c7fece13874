// SPDX-License-Identifier: Apache-2.0

package graphrag_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/extract/rules"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
	"github.com/wildgraph/wildgraph/graphrag/reader"
)

// A retriever of the caller: words find chunks, random walks from these through names that chunks share find
// more, and the reader quotes the best.
func Example_composition() {
	ctx := context.Background()
	docs := []graphrag.Document{
		{ID: "larvik.md", Text: "Colin Archer lived in Larvik. The town of Larvik is known for its harbour."},
		{ID: "fram.md", Text: "The Fram was built by Colin Archer. Fridtjof Nansen sailed the Fram."},
		{ID: "owls.md", Text: "Owls of the Arctic hunt by day."},
	}
	cutter := must(chunk.New(chunk.Options{}))
	var chunks []graphrag.Chunk
	for _, d := range docs {
		chunks = append(chunks, must(cutter.Document(ctx, d))...)
	}
	words := must(bm25.Build(ctx, chunks, bm25.Options{}))
	extractor := must(rules.New(rules.Options{}))
	base := must(kg.NewBase(kg.Options{}))
	if err := base.Insert(must(extractor.Extract(ctx, chunks))...); err != nil {
		log.Fatal(err)
	}
	g := must(base.Graph(ctx))
	view := must(g.View(kg.ViewOptions{Passages: true, Mentioned: true}))
	walk := must(ppr.New(view.Graph, ppr.Options{}))

	question := graphrag.Question{Text: "Who built the Fram?"}
	var seeds []ppr.Seed
	for _, hit := range words.Search(question.Text, 1, nil) { // hit.ID is an index into chunks
		if p, ok := g.Passage(chunks[hit.ID].ID); ok {
			seeds = append(seeds, ppr.Seed{Node: view.Passage(p), Weight: hit.Score})
		}
	}
	scores := must(walk.Solve(ctx, seeds, nil))
	var top rank.Top[int32]
	top.Reset(2)
	for i, c := range chunks {
		if p, ok := g.Passage(c.ID); ok {
			top.Push(int32(i), scores[view.Passage(p)])
		}
	}
	var evidence []graphrag.Hit
	for _, best := range top.Append(nil) {
		evidence = append(evidence, graphrag.Hit{Chunk: chunks[best.ID], Score: best.Score})
		fmt.Println(chunks[best.ID].Doc)
	}
	quote := must(reader.Extractive(reader.ExtractiveOptions{Mode: reader.Open}))
	fmt.Println(must(quote.Read(ctx, question, evidence, nil)).Text)
	// Output:
	// fram.md
	// larvik.md
	// The Fram was built by Colin Archer.
}

func must[T any](v T, err error) T {
	if err != nil {
		log.Fatal(err)
	}
	return v
}
