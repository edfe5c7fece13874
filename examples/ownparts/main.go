// SPDX-License-Identifier: Apache-2.0

// Command ownparts gives a published system parts of its own: a chunker that cuts at paragraphs, and an embedder
// whose vectors are counts of letters.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// paragraphs is a chunk.SplitterFunc: its spans cover the text.
func paragraphs(_ context.Context, text string) (spans []chunk.Span, err error) {
	start := 0
	for part := range strings.SplitAfterSeq(text, "\n\n") {
		spans = append(spans, chunk.Span{Start: start, End: start + len(part)})
		start += len(part)
	}
	return spans, nil
}

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
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		log.Fatal(err)
	}
	parts = parts.WithEmbedder(embed.Func(letters))
	cut := kit.Cut{Splitter: chunk.SplitterFunc(paragraphs), Name: "paragraphs"}
	system, err := hipporag2.New(parts, hipporag2.Options{Common: kit.Common{Cut: cut}})
	if err != nil {
		log.Fatal(err)
	}
	page := graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the ship in Larvik.\n\nAmundsen sailed her south."}
	stats, err := system.Index(ctx, graphrag.Documents(page))
	if err != nil {
		log.Fatal(err)
	}
	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who built the ship?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chunks; answer: %s\n", stats.Chunks, answer.Text)
}
