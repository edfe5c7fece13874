// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/memo"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/internal/check"
)

// A plan by rules is the question, with the types of its question words and the names
// of the schema that it has the words of.
func TestByRules(t *testing.T) {
	schema := &extract.Schema{EntityTypes: items("person", "place", "ship"), Relations: items("was built by", "sailed on"), Attributes: items("launch_year")}
	for question, want := range map[string][]string{
		"Who built the ships in Larvik?":               {"person", "ship", "was built by"},
		"Where and in what launch year was it built?":  {"place", "was built by", "launch_year"},
		"Name everything that the moon has to do with": nil,
	} {
		subs, err := byRules(schema)(t.Context(), question)
		check.Must(t, err == nil && len(subs) == 1 && subs[0].Text == question, "%+v, %v", subs, err)
		check.Equal(t, subs[0].Types, want, "%s", question)
	}
	subs, err := byRules(nil)(t.Context(), "Who?")
	check.True(t, err == nil && len(subs) == 1 && subs[0].Types == nil, "without a schema: %+v, %v", subs, err)
}

// What nothing found speaks of is looked for, unless no page of the corpus does.
func TestFillGaps(t *testing.T) {
	known := func(term string) bool { return term != "zaphod" }
	m := agent.Memory{Question: graphrag.Question{Text: "Where was the builder of Zaphod's ship born?", K: 1}, Found: graphrag.Found{
		Ranked:  []graphrag.Hit{{Chunk: graphrag.Chunk{Title: "Ships", Text: "Colin Archer builds."}}, {Chunk: graphrag.Chunk{Text: "He was born."}}},
		Derived: []graphrag.Derived{{Kind: kindCommunity, Text: "towns"}, {Kind: kindFact, Text: "Fram built by Archer"}},
	}}
	want := agent.Move{Thought: "nothing says: builder born", Query: "builder born Fram built by Archer"}
	check.Equal(t, fillGaps(&m, known), want)
	m.Found.Derived = append(m.Found.Derived, graphrag.Derived{Kind: kindFact, Text: "Archer was born in Larvik, the builder of ships"})
	got := fillGaps(&m, known)
	check.True(t, got.Answered && got.Query == "", "%+v", got)
}

// The projection is the product with its matrix, whose sums are those of float64 in the
// order of the components; vectors that are short stay.
func TestTransform(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	var f transform
	for range 3 {
		v := make([]float32, 3*perceivedDim+1)
		for i := range v {
			v[i] = float32(rng.NormFloat64())
		}
		v[7] = 0
		got := f.apply(v)
		for j := range perceivedDim {
			want := 0.0
			for i, x := range v {
				want += float64(float64(x) * f.matrix[i*perceivedDim+j])
			}
			if got[j] != float32(want) {
				t.Fatalf("component %d is %v, want %v", j, got[j], want)
			}
		}
	}
	short := []float32{1, 2, 3}
	check.Equal(t, len(f.apply(short)), len(short), "a short vector was projected")
}

// Under a memo the communities of a graph are found once, for each set of options.
func TestCommunitiesAreFoundOnce(t *testing.T) {
	k := check.Of(kit.Offline(kit.OfflineOptions{})).OK(t)
	chunks := []graphrag.Chunk{{ID: "a", Text: "Skien is a town in Norway."}, {ID: "b", Text: "Larvik is a town in Norway."}}
	g := &kg.Graph{
		Entities:  []kg.Entity{{Name: "Skien"}, {Name: "Norway"}, {Name: "Larvik"}},
		Relations: []kg.Relation{{Head: 0, Tail: 1, Label: "in"}, {Head: 2, Tail: 1, Label: "in"}},
	}
	find := func(ctx context.Context, o Options) *perception.Community {
		t.Helper()
		p := check.Of(divided(ctx, o, k.Corpus(chunks, g))).OK(t)
		return &p.Communities[0]
	}
	under := memo.With(t.Context())
	first := find(under, Options{})
	check.True(t, find(under, Options{NoAgent: true}) == first, "found twice")
	other := Options{Communities: perception.Options{Seed: 7}}
	check.True(t, find(t.Context(), Options{}) != first && find(under, other) != first, "shared without a memo, or with other options")
}
