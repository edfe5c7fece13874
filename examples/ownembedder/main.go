// SPDX-License-Identifier: Apache-2.0

// Command ownembedder searches by its own vectors: counts of letters.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// letters is an embed.Func: a vector of 26 components for each text.
func letters(ctx context.Context, texts []string) (rows [][]float32, err error) {
	for _, text := range texts {
		row := make([]float32, 26)
		for _, r := range strings.ToLower(text) {
			if 'a' <= r && r <= 'z' {
				row[r-'a']++
			}
		}
		rows = append(rows, row)
	}
	return rows, ctx.Err()
}

func main() {
	ctx := context.Background()
	chunks := []graphrag.Chunk{
		{ID: "c0", Doc: "fram", Text: "Colin Archer built the Fram."},
		{ID: "c1", Doc: "owl", Text: "Owls hoot."},
	}
	index, err := retrieve.NewDense(ctx, chunks, embed.Func(letters))
	if err != nil {
		log.Fatal(err)
	}
	// A kit takes it as well: kit.Kit.WithEmbedder.
	found, err := index.Retrieve(ctx, graphrag.Question{Text: "hoo! hoo!", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("found:", found.Ranked[0].Chunk.Doc)
}
