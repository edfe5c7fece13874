// SPDX-License-Identifier: Apache-2.0

package hipporag

import (
	"context"
	"maps"
	"math"
	"testing"

	"github.com/wildgraph/wildgraph/examples/baselines/baselinestest"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/kit"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/internal/check"
)

// An example of four passages, worked out with igraph: the rule by which synonyms
// overwrite facts changes the ranking.
func TestSynonymsOverwrite(t *testing.T) {
	facts := [][]graphrag.Triple{
		{{Head: "Alice Smith", Relation: "works at", Tail: "Acme Corp."}, {Head: "Acme Corp.", Relation: "located in", Tail: "Berlin"}},
		{{Head: "Berlin", Relation: "capital of", Tail: "Germany"}, {Head: "Bob Jones", Relation: "born in", Tail: "Berlin"}},
		{{Head: "Alice Smyth", Relation: "wrote", Tail: "Deep Rivers"}, {Head: "Deep Rivers", Relation: "published in", Tail: "Germany"}},
		{{Head: "Acme Corp.", Relation: "founded by", Tail: "Bob Jones"}, {Head: "Acme Corp", Relation: "located in", Tail: "Berlin"}},
	}
	b := check.Of(kg.NewBase(kg.Options{Folding: kg.FoldASCII})).OK(t)
	var chunks []graphrag.Chunk
	for p, of := range facts {
		x := kg.Extraction{Chunk: string(rune('0' + p)), Doc: string(rune('0' + p))}
		for _, f := range of {
			x.Facts = append(x.Facts, kg.Fact{Triple: f})
		}
		chunks = append(chunks, graphrag.Chunk{ID: x.Chunk, Doc: x.Doc})
		check.OK(t, b.Insert(x))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	var synonyms []kg.Synonym
	for _, x := range []struct {
		a, b  string
		score float64
	}{{"alice smith", "alice smyth", .92}, {"berlin", "germany", .85}} {
		a, _ := g.Find(x.a)
		b, _ := g.Find(x.b)
		synonyms = append(synonyms, kg.Synonym{From: a, To: b, Score: x.score}, kg.Synonym{From: b, To: a, Score: x.score})
	}
	smith, _ := g.Find("alice smith")
	germany, _ := g.Find("germany")
	_, passages := g.Phrases()
	check.Must(t, passages[smith] == 1 && passages[germany] == 2, "passages of the phrases: %v", passages)
	for _, tt := range []struct {
		damping   float64
		overwrite bool
		nodes     []float64
		scores    []float64
		order     []string
	}{
		{.5, true, []float64{.1260674224, .3755486725, .1104288476, .0832581562, .0265711754, .0818145791, .1963111469},
			[]float64{.7109416735, .3893986347, .4703691527, .3619641764}, []string{"0", "2", "1", "3"}},
		{.85, true, []float64{.1906713111, .1926666231, .1280383906, .1646580117, .0768707211, .1166279543, .130466988},
			[]float64{.738667257, .5366537325, .4917612872, .622871355}, []string{"0", "3", "1", "2"}},
		{.1, true, nil, []float64{.6822088001, .3334679315, .3666472862, .081186273}, []string{"0", "2", "1", "3"}},
		{.5, false, []float64{.1254002192, .374258926, .1053936636, .1035451305, .0263497831, .0629098503, .2021424273},
			[]float64{.7286044949, .4355824714, .4333557915, .380695352}, []string{"0", "1", "2", "3"}},
	} {
		v := check.Of(g.View(kg.ViewOptions{Synonyms: synonyms, Overwrite: tt.overwrite})).OK(t)
		walk := check.Of(ppr.New(v.Graph, ppr.Options{Damping: tt.damping, Tolerance: 1e-12})).OK(t)
		rank := check.Of(walk.Solve(t.Context(), []ppr.Seed{{Node: smith, Weight: 1}, {Node: germany, Weight: .5}}, nil)).OK(t)
		s := &searcher{corpus: kit.Kit{}.Corpus(chunks, g)}
		scores := s.scores(rank)
		for i, want := range tt.nodes {
			check.True(t, math.Abs(rank[i]-want) <= 1e-9,
				"damping %v, overwrite %v: %s has %.10f, want %.10f", tt.damping, tt.overwrite, g.Entities[i].Key, rank[i], want)
		}
		for p, want := range tt.scores {
			check.True(t, math.Abs(scores[p]-want) <= 1e-9,
				"damping %v, overwrite %v: passage %d has %.10f, want %.10f", tt.damping, tt.overwrite, p, scores[p], want)
		}
		var order []string
		hits := check.Of(s.corpus.ByScore(t.Context(), scores, 4, Name)).OK(t)
		for _, h := range hits {
			order = append(order, h.Chunk.ID)
		}
		check.Equal(t, order, tt.order, "damping %v, overwrite %v: order", tt.damping, tt.overwrite)
	}
}

// A name is normalized before it is compared with the keys of the phrases.
func TestLinkFolds(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	k := baselinestest.OfflineKit(t)
	fact := kg.Fact{Triple: graphrag.Triple{Head: "Gila monster", Relation: "lives in", Tail: "Arizona"}}
	check.OK(t, b.Insert(kg.Extraction{Chunk: "0", Doc: "0", Facts: []kg.Fact{fact}}))
	g := check.Of(b.Graph(t.Context())).OK(t)
	s := check.Of(build(t.Context(), k, Options{}, k.Corpus(nil, g))).OK(t)
	e, ok, err := s.link(t.Context(), "GILA")
	check.True(t, err == nil && ok && g.Entities[e].Name == "Gila monster", "linked %v to %d, %v", ok, e, err)
}

// Fram is in the facts of two passages and Larvik in those of one: each weighs the reciprocal of that number.
func TestSpecificity(t *testing.T) {
	b := check.Of(kg.NewBase(kg.Options{})).OK(t)
	k := baselinestest.OfflineKit(t)
	for i, f := range []graphrag.Triple{{Head: "Colin Archer", Relation: "built", Tail: "Fram"}, {Head: "Fram", Relation: "carried", Tail: "Amundsen"}, {Head: "Colin Archer", Relation: "born in", Tail: "Larvik"}} {
		id := string(rune('0' + i))
		check.OK(t, b.Insert(kg.Extraction{Chunk: id, Doc: id, Facts: []kg.Fact{{Triple: f}}}))
	}
	g := check.Of(b.Graph(t.Context())).OK(t)
	for _, tt := range []struct {
		o    Options
		want map[string]float64
	}{{Options{}, map[string]float64{"fram": .5, "larvik": 1}}, {Options{NoSpecificity: true}, map[string]float64{"fram": 1, "larvik": 1}}} {
		tt.o.Entities = func(context.Context, string) ([]string, error) { return []string{"Fram", "Larvik", "FRAM"}, nil }
		s := check.Of(build(t.Context(), k, tt.o, k.Corpus(nil, g))).OK(t)
		seeds, _, err := s.seeds(t.Context(), "?")
		got := make(map[string]float64)
		for _, x := range seeds {
			got[g.Entities[x.Node].Key] = x.Weight
		}
		check.True(t, err == nil && len(seeds) == 2 && maps.Equal(got, tt.want), "%+v: %v, %v", seeds, got, err)
	}
}
