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
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// offices are files that share sentences and headers: contracts, minutes, forms, mails, sheets and
// tables, with a table that is longer than a chunk.
func offices(t *testing.T) (docs []graphrag.Document) {
	t.Helper()
	files, skipped, err := load.Options{Formats: office.Formats()}.Folder(t.Context(), os.DirFS("../../ask/testdata/office/docs"))
	check.Must(t, err == nil && len(skipped) == 0 && len(files) >= 30, "%d files, skipped %v, %v", len(files), skipped, err)
	for _, f := range files {
		docs = append(docs, f.Document)
	}
	rows := "# Prices\n\n| ware | price |\n|---|---|\n"
	for i := range 400 {
		rows += fmt.Sprintf("| ware%d | %d kroner |\n", i, 7*i+3)
	}
	return append(docs, graphrag.Document{ID: "prices.md", Title: "Prices", Text: rows})
}

// byGraph find files by names or facts, as their papers have it, and not by any sentence; context
// reads files in their order.
func byGraph(name string) bool {
	return slices.ContainsFunc([]string{"context", "fastgraphrag", "gear", "gretriever", "hipporag", "hipporag-ircot", "lightrag", "msgraphrag"}, func(s string) bool {
		return name == s || strings.HasPrefix(name, s+"-") && name != "lightrag-naive"
	})
}

// Each sentence and row of each file is found by its words with the title of the file, and is in
// the text that is read, a row under the header of its table.
func TestNoTextGoesMissing(t *testing.T) {
	k, docs := baselinestest.OfflineKit(t), offices(t)
	for _, of := range slices.DeleteFunc(slices.Concat(systems(t), all.Variants()), func(s all.System) bool { return s.NoDocuments }) {
		t.Run(of.Name, func(t *testing.T) {
			s := check.Of(of.New(k, kit.Common{})).OK(t)
			baselinestest.Index(t, s, docs...)
			for _, d := range docs {
				long := d.ID == "prices.md"
				for i, p := range text.Sentences(d.Text) {
					said := p.In(d.Text)
					if long && i%40 > 0 || strings.HasPrefix(said, "|--") {
						continue
					}
					found := check.Of(s.Retrieve(t.Context(), graphrag.Question{Text: said + " " + d.Title, K: 5})).OK(t)
					read := ""
					for _, h := range found.Evidence {
						if h.Chunk.Doc == d.ID {
							read += h.Chunk.Prompt() + "\n"
						}
					}
					if byGraph(of.Name) && (read == "" || long) {
						continue
					}
					if !strings.Contains(read, said) || said[0] == '|' && !strings.Contains(read, "|---|") {
						t.Errorf("%s: %q is not read: %.300q", d.ID, said, read)
					}
				}
			}
		})
	}
}

// Rows reach a model under the header of their table, by pages and by chunks.
func TestRowsHaveHeaders(t *testing.T) {
	for _, name := range []string{"wild", "bm25"} {
		shown := ""
		m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
			shown = req.Messages[len(req.Messages)-1].Text
			return llm.Reply{Text: "2103 kroner [1]"}
		})
		k := check.Of(kit.ByModel(kit.ModelOptions{Model: m})).OK(t)
		s := check.Of(system(t, name).New(k, kit.Common{})).OK(t)
		baselinestest.Index(t, s, offices(t)...)
		check.OK(t, check.Err(s.Answer(t.Context(), graphrag.Question{Text: "Is ware300 sold for 2103?", K: 5})))
		_, rest, ok := strings.Cut(shown, "| ware | price |\n|---|---|\n")
		check.True(t, ok && strings.Contains(rest, "| ware300 | 2103 kroner |"), "%s: the prompt is %.3000q", name, shown)
	}
}
