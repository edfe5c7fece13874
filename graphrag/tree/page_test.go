// SPDX-License-Identifier: Apache-2.0

package tree_test

import (
	"context"
	"io/fs"
	"os"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/wildgraph/wildgraph/graphrag/chunk"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/summary"
	"github.com/wildgraph/wildgraph/graphrag/tree"
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
		spans, err := splitter.Split(context.Background(), page)
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
		s, err := summary.Extractive(summary.ExtractiveOptions{})
		if err != nil {
			t.Fatal(err)
		}
		sequential, err := tree.Sequential(t.Context(), [][]string{leaves}, tree.SequentialOptions{Summarizer: s})
		if err != nil {
			t.Fatal(err)
		}
		for name, built := range map[string]*tree.Tree{
			"sequential": sequential, "raptor": raptor(t, leaves, tree.RaptorOptions{Summarizer: s, Embedder: e}),
		} {
			checkTree(t, built, leaves)
			if len(built.Levels) < 2 {
				t.Errorf("page %d, %s: levels %v", i, name, sizes(built))
			}
			for _, n := range built.Nodes {
				if n.Level == 0 {
					continue
				}
				var texts []string
				for _, c := range n.Children {
					texts = append(texts, built.Nodes[c].Text)
				}
				for _, q := range n.Quotes {
					source := texts[q.Source][q.SourceStart:q.SourceEnd]
					words := strings.FieldsFunc(n.Text[q.Start:q.End], func(r rune) bool { return !unicode.IsLetter(r) })
					// A link may end within a word, so only its beginning is looked for.
					if len(words) > 0 && !strings.Contains(source, string([]rune(words[0])[:min(4, utf8.RuneCountInString(words[0]))])) {
						t.Fatalf("page %d, %s: quote %q is not of %q", i, name, n.Text[q.Start:q.End], source)
					}
				}
			}
		}
	}
}
