// SPDX-License-Identifier: Apache-2.0

// Command fuse searches by words and by vectors, and fuses both rankings.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

func main() {
	ctx := context.Background()
	var chunks []graphrag.Chunk
	var texts []string
	for i, text := range []string{
		"The Fram was built in Larvik by Colin Archer.",
		"The ship drifted through the polar ice for three years.",
		"Barn owls hear a mouse under the snow.",
	} {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprint("c", i), Doc: fmt.Sprint("d", i), Text: text})
		texts = append(texts, text)
	}
	words, err := retrieve.NewSparse(ctx, chunks, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	model, err := embed.FitLSA(ctx, texts, embed.LSAOptions{Seed: 1})
	if err != nil {
		log.Fatal(err)
	}
	meaning, err := retrieve.NewDense(ctx, chunks, model)
	if err != nil {
		log.Fatal(err)
	}
	both, err := retrieve.Fuse(words, meaning)
	if err != nil {
		log.Fatal(err)
	}
	found, err := both.Retrieve(ctx, graphrag.Question{Text: "Who built the Fram?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	for i, hit := range found.Ranked {
		fmt.Printf("%d. %s\n", i+1, hit.Chunk.Text)
	}
}
