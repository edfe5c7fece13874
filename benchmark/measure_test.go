// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/benchmark/record"
	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/judge/rank"
)

func hits(docs ...string) []graphrag.Hit {
	var out []graphrag.Hit
	for _, d := range docs {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{Doc: d, Text: "Text of " + d}})
	}
	return out
}

// The figures are worked out by hand from the definitions.
func TestMeasure(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	gold := []benchmark.Unit{{"a"}, {"b", "b2"}}
	for _, tt := range []struct {
		name string
		gold []benchmark.Unit
		a    graphrag.Answer
		want benchmark.Evidence
	}{
		{"nothing ranked", gold, graphrag.Answer{}, benchmark.Evidence{}},
		{"nothing found", gold, graphrag.Answer{Ranked: []graphrag.Hit{}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"no gold", nil, graphrag.Answer{Ranked: hits("a")}, benchmark.Evidence{}},
		{"one page fills the first five places", gold, graphrag.Answer{Ranked: hits("x", "a", "a", "a", "a", "b2")},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(0.5), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(0), MRR: f(0.5), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"any page of a unit counts, once", gold, graphrag.Answer{Ranked: hits("b", "b2", "a")},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(1), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(1), MRR: f(1), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"all misses", gold, graphrag.Answer{Ranked: hits("x", "y")},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"what stood in the prompt", gold, graphrag.Answer{Evidence: hits("a"), Derived: []graphrag.Derived{{Docs: []string{"b2", "z"}}}},
			benchmark.Evidence{PromptRecall: f(0.5), ProvenanceRecall: f(1)}},
		{"only facts", gold, graphrag.Answer{Derived: []graphrag.Derived{{Docs: []string{"a"}}}},
			benchmark.Evidence{PromptRecall: f(0), ProvenanceRecall: f(0.5)}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := benchmark.Measure(benchmark.Item{Gold: tt.gold}, record.NewAnswer(record.Key{}, tt.a, nil, false))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Where every unit is one document, and no document comes twice, the figures are
// those of package rank, which is held to trec_eval.
func TestMeasureAgreesWithRank(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		docs := []string{"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"}
		random.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		relevant := docs[:1+random.IntN(6)]
		ranked := slices.Clone(docs[:6+random.IntN(7)])
		random.Shuffle(len(ranked), func(i, j int) { ranked[i], ranked[j] = ranked[j], ranked[i] })
		var it benchmark.Item
		var judgments []rank.Judgment
		for _, d := range relevant {
			it.Gold = append(it.Gold, benchmark.Unit{d})
			judgments = append(judgments, rank.Judgment{Doc: d, Level: 1})
		}
		var qrels rank.Qrels
		var run rank.Run
		if err := errors.Join(qrels.Add("q", judgments), run.AddRanking("q", ranked)); err != nil {
			t.Fatal(err)
		}
		want, err := rank.Evaluate(&qrels, &run, []rank.Measure{
			{Kind: rank.Recall, K: 5}, {Kind: rank.Recall, K: 10}, {Kind: rank.Success, K: 5}, {Kind: rank.RR},
		}, rank.Complete)
		if err != nil {
			t.Fatal(err)
		}
		got := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Ranked: hits(ranked...)}, nil, false))
		if diff := cmp.Diff(want.Values, []float64{*got.RecallAt5, *got.RecallAt10, *got.HitAt5, *got.MRR}); diff != "" {
			t.Fatalf("%v of %v (-rank +measure):\n%s", ranked, relevant, diff)
		}
	}
}

func TestCoverage(t *testing.T) {
	c, err := benchmark.NewCoverage("")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name              string
		statements, texts []string
		want              float64
		ok                bool
	}{
		{"function words and single letters do not count", []string{"The owl of a B hears."}, []string{"An OWL"}, 0.5, true},
		{"the best text counts, not the union", []string{"red green blue 7"}, []string{"red 7", "green blue red"}, 0.75, true},
		{"mean over statements", []string{"red", "green"}, []string{"red"}, 0.5, true},
		{"a statement without content words is left out", []string{"it is", "red"}, []string{"red"}, 1, true},
		{"nothing to measure", nil, []string{"red"}, 0, false},
		{"nothing but function words", []string{"it is"}, []string{"red"}, 0, false},
		{"no text", []string{"red"}, nil, 0, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := c.Statements(tt.statements, tt.texts); got != tt.want || ok != tt.ok {
				t.Errorf("coverage %v, %v, want %v, %v", got, ok, tt.want, tt.ok)
			}
		})
	}
	if _, err := benchmark.NewCoverage("klingon"); err == nil {
		t.Error("an unknown language is accepted")
	}
}
