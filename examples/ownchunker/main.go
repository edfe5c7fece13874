// SPDX-License-Identifier: Apache-2.0

// Command ownchunker cuts documents for a published system by its own rule: a chunk for each paragraph.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
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

func main() {
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{})
	if err != nil {
		log.Fatal(err)
	}
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
	answer, err := system.Answer(ctx, graphrag.Question{Text: "Who sailed south?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chunks; found: %s\n", stats.Chunks, answer.Ranked[0].Chunk.Text)
}
