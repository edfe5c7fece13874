// SPDX-License-Identifier: Apache-2.0

package hipporag2_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/wildgraph/wildgraph/examples/baselines/hipporag2"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// paragraphs splits a text at empty lines; its spans cover the text.
func paragraphs(_ context.Context, text string) (spans []chunk.Span, err error) {
	start := 0
	for part := range strings.SplitAfterSeq(text, "\n\n") {
		spans = append(spans, chunk.Span{Start: start, End: start + len(part)})
		start += len(part)
	}
	return spans, nil
}

// letters embeds a text as the counts of its letters.
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

// The system takes parts of the caller: here a splitter at paragraphs, and an embedder that counts letters.
func ExampleNew() {
	ctx := context.Background()
	parts, err := kit.Offline(kit.OfflineOptions{})
	cut := kit.Cut{Splitter: chunk.SplitterFunc(paragraphs), Name: "paragraphs"}
	system, err1 := hipporag2.New(parts.WithEmbedder(embed.Func(letters)), hipporag2.Options{Common: kit.Common{Cut: cut}})
	page := graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the ship in Larvik.\n\nAmundsen sailed her south."}
	stats, err2 := system.Index(ctx, graphrag.Documents(page))
	answer, err3 := system.Answer(ctx, graphrag.Question{Text: "Who built the ship?", K: 1})
	fmt.Println(stats.Chunks, answer.Text, errors.Join(err, err1, err2, err3))
	// Output: 2 Colin Archer built the ship in Larvik. <nil>
}
