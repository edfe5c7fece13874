// SPDX-License-Identifier: Apache-2.0

package embed_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/internal/check"
)

// pieces cuts texts into pieces of about 4,200 bytes, which are 1,200 tokens.
func pieces(texts []string) []string {
	const size = 4200
	var out []string
	for _, s := range texts {
		for len(s) > size {
			out = append(out, s[:size])
			s = s[size:]
		}
		out = append(out, s)
	}
	return out
}

// pages returns pieces of the first pages of WildGraphBench, at most n bytes,
// or nil without the data.
func pages(b *testing.B, n int) []string {
	b.Helper()
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		return nil
	}
	var texts []string
	err := fs.WalkDir(os.DirFS(dir), "corpus", func(path string, d fs.DirEntry, err error) error {
		if err != nil || n <= 0 || d.IsDir() || !strings.Contains(path, "/reference_pages/") {
			return err
		}
		page, err := fs.ReadFile(os.DirFS(dir), path)
		texts = append(texts, string(page))
		n -= len(page)
		return err
	})
	check.OK(b, err)
	return pieces(texts)
}

// BenchmarkEmbed is the rate of one goroutine on generated text and on pages.
func BenchmarkEmbed(b *testing.B) {
	for _, source := range []struct {
		name  string
		texts []string
	}{{"generated", generated(500, 700)}, {"pages", pages(b, 4<<20)}} {
		name, texts := source.name, source.texts
		if texts == nil {
			continue
		}
		bytes := 0
		for _, s := range texts {
			bytes += len(s)
		}
		run := func(name string, e embed.Embedder, err error) {
			b.Run(name, func(b *testing.B) {
				check.OK(b, err)
				b.ReportAllocs()
				b.SetBytes(int64(bytes))
				for b.Loop() {
					check.OK(b, check.Err(e.EmbedDocuments(b.Context(), texts)))
				}
			})
		}
		lsa, err := embed.FitLSA(b.Context(), texts, embed.LSAOptions{Workers: 1})
		run("LSA/"+name, lsa, err)
	}
}

// BenchmarkFitLSA fits 8,000 texts of 700 words.
func BenchmarkFitLSA(b *testing.B) {
	texts := generated(8000, 700)
	for _, dim := range []int{256, 384} {
		b.Run(fmt.Sprintf("dim=%d", dim), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				fit(b, texts, embed.LSAOptions{Dim: dim})
			}
		})
	}
}
