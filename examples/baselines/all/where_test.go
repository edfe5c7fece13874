// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark/wildgraph"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
)

// BenchmarkWhere compares questions without a condition with those that a tenth and a
// thousandth of the passages' documents meet, and with the first question of a condition, over
// the pages of one domain (WILDGRAPHBENCH_DIR), cut into documents of 2,000 bytes.
func BenchmarkWhere(b *testing.B) {
	dir := os.Getenv("WILDGRAPHBENCH_DIR")
	if dir == "" {
		b.Skip("needs WILDGRAPHBENCH_DIR")
	}
	docs, questions := notes(b, os.DirFS(dir))
	for _, x := range systems(b) {
		if x.Name != "bm25" && x.Name != "wild" && x.Name != "linearrag" {
			continue
		}
		s, err := x.New(baselinestest.OfflineKit(b), kit.Common{})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := s.Index(b.Context(), graphrag.Documents(docs...)); err != nil {
			b.Fatal(err)
		}
		ask := func(b *testing.B, i int, where *graphrag.Condition) {
			if _, err := s.Retrieve(b.Context(), graphrag.Question{Text: questions[i%len(questions)], K: 5, Where: where}); err != nil {
				b.Fatal(err)
			}
		}
		for _, tt := range []struct{ name, where string }{{"none", "all"}, {"tenth", "n10 = 3"}, {"thousandth", "n1000 = 3"}} {
			b.Run(x.Name+"/"+tt.name, func(b *testing.B) {
				c, err := graphrag.ParseCondition(tt.where)
				if err != nil {
					b.Fatal(err)
				}
				ask(b, 0, &c)
				for i := 0; b.Loop(); i++ {
					ask(b, i, &c)
				}
			})
		}
		b.Run(x.Name+"/first of a tenth", func(b *testing.B) {
			for i := 0; b.Loop(); i++ {
				c := graphrag.Or(graphrag.Equal("n10", 3), graphrag.Equal("n", i%len(docs)))
				ask(b, i, &c)
			}
		})
	}
}

func notes(b *testing.B, fsys fs.FS) (docs []graphrag.Document, questions []string) {
	b.Helper()
	set, _, err := wildgraph.Load(fsys, wildgraph.Options{})
	if err != nil {
		b.Fatal(err)
	}
	d := set.Domains[0]
	for _, it := range d.Items {
		questions = append(questions, it.Question.Text)
	}
	for doc, err := range d.Documents() {
		if err != nil {
			b.Fatal(err)
		}
		for text := doc.Text; text != ""; {
			size, n := min(2000, len(text)), len(docs)
			docs = append(docs, graphrag.Document{ID: fmt.Sprintf("%06d", n), Title: doc.Title, Text: text[:size],
				Fields: graphrag.Fields{"n": float64(n), "n10": float64(n % 10), "n1000": float64(n % 1000)}})
			text = text[size:]
		}
	}
	return docs, questions
}
