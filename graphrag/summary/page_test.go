// SPDX-License-Identifier: Apache-2.0

package summary_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/summary"
)

// TestTreesOfPages builds both trees of real pages.
func TestTreesOfPages(t *testing.T) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		t.Skip("WILDGRAPHBENCH_DIR is not set")
	}
	var pages []string
	files := os.DirFS(dir)
	err := fs.WalkDir(files, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(path, "reference_pages/") {
			return err
		}
		if data, err := fs.ReadFile(files, path); err == nil && len(data) > 20_000 && len(data) < 60_000 {
			pages = append(pages, string(data))
		}
		if len(pages) == 10 {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil || len(pages) < 10 {
		t.Fatalf("%d pages in %s: %v", len(pages), dir, err)
	}
	splitter, err := chunk.Sentences(chunk.SentenceOptions{MaxTokens: 100})
	if err != nil {
		t.Fatal(err)
	}
	for i, page := range pages {
		spans, err := splitter.Split(page)
		if err != nil {
			t.Fatal(err)
		}
		var leaves []string
		for _, s := range spans {
			leaves = append(leaves, page[s.Start:s.End])
		}
		e, err := embed.FitLSA(t.Context(), leaves, embed.LSAOptions{Dim: 64})
		if err != nil {
			t.Fatal(err)
		}
		s := extractive(t, summary.ExtractiveOptions{})
		sequential, err := summary.Sequential(t.Context(), leaves, summary.SequentialOptions{Summarizer: s})
		if err != nil {
			t.Fatal(err)
		}
		for name, tree := range map[string]*summary.Tree{
			"sequential": sequential, "raptor": raptor(t, leaves, summary.RaptorOptions{Summarizer: s, Embedder: e}),
		} {
			checkTree(t, tree, leaves)
			if len(tree.Levels) < 2 {
				t.Errorf("page %d, %s: levels %v", i, name, sizes(tree))
			}
			for _, n := range tree.Nodes {
				if n.Level == 0 {
					continue
				}
				var texts []string
				for _, c := range n.Children {
					texts = append(texts, tree.Nodes[c].Text)
				}
				checkQuotes(t, texts, summary.Summary{Text: n.Text, Quotes: n.Quotes})
			}
		}
	}
}

func ExampleRaptor() {
	var leaves []string
	for _, day := range []string{"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"} {
		leaves = append(leaves,
			"The ferry to the island sails at noon on "+day+".",
			"Bread at the bakery is fresh from the oven on "+day+".")
	}
	embedder, err := embed.FitLSA(context.Background(), leaves, embed.LSAOptions{Dim: 8})
	if err != nil {
		fmt.Println(err)
		return
	}
	summarizer, err := summary.Extractive(summary.ExtractiveOptions{Tokens: 12})
	if err != nil {
		fmt.Println(err)
		return
	}
	tree, err := summary.Raptor(context.Background(), leaves, summary.RaptorOptions{
		Summarizer: summarizer, Embedder: embedder, Dim: 2, MaxLevels: 1, Regularization: .1,
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	mixed := 0
	for _, root := range tree.Roots() {
		ferries, below := 0, tree.Leaves(root)
		for _, leaf := range below {
			if strings.Contains(leaves[leaf], "ferry") {
				ferries++
			}
		}
		if ferries > 0 && ferries < len(below) {
			mixed++
		}
	}
	fmt.Println(len(tree.Levels), "levels, summaries of ferries and bread together:", mixed)
	first, _ := tree.Level(1)
	fmt.Println(tree.Nodes[first].Text)
	// Output:
	// 2 levels, summaries of ferries and bread together: 0
	// The ferry to the island sails at noon on Monday.
}
