// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/store/disk"
)

// BenchmarkWhere compares questions without a condition with those that a tenth and a
// thousandth of the passages' documents meet, and with the first question of a condition, in
// memory and in a folder, over the pages of all domains (WILDGRAPHBENCH_DIR), cut into
// documents of 2,000 bytes.
func BenchmarkWhere(b *testing.B) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		b.Skip("needs WILDGRAPHBENCH_DIR")
	}
	docs, questions := notes(b, os.DirFS(dir))
	for _, name := range []string{"bm25", "naiverag", "wild", "linearrag"} {
		for _, kind := range []string{"memory", "folder"} {
			b.Run(name+"/"+kind, func(b *testing.B) {
				k := baselinestest.OfflineKit(b)
				if name == "naiverag" {
					k = k.WithEmbedder(embed.Func(hashes))
				}
				if kind == "folder" {
					s, err := disk.Open(b.TempDir(), disk.Options{})
					if err != nil {
						b.Fatal(err)
					}
					k.Place = kit.Place{Store: s, Prefix: name, Encoder: k.Encoder}
				}
				s := made(b, name, k)
				if _, err := s.Index(b.Context(), graphrag.Documents(docs...)); err != nil {
					b.Fatal(err)
				}
				conditions(b, s, questions, len(docs))
			})
		}
	}
}

func conditions(b *testing.B, s *kit.System, questions []string, docs int) {
	asked := 0
	ask := func(where graphrag.Condition) {
		asked++
		if _, err := s.Retrieve(b.Context(), graphrag.Question{Text: questions[asked%len(questions)], K: 5, Where: &where}); err != nil {
			b.Fatal(err)
		}
	}
	for name, where := range map[string]graphrag.Condition{"none": graphrag.And(), "tenth": graphrag.Equal("n10", 3), "thousandth": graphrag.Equal("n1000", 3)} {
		b.Run(name, func(b *testing.B) {
			ask(where)
			for b.Loop() {
				ask(where)
			}
		})
	}
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			ask(graphrag.Or(graphrag.Equal("n10", 3), graphrag.Equal("n", asked%docs)))
		}
	})
}

func notes(b *testing.B, fsys fs.FS) (docs []graphrag.Document, questions []string) {
	b.Helper()
	set, _, err := wildgraph.Load(fsys, wildgraph.Options{})
	if err != nil {
		b.Fatal(err)
	}
	for _, d := range set.Domains {
		for _, it := range d.Items {
			questions = append(questions, it.Question.Text)
		}
		for doc, err := range d.Documents() {
			if err != nil {
				b.Fatal(err)
			}
			for text := doc.Text; text != ""; {
				size, n := min(2000, len(text)), len(docs)
				docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%06d", n), Title: doc.Title, Text: strings.ToValidUTF8(text[:size], ""),
					Fields: graphrag.Fields{"n": float64(n), "n10": float64(n % 10), "n1000": float64(n % 1000)}})
				text = text[size:]
			}
		}
	}
	return docs, questions
}
