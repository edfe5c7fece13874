// SPDX-License-Identifier: Apache-2.0

package all_test

import (
	"context"
	"errors"
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
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/graphrag/triples"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// Systems by name that find the same document for a question.
func ExampleFind() {
	parts, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	for _, name := range []string{"bm25", "hipporag2"} {
		entry, _ := all.Find(name)
		system, err1 := entry.New(parts, kit.Common{})
		_, err2 := system.Index(context.Background(), graphrag.Documents(
			graphrag.Document{ID: "fram", Title: "Fram", Text: "Colin Archer built the Fram for Fridtjof Nansen."},
			graphrag.Document{ID: "archer", Title: "Colin Archer", Text: "Colin Archer was born in Larvik."},
			graphrag.Document{ID: "owl", Title: "Barn owl", Text: "Barn owls hear mice under the snow."}))
		found, err3 := system.Retrieve(context.Background(), graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2})
		fmt.Println(name, found.Ranked[0].Chunk.Doc, found.Ranked[1].Chunk.Doc, errors.Join(err, err1, err2, err3))
	}
	// Output:
	// bm25 fram archer <nil>
	// hipporag2 fram archer <nil>
}

// unanswerable is a question that the pages say nothing about.
var unanswerable = graphrag.Question{Text: "Who composed the opera Turandot?", K: 3, Depth: 5, Form: graphrag.Sentence}

// knowing answers the last prompt like a model that knows about the opera, and in reject mode follows the
// instruction. No report is about the opera.
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

// Every registered system leaves it to the reader whether to refuse: for a question that the pages do not
// answer, the reader refuses in reject mode, and in open mode every system that found something, or has a
// model, answers.
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
	long := unanswerable // longer than a question that is its own keyword
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
				told := slices.ContainsFunc(a.Evidence, func(h graphrag.Hit) bool { return strings.Contains(h.Chunk.Text, "1911") }) // and not only of the year 1912
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

// offices are files that share sentences and headers: contracts, minutes, forms, mails, sheets and tables, one
// of them longer than a chunk.
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

// byGraph are the systems that find files by names or facts, as their papers define it, and not by any
// sentence; context reads files in their order.
func byGraph(name string) bool {
	return slices.ContainsFunc([]string{"context", "fastgraphrag", "gear", "gretriever", "hipporag", "hipporag-ircot", "lightrag", "msgraphrag"}, func(s string) bool {
		return name == s || strings.HasPrefix(name, s+"-") && name != "lightrag-naive"
	})
}

// A file is found by the words of any of its sentences or rows with its title, and the text that is read has
// them, a row below the header of its table.
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

// A model gets rows below the header of their table, from pages and from chunks.
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

// systems returns all systems; the ones that need an external graph get a small one.
func systems(t testing.TB) []all.System {
	t.Helper()
	ix, err := triples.New(t.Context(), triples.TSV("graph", strings.NewReader("Fram\tbuilder\tColin Archer\nFram\tcaptain\tFridtjof Nansen\nFridtjof Nansen\tborn in\tOslo")).All(), triples.Options{})
	check.OK(t, err)
	out := all.Systems()
	for i := range out {
		if out[i].Lacks() != "" {
			out[i] = out[i].WithGraph(ix)
		}
	}
	return out
}

func system(t *testing.T, name string) all.System {
	t.Helper()
	s, ok := all.Find(name)
	check.Must(t, ok, "no system %s", name)
	return s
}

// Every option of every system can be set to its default by name, which does not change the system.
func TestOptions(t *testing.T) {
	k := baselinestest.ModelKit(t, llmtest.NewScript("m"))
	for _, s := range slices.Concat(systems(t), all.Variants(), all.Agents()) {
		options := s.Options()
		check.True(t, len(options) >= 5, "%s has %d options", s.Name, len(options))
		for _, o := range options {
			if o.Default == "" {
				continue
			}
			changed, err := s.With(strings.ToUpper(o.Name), o.Default)
			if err == nil {
				_, err = changed.New(k, kit.Common{})
			}
			check.OK(t, err, "%s.%s=%s", s.Name, o.Name, o.Default)
		}
	}
}

