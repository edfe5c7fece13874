// SPDX-License-Identifier: Apache-2.0

// Command ownchunker cuts documents by a rule of one's own: a chunk for each paragraph.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
)

// paragraphs is a chunk.Splitter: spans that put the text together again.
type paragraphs struct{}

func (paragraphs) Split(_ context.Context, text string) (spans []chunk.Span, err error) {
	start := 0
	for part := range strings.SplitAfterSeq(text, "\n\n") {
		spans = append(spans, chunk.Span{Start: start, End: start + len(part)})
		start += len(part)
	}
	return spans, nil
}

func main() {
	ctx := context.Background()
	chunker, err := chunk.New(chunk.Options{Splitter: paragraphs{}})
	if err != nil {
		log.Fatal(err)
	}
	chunks, err := chunker.Document(ctx, graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the ship in Larvik.\n\nAmundsen sailed her south."})
	if err != nil {
		log.Fatal(err)
	}
	index, err := retrieve.NewSparse(ctx, chunks, bm25.Options{})
	if err != nil {
		log.Fatal(err)
	}
	found, err := index.Retrieve(ctx, graphrag.Question{Text: "Who sailed south?", K: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%d chunks; found: %s\n", len(chunks), found.Ranked[0].Chunk.Text)
}
