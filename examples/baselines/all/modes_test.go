// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/all"
	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/graphrag/reader"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// unanswerable is a question that the pages say nothing about.
var unanswerable = graphrag.Question{Text: "Who composed the opera Turandot?", K: 3, Depth: 5, Form: graphrag.Sentence}

// knowing answers the last prompt as a model would that knows the opera: in reject
// mode it does as it is told. No report has to do with the opera.
func knowing(req llm.Request) llm.Reply {
	first, last := req.Messages[0].Text, req.Messages[len(req.Messages)-1].Text
	asked := strings.Contains(last, "Turandot")
	switch {
	case req.Stage != "read" && asked && strings.Contains(first, `{"points": [{`):
		return llm.Reply{Text: `{"points": [{"description": "They say nothing about an opera.", "score": 0}]}`}
	case req.Stage != "read" && asked && strings.Contains(first, `{"high_level_keywords": []`):
		return llm.Reply{Text: `{"high_level_keywords": [], "low_level_keywords": []}`}
	case req.Stage != "read":
		return baselinestest.Obedient(req)
	case asked && strings.Contains(first, "[none]"):
		return llm.Reply{Text: "[none]"}
	case asked:
		return llm.Reply{Text: "Giacomo Puccini [memory]."}
	}
	return llm.Reply{Text: "An answer [1]."}
}

// Every system of the registry leaves it to the reader whether to refuse: in reject
// mode a question that the pages do not answer has the reader's refusal, in open
// mode whoever has something to answer from answers, and a model always has.
func TestModes(t *testing.T) {
	for _, s := range systems(t) {
		t.Run(s.Name, func(t *testing.T) { modes(t, s) })
	}
}

func modes(t *testing.T, of all.System) {
	words := embed.Func(func(ctx context.Context, texts []string) (rows [][]float32, err error) {
		for _, s := range texts {
			rows = append(rows, llmtest.HashVector(strings.ToLower(s), 256))
		}
		return rows, ctx.Err()
	})
	kits := func(mode reader.Mode) map[string]kit.Kit {
		offline := check.Of(kit.Offline(kit.OfflineOptions{Seed: 1, Mode: mode})).OK(t)
		model := check.Of(kit.ByModel(kit.ModelOptions{Model: llmtest.NewScript("m").Handle(llmtest.Any, knowing), Embedder: words, Mode: mode})).OK(t)
		return map[string]kit.Kit{kit.NameOffline: offline, kit.NameModel: model}
	}
	long := unanswerable // beyond what is a keyword by itself
	long.Text += " It was first performed after the death of its composer."
	for _, mode := range []reader.Mode{reader.Open, reader.Reject} {
		for name, k := range kits(mode) {
			if of.NoDocuments && k.AnswerModel == nil {
				k.AnswerModel = llmtest.NewScript("m")
			}
			s, err := of.New(k, kit.Common{})
			if err == nil {
				_, err = s.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
			}
			check.OK(t, err)
			for _, q := range []graphrag.Question{baselinestest.Questions[0], baselinestest.Questions[1], baselinestest.Questions[2], unanswerable, long} {
				a := check.Of(s.Answer(t.Context(), q)).OK(t)
				var last graphrag.Answer
				for piece, err := range s.Stream(t.Context(), q) {
					last = piece
					check.OK(t, err)
				}
				check.Equal(t, last, a, "%s, %s, %q (-Answer +Stream)", name, mode, q.Text)
				material := len(a.Evidence)+len(a.Derived) > 0
				asked := strings.Contains(q.Text, "Turandot")
				told := slices.ContainsFunc(a.Evidence, func(h graphrag.Hit) bool { return strings.Contains(h.Chunk.Text, "1911") }) // and not of 1912 alone
				switch {
				case mode == reader.Reject && asked:
					check.True(t, a.Refused && a.Text == reader.Refusal && len(a.Citations) <= 0,
						"%s in reject mode: %q is answered by %q, want the refusal", name, q.Text, a.Text)
				case a.Refused && (mode == reader.Open && (material || name == kit.NameModel) || told && q.Text == baselinestest.Questions[1].Text):
					t.Errorf("%s in %s mode refuses %q, %d passages and %d derived texts", name, mode, q.Text, len(a.Evidence), len(a.Derived))
				}
			}
		}
	}
}

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
							read += retrieve.Shown(h.Chunk) + "\n"
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
