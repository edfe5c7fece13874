// SPDX-License-Identifier: Apache-2.0

package local

import (
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
)

// Passages of 125 words of real pages, with the real model, on all cores.
func BenchmarkEncode(b *testing.B) {
	model, data := os.Getenv("MINILM_DIR"), os.Getenv("WILDGRAPHBENCH_DIR")
	if model == "" || data == "" {
		b.Skip("MINILM_DIR or WILDGRAPHBENCH_DIR is not set")
	}
	const passages, words = 128, 125
	var texts []string
	err := fs.WalkDir(os.DirFS(data), ".", func(name string, _ fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".txt" || len(texts) >= passages {
			return err
		}
		page, err := os.ReadFile(path.Join(data, name))
		if all := strings.Fields(string(page)); len(all) >= 3*words {
			texts = append(texts, strings.Join(all[2*words:3*words], " "))
		}
		return err
	})
	texttest.OK(b, err)
	for name, opts := range map[string]Options{"float32": {}, "int8": {Int8: true}} {
		b.Run(name, func(b *testing.B) {
			e, err := Open(model, opts)
			texttest.OK(b, err)
			tokens := 0
			for _, text := range texts {
				tokens += len(e.words.tokens(nil, text, e.net.tokens, new(letters)))
			}
			for b.Loop() {
				if _, err := e.EmbedDocuments(b.Context(), texts); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.N*tokens)/b.Elapsed().Seconds(), "tokens/s")
		})
	}
}

func BenchmarkQuery(b *testing.B) {
	model := os.Getenv("MINILM_DIR")
	if model == "" {
		b.Skip("MINILM_DIR is not set")
	}
	e := mustOpen(b, model)
	for b.Loop() {
		if _, err := e.EmbedQuery(b.Context(), "Which city hosted the final match of the 2022 FIFA World Cup?"); err != nil {
			b.Fatal(err)
		}
	}
}
