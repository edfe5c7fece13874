// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
)

// office are the files of a folder whose contracts, minutes, forms, sheets and tables share
// sentences and headers, and a table that is longer than any chunk.
func office(t *testing.T) (docs []graphrag.Document) {
	t.Helper()
	files, skipped, err := load.Folder(t.Context(), os.DirFS("../../ask/testdata/office/docs"))
	if err != nil || len(skipped) > 0 || len(files) < 30 {
		t.Fatal(len(files), skipped, err)
	}
	for _, f := range files {
		docs = append(docs, f.Document)
	}
	var rows strings.Builder
	rows.WriteString("# Prices\n\n| ware | price |\n|---|---|\n")
	for i := range 400 {
		fmt.Fprintf(&rows, "| ware%d | %d kroner |\n", i, 7*i+3)
	}
	return append(docs, graphrag.Document{ID: "prices.md", Title: "Prices", Text: rows.String()})
}

// Every sentence and row of every file is found by its own words with those of its file, and is in
// the text that is read where its file is read; a row has its header.
func TestNoTextGoesMissing(t *testing.T) {
	k, docs := baselinestest.OfflineKit(t), office(t)
	for _, of := range slices.Concat(systems(t), all.Variants(), all.Agents()) {
		t.Run(of.Name, func(t *testing.T) {
			s, err := of.New(k, kit.Common{})
			baselinestest.OK(t, err)
			baselinestest.Index(t, s, docs...)
			for _, d := range docs {
				bare, _ := text.StripLinks(d.Text)
				for i, p := range text.Sentences(bare) {
					if d.ID == "prices.md" && i%40 > 0 { continue }
					said := p.In(bare)
					if !strings.ContainsAny(said, "abcdefghijklmnopqrstuvwxyz") { continue }
					found, err := s.Retrieve(t.Context(), graphrag.Question{Text: said + " " + d.Title, K: 5})
					baselinestest.OK(t, err)
					ranked := slices.ContainsFunc(found.Ranked, func(h graphrag.Hit) bool { return h.Chunk.Doc == d.ID })
					var read strings.Builder
					for _, h := range found.Read(graphrag.Question{K: 5}) {
						if h.Chunk.Doc == d.ID { read.WriteString(retrieve.Shown(h.Chunk)+"\n") }
					}
					switch {
					case !ranked: t.Errorf("%s is not found by %q", d.ID, said)
					case !strings.Contains(read.String(), said): t.Errorf("%s: %q is not read: %.300q", d.ID, said, read.String())
					case strings.HasPrefix(said,"| ") && !strings.Contains(read.String(), "|---|"): t.Errorf("no header %q",said)
					}
				}
			}
		})
	}
}
