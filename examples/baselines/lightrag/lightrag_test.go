// SPDX-License-Identifier: Apache-2.0

package lightrag_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/lightrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/load"
	"github.com/wildgraph/wildgraph/graphrag/load/office"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
	"github.com/wildgraph/wildgraph/llm/paid"
	"github.com/wildgraph/wildgraph/llm/transport"
)

// scripted finds the same ship in each chunk, with a different description, and what another person did with
// it.
func scripted() *llmtest.Script {
	m := llmtest.NewScript("scripted").Reply(llmtest.Stage(extract.StageGlean), "<|COMPLETE|>")
	for i := range 9 {
		m.Reply(llmtest.Contains(fmt.Sprintf("chunk %d.", i)), fmt.Sprintf(
			"entity<|#|>Fram<|#|>Artifact<|#|>A ship, says source %d.\nentity<|#|>Sailor %d<|#|>Person<|#|>A sailor.\n"+
				"relation<|#|>Sailor %d<|#|>Fram<|#|>sailing, ice<|#|>Sailor %d sailed on the Fram.\n<|COMPLETE|>", i, i, i, i))
	}
	return m.Reply(llmtest.Stage("describe"), "The Fram is a ship.").
		Reply(llmtest.Stage(lightrag.StageKeywords), `{"high_level_keywords":["sailing"],"low_level_keywords":["Fram"]}`).
		Reply(llmtest.Any, "The sailors [1].")
}

func documents(n int) (docs []graphrag.Document) {
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("This is chunk %d. Sailor %d was on the Fram.", i, i)})
	}
	return docs
}

// Two calls for a chunk, one for each entity with eight descriptions, one for keywords, and one to read.
func TestCalls(t *testing.T) {
	for _, tt := range []struct {
		mode             lightrag.Mode
		chunks, describe int
	}{{lightrag.Hybrid, 7, 0}, {lightrag.Local, 8, 1}, {lightrag.Global, 9, 1}, {lightrag.Mix, 8, 1}} {
		m := scripted()
		s, err := lightrag.New(baselinestest.ModelKit(t, m), lightrag.Options{Mode: tt.mode, Cosine: lightrag.NoCosine, AlwaysGlean: true})
		check.OK(t, err)
		stats := check.Of(s.Index(t.Context(), graphrag.Documents(documents(tt.chunks)...))).OK(t)
		want := map[string]int{extract.StageRecords: tt.chunks, extract.StageGlean: tt.chunks}
		if tt.describe > 0 {
			want["describe"] = tt.describe
		}
		check.True(t, stats.Entities == tt.chunks+1 && stats.Relations == tt.chunks, "%s: %+v", tt.mode, stats)
		check.Equal(t, baselinestest.Stages(m), want, "%s: %d chunks", tt.mode, tt.chunks)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Who sailed on the Fram?", K: 3, Depth: 6})
		check.True(t, err == nil && a.Usage.Calls == 2, "%s: a question takes %d calls, %v", tt.mode, a.Usage.Calls, err)
		check.True(t, len(a.Ranked) == 6 && len(a.Evidence) == 3, "%s: %d chunks ranked, %d read", tt.mode, len(a.Ranked), len(a.Evidence))
		if tt.describe > 0 {
			var fram []string
			for _, d := range a.Derived {
				if strings.HasPrefix(d.Text, "Fram (") {
					fram = append(fram, d.Text)
				}
			}
			check.Equal(t, fram, []string{"Fram (artifact): The Fram is a ship."}, "%s", tt.mode)
		}
	}
}

// Through a cache a change costs only what is new in it.
func TestInsertIsPaidOnce(t *testing.T) {
	client := check.Of(paid.Open(paid.Options{File: filepath.Join(t.TempDir(), "llm.journal")})).OK(t)
	defer client.Close()
	m := scripted()
	cached := check.Of(client.Model(m)).OK(t)
	s := check.Of(lightrag.New(baselinestest.ModelKit(t, cached), lightrag.Options{AlwaysGlean: true})).OK(t)
	docs := documents(9)
	for i, step := range []struct {
		change func() (graphrag.IndexStats, error)
		calls  int
	}{
		{func() (graphrag.IndexStats, error) { return s.Index(t.Context(), graphrag.Documents(docs[:8]...)) }, 16 + 1},
		{func() (graphrag.IndexStats, error) { return s.Insert(t.Context(), graphrag.Documents(docs[8])) }, 2 + 1},
		{func() (graphrag.IndexStats, error) { return s.Delete(t.Context(), "8") }, 0},
		{func() (graphrag.IndexStats, error) { return s.Insert(t.Context(), graphrag.Documents(docs[8])) }, 0},
		{func() (graphrag.IndexStats, error) { return s.Delete(t.Context(), "0") }, 1}, // one call: eight other descriptions remain
	} {
		before := len(m.Requests())
		check.OK(t, check.Err(step.change()))
		got := len(m.Requests()) - before
		check.Equal(t, got, step.calls, "step %d: %d calls", i, got)
	}
}

