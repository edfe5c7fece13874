// SPDX-License-Identifier: Apache-2.0

package fastgraphrag_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/examples/baselines/fastgraphrag"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// scripted replies to every extraction with the same two entities, one with a long description, and a fact that
// differs for each chunk.
func scripted() *llmtest.Script {
	m := llmtest.NewScript("scripted")
	for i := range 7 {
		m.Reply(llmtest.Contains("chunk "+fmt.Sprint(i)+"."), fmt.Sprintf(
			`{"entities":[{"name":"FRAM","type":"work","desc":"%s %d"},{"name":"Colin Archer","type":"person","desc":"A shipbuilder."}],
			"relationships":[{"source":"Colin Archer","target":"FRAM","desc":"Archer built the Fram, says source %d."}],"other_relationships":[]}`,
			strings.Repeat("long ", 17), i, i))
	}
	return m.Reply(llmtest.Stage("describe"), "The Fram is a ship.").
		Reply(llmtest.Stage(fastgraphrag.StageMerge), `{"grouped_facts":[{"ids":[0,1,2,99],"description":"Archer built the Fram."},{"ids":[3]}]}`).
		Reply(llmtest.Stage(fastgraphrag.StageQuestion), `{"named":["[PERSON] COLIN ARCHER"],"generic":["ship"]}`).
		Reply(llmtest.Any, "Colin Archer [1].")
}

func documents(n int) (docs []graphrag.Document) {
	for i := range n {
		docs = append(docs, graphrag.Document{ID: fmt.Sprint(i), Text: fmt.Sprintf("This is chunk %d. Colin Archer built the Fram.", i)})
	}
	return docs
}

// One call for a chunk, one for descriptions of more than 512 characters, one for more than five facts of a
// pair; two for a question.
func TestCalls(t *testing.T) {
	for _, tt := range []struct{ chunks, describe, merge int }{{5, 0, 0}, {6, 1, 1}, {7, 1, 1}} {
		m := scripted()
		s := check.Of(fastgraphrag.New(baselinestest.ModelKit(t, m), fastgraphrag.Options{})).OK(t)
		stats := check.Of(s.Index(t.Context(), graphrag.Documents(documents(tt.chunks)...))).OK(t)
		want := map[string]int{extract.StageRecords: tt.chunks}
		if tt.describe > 0 {
			want["describe"], want[fastgraphrag.StageMerge] = tt.describe, tt.merge
		}
		diff := cmp.Diff(want, baselinestest.Stages(m))
		check.True(t, diff == "" && stats.Calls == tt.chunks+tt.describe+tt.merge, "%d chunks take %d calls: %s", tt.chunks, stats.Calls, diff)
		a, err := s.Answer(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: 3, Depth: 10})
		check.Must(t, err == nil && a.Usage.Calls == 2, "a question takes %d calls, %v", a.Usage.Calls, err)
		check.True(t, len(a.Ranked) == tt.chunks && len(a.Evidence) == 3, "%d of %d chunks ranked, %d read", len(a.Ranked), tt.chunks, len(a.Evidence))
		var fram, facts []string
		for _, d := range a.Derived {
			if d.Kind == "relation" {
				facts = append(facts, d.Text)
			} else if strings.HasPrefix(d.Text, "FRAM") {
				fram = append(fram, d.Text)
				check.True(t, len(d.Docs) == tt.chunks, "the description is from %v", d.Docs)
			}
		}
		check.True(t, tt.describe != 1 || len(fram) == 1 && fram[0] == "FRAM: The Fram is a ship.",
			"described as %q", fram)
		// Three of the facts are merged into one.
		check.True(t, tt.merge != 1 || len(facts) == tt.chunks-2 &&
			facts[0] == "Colin Archer – FRAM: Archer built the Fram.", "facts %q", facts)
	}
}

// Also with the model's kit, a delete leaves the same state as a rebuild.
func TestDeleteByModel(t *testing.T) {
	var answers [2]graphrag.Answer
	for i := range answers {
		s, err := fastgraphrag.New(baselinestest.ModelKit(t, scripted()), fastgraphrag.Options{})
		check.OK(t, err)
		_, err = s.Index(t.Context(), graphrag.Documents(documents(6+i)...))
		if err == nil && i == 1 {
			_, err = s.Delete(t.Context(), "6")
		}
		if err == nil {
			answers[i], err = s.Answer(t.Context(), graphrag.Question{Text: "Who built the Fram?", K: 3, Depth: 10})
		}
		check.OK(t, err)
	}
	check.Equal(t, answers[1], answers[0])
}

// Without an entity in the question, the answer is that there is none.
func TestNoSeeds(t *testing.T) {
	s := check.Of(fastgraphrag.New(baselinestest.OfflineKit(t), fastgraphrag.Options{})).OK(t)
	baselinestest.Index(t, s, baselinestest.Pages...)
	a, err := s.Answer(t.Context(), graphrag.Question{Text: "xylophone quux?", K: 3})
	check.True(t, err == nil && a.Refused && len(a.Ranked) == 0, "%+v, %v", a, err)
}

func TestOptions(t *testing.T) {
	_, err := fastgraphrag.New(baselinestest.OfflineKit(t), fastgraphrag.Options{Damping: 1, Threshold: -1, Facts: -1})
	for _, want := range []string{"Damping", "Threshold", "Facts"} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v does not name %s", err, want)
	}
}

// The kit's Decompose, if set, splits a question.
func TestOwnParts(t *testing.T) {
	k := baselinestest.OfflineKit(t)
	k.Decompose = func(context.Context, string) (extract.Parts, error) {
		return extract.Parts{Names: []string{"Larvik"}, Themes: []string{"whales"}}, nil
	}
	s := check.Of(fastgraphrag.New(k, fastgraphrag.Options{})).OK(t)
	baselinestest.Index(t, s, baselinestest.Pages...)
	const asked = "Who built the Fram?"
	found, err := s.Retrieve(t.Context(), graphrag.Question{Text: asked, K: 2})
	var linked []string
	for _, step := range found.Steps {
		if step.Kind == "link" {
			linked = append(linked, step.Query)
		}
	}
	want := []string{"Larvik", asked, "whales"}
	check.True(t, err == nil && slices.Equal(linked, want), "linked %q, %v, want %q", linked, err, want)
}

// The prompts tell the model what the texts are about and what will be asked; its extractions depend on it.
func ExampleNew() {
	k, err := kit.Offline(kit.OfflineOptions{Seed: 1})
	if err != nil {
		panic(err)
	}
	system, err := fastgraphrag.New(k, fastgraphrag.Options{
		Domain:    "Ships of polar explorers, and who built and sailed them.",
		Questions: []string{"Who built the Fram?"},
		Types:     []string{"person", "ship", "place"},
	})
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
	a, err := system.Answer(ctx, graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2})
	if err != nil {
		panic(err)
	}
	for _, h := range a.Ranked {
		fmt.Println(h.Chunk.Doc)
	}
	for _, d := range a.Derived {
		if d.Kind == "relation" {
			fmt.Println(d.Text)
		}
	}
	// Output:
	// fram.md
	// archer.md
	// Fram – Colin Archer: The Fram was built by Colin Archer.
	// Colin Archer – Larvik: Colin Archer was born in Larvik.
}