// An option of another system, and a value of the wrong type or out of range, is refused before anything is
// paid, and all faults are reported at once.
func TestBadOptions(t *testing.T) {
	bad, wanted := map[string]all.System{}, map[string][]string{}
	for _, row := range table(t, "bad.tsv") {
		s, ok := bad[row[0]]
		if !ok {
			s = system(t, row[0])
		}
		s, err := s.With(row[1], row[2])
		if err == nil {
			bad[row[0]], wanted[row[0]] = s, append(wanted[row[0]], row[3])
		} else if !strings.Contains(err.Error(), row[3]) {
			t.Errorf("%s.%s=%s: %v, want %q", row[0], row[1], row[2], err, row[3])
		}
	}
	for name, s := range bad {
		_, err := s.New(baselinestest.OfflineKit(t), kit.Common{})
		for _, want := range wanted[name] {
			check.Fails(t, err, want, "%s", name)
		}
	}
}

// table reads the rows of a file below its header.
func table(t *testing.T, name string) (rows [][]string) {
	t.Helper()
	data := check.Of(os.ReadFile("testdata/" + name)).OK(t)
	for _, line := range strings.Split(strings.TrimSpace(string(data)), "\n")[1:] {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// An option that is set has an effect.
func TestWith(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	s := check.Of(system(t, "hipporag2").With("maxPerDoc", "1")).OK(t)
	made, err := s.New(k, kit.Common{Cut: kit.Cut{Size: 20, Overlap: -1}})
	if err == nil {
		_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
	}
	check.OK(t, err)
	found, err := made.Retrieve(t.Context(), graphrag.Question{Text: "What is told of the Fram?", K: 10})
	seen := make(map[string]bool)
	for _, h := range found.Ranked {
		check.True(t, !seen[h.Chunk.Doc], "two chunks of %s, and one was asked for", h.Chunk.Doc)
		seen[h.Chunk.Doc] = true
	}
	check.True(t, err == nil && len(seen) >= 2 && s.Changes()["maxPerDoc"] == 1, "%d pages, changes %v, %v", len(seen), s.Changes(), err)

	check.Contains(t, system(t, "gear").Lacks(), "-kg", "gear without a graph")
}

// The loop of an agent has its own options, besides those of the system that it searches with.
func TestOptionsOfAgents(t *testing.T) {
	for _, name := range []string{"agentic:bm25", "files"} {
		m := llmtest.NewScript("m").Handle(llmtest.Any, baselinestest.Obedient)
		s, err := system(t, name).With("agent.turns", "1")
		if err == nil {
			s, err = s.With("agent.condense", "true")
		}
		check.OK(t, err)
		made, err := s.New(baselinestest.ModelKit(t, m), kit.Common{})
		if err == nil {
			_, err = made.Index(t.Context(), graphrag.Documents(baselinestest.Pages...))
		}
		check.OK(t, err)
		f, err := made.Retrieve(t.Context(), baselinestest.Questions[0])
		last := f.Steps[len(f.Steps)-1]
		check.True(t, err == nil && m.Calls() == 1 && last.Found[0] == "the last step is done", "%s: %d calls, %+v, %v", name, m.Calls(), last, err)
		if bad, err := s.With("agent.calls", "-1"); err == nil {
			_, err = bad.New(baselinestest.ModelKit(t, m), kit.Common{})
			check.Fails(t, err, "Agent.Calls is -1", "%s", name)
		}
		got := s.Changes()
		check.True(t, got["agent.turns"] == 1 && got["agent.condense"] == true, "%s: %v", name, got)
	}
}

// Each option says where its default is from; the values and origins that papers and programs state equal the
// table's. An option without a system's name belongs to all systems.
func TestOrigins(t *testing.T) {
	known := map[string][]string{}
	for _, f := range table(t, "origins.tsv") {
		known[f[0]] = f[1:]
	}
	met := map[string]bool{}
	for _, s := range slices.Concat(all.Systems(), all.Variants(), all.Agents()) {
		for _, o := range s.Options() {
			from := "paper"
			switch {
			case strings.HasPrefix(o.Source, "ours"):
				from = "ours"
			case strings.HasPrefix(o.Source, "its program"):
				from = "program"
			case o.Source == "" || o.Source == "the paper" || !strings.ContainsAny(o.Source, " ,"):
				t.Errorf("%s.%s: the default is from %q: want ours, its program, or a paper with the place in it", s.Name, o.Name, o.Source)
			}
			for _, name := range []string{o.Name, s.Name + "." + o.Name} {
				if want, ok := known[name]; ok {
					met[name] = true
					if from != want[1] || want[0] != "-" && o.Default != want[0] {
						t.Errorf("%s.%s is %s from %q, want %s from %s", s.Name, o.Name, o.Default, o.Source, want[0], want[1])
					}
				}
			}
		}
	}
	for name := range known {
		check.True(t, met[name], "no system has the option %s", name)
	}
}