// A short question without keywords is its own keyword; for a long one nothing is found, and the model answers
// from its own knowledge.
func TestNoKeywords(t *testing.T) {
	for _, reply := range []string{`{"high_level_keywords":[],"low_level_keywords":""}`, "none"} {
		m := llmtest.NewScript("m").Reply(llmtest.Stage(lightrag.StageKeywords), reply)
		k := baselinestest.ModelKit(t, m)
		extractions := scripted()
		x, err := extract.NewRecords(extract.RecordOptions{ModelOptions: extract.ModelOptions{Model: extractions}, Format: extract.Lines})
		check.OK(t, err)
		m.Reply(llmtest.Any, "An answer.")
		s := check.Of(lightrag.New(k, lightrag.Options{Extract: x, Cosine: lightrag.NoCosine})).OK(t)
		baselinestest.Index(t, s, documents(3)...)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Fram?", K: 3})
		check.True(t, err == nil && !a.Refused && len(a.Derived) != 0, "%q: short: %+v, %v", reply, a, err)
		a, err = s.Answer(t.Context(), graphrag.Question{Text: strings.Repeat("so ", 20), K: 3})
		check.True(t, err == nil && !a.Refused && a.Ranked != nil && len(a.Ranked)+len(a.Derived) == 0, "%q: long: %+v, %v", reply, a, err)
	}
}

// A mode whose level of keywords is empty uses the other level; the budgets hold; chunks of one page are
// limited.
func TestSearch(t *testing.T) {
	ask := func(o lightrag.Options, k extract.Parts) graphrag.Answer {
		t.Helper()
		own := baselinestest.OfflineKit(t)
		own.Decompose = func(context.Context, string) (extract.Parts, error) { return k, nil }
		s := check.Of(lightrag.New(own, o)).OK(t)
		baselinestest.Index(t, s, baselinestest.Pages...)
		a := check.Of(s.Answer(t.Context(), graphrag.Question{Text: "Who built the Fram in Larvik?", K: 3, Depth: 10})).OK(t)
		a.Steps = nil // steps contain the questions, which differ
		return a
	}
	kinds := func(a graphrag.Answer) (out []string) {
		for _, d := range a.Derived {
			d.Text = strings.SplitN(d.Text, ":", 2)[0]
			check.True(t, len(d.Docs) != 0, "%q is from nowhere", d.Text)
			out = append(out, d.Text)
		}
		return out
	}
	low, high := extract.Parts{Names: []string{"Larvik"}}, extract.Parts{Themes: []string{"Larvik"}}
	check.Equal(t, ask(lightrag.Options{Mode: lightrag.Global}, low), ask(lightrag.Options{Mode: lightrag.Local}, low), "global without themes")
	check.Equal(t, ask(lightrag.Options{Mode: lightrag.Local}, high), ask(lightrag.Options{Mode: lightrag.Global}, high), "local without names")
	unknown := extract.Parts{Names: []string{"xylophone"}, Themes: []string{"Larvik"}}
	check.Equal(t, ask(lightrag.Options{Mode: lightrag.Local}, unknown), ask(lightrag.Options{Mode: lightrag.Local}, high), "local with an unknown name")
	// Low-level keywords find similar entities first, high-level keywords similar relations.
	local, global := ask(lightrag.Options{}, low), ask(lightrag.Options{}, high)
	k := kinds(local)
	check.True(t, len(k) != 0 && strings.HasPrefix(k[0], "Larvik"), "local %q", k)
	check.True(t, len(global.Derived) != 0 && !cmp.Equal(kinds(local), kinds(global)), "global %q", kinds(global))
	small := ask(lightrag.Options{EntityTokens: 60, RelationTokens: 1, TotalTokens: 300}, low)
	n := len(small.Derived)
	check.True(t, n != 0 && n < len(local.Derived) && small.Derived[n-1].Kind == "entity", "in small budgets: %q", kinds(small))
	check.True(t, len(small.Evidence) < len(local.Evidence) && len(small.Ranked) != 0, "%d of %d chunks read", len(small.Evidence), len(small.Ranked))
	none := ask(lightrag.Options{}, extract.Parts{Names: []string{"xylophone"}})
	check.True(t, none.Refused, "nothing is found: %+v", none)
}

// A model of an Ollama server builds the graph, and answers from it.
func ExampleOptions() {
	server := llmtest.NewServer(llmtest.ServerOptions{Handler: baselinestest.Obedient}) // or http://127.0.0.1:11434
	defer server.Close()
	model, err1 := transport.Ollama(transport.Config{BaseURL: server.URL, Model: "llama3"})
	parts, err2 := kit.ByModel(kit.ModelOptions{Model: model})
	system, err3 := lightrag.New(parts, lightrag.Options{})
	ctx, folder := context.Background(), os.DirFS("../../ask/testdata/corpus")
	stats, err4 := system.Index(ctx, load.Options{Formats: office.Formats()}.Documents(ctx, folder))
	answer, err5 := system.Answer(ctx, graphrag.Question{Text: "Why are there two high tides a day?", K: 5})
	fmt.Println(stats.Calls, "calls to index", stats.Documents, "documents,", answer.Usage.Calls, "to answer", errors.Join(err1, err2, err3, err4, err5))
	// Output: 3 calls to index 3 documents, 2 to answer <nil>
}

// The question's entities lead to their relations, and to the chunks of both.
func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := lightrag.New(k, lightrag.Options{Mode: lightrag.Local})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	docs := graphrag.Documents(
		graphrag.Document{ID: "fram.md", Text: "The Fram was built by Colin Archer."},
		graphrag.Document{ID: "archer.md", Text: "Colin Archer was born in Larvik."},
	)
	if _, err := system.Index(ctx, docs); err != nil {
		panic(err)
	}
	a, err := system.Answer(ctx, graphrag.Question{Text: "Who built the Fram?", K: 2})
	if err != nil {
		panic(err)
	}
	fmt.Println(system.Name())
	for _, h := range a.Ranked {
		fmt.Println(h.Chunk.Doc)
	}
	for _, d := range a.Derived {
		if d.Kind == "relation" {
			fmt.Println(d.Text)
		}
	}
	// Output:
	// lightrag-local
	// fram.md
	// archer.md
	// Colin Archer – Fram: The Fram was built by Colin Archer.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
}
