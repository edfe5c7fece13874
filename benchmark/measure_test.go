// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
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
		{"nothing found", gold, graphrag.Answer{Found: graphrag.Found{Ranked: []graphrag.Hit{}}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"no gold", nil, graphrag.Answer{Found: graphrag.Found{Ranked: hits("a")}}, benchmark.Evidence{}},
		{"one page fills the first five places", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "a", "a", "a", "a", "b2")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(0.5), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(0), MRR: f(0.5), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"any page of a unit counts, once", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("b", "b2", "a")}},
			benchmark.Evidence{RecallAt2: f(0.5), RecallAt5: f(1), RecallAt10: f(1), HitAt5: f(1), AllAt5: f(1), MRR: f(1), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"all misses", gold, graphrag.Answer{Found: graphrag.Found{Ranked: hits("x", "y")}},
			benchmark.Evidence{RecallAt2: f(0), RecallAt5: f(0), RecallAt10: f(0), HitAt5: f(0), AllAt5: f(0), MRR: f(0), PromptRecall: f(0), ProvenanceRecall: f(0)}},
		{"what stood in the prompt", gold, graphrag.Answer{Found: graphrag.Found{Evidence: hits("a"), Derived: []graphrag.Derived{{Docs: []string{"b2", "z"}}}}},
			benchmark.Evidence{PromptRecall: f(0.5), ProvenanceRecall: f(1)}},
		{"only facts", gold, graphrag.Answer{Found: graphrag.Found{Derived: []graphrag.Derived{{Docs: []string{"a"}}}}},
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
		judged := make(rank.Judgments)
		for _, d := range relevant {
			it.Gold = append(it.Gold, benchmark.Unit{d})
			judged[d] = 1
		}
		want := []float64{rank.Recall(ranked, judged, 5), rank.Recall(ranked, judged, 10), rank.Success(ranked, judged, 5), rank.RR(ranked, judged, 0)}
		got := benchmark.Measure(it, record.NewAnswer(record.Key{}, graphrag.Answer{Found: graphrag.Found{Ranked: hits(ranked...)}}, nil, false))
		if diff := cmp.Diff(want, []float64{*got.RecallAt5, *got.RecallAt10, *got.HitAt5, *got.MRR}); diff != "" {
			t.Fatalf("%v of %v (-rank +measure):\n%s", ranked, relevant, diff)
		}
	}
}

// Worked by hand: of four pages "fram" is on all, "larvik" on one. ln(1+.5/4.5) is .105,
// ln(1+3.5/1.5) is 1.204: a text with "larvik" contains most of "fram larvik", one with
// "fram" an eleventh of it.
func TestFound(t *testing.T) {
	docs := func(yield func(graphrag.Document, error) bool) {
		for _, text := range []string{"fram larvik", "fram", "fram moon", "fram moon"} {
			if !yield(graphrag.Document{ID: text, Text: text}, nil) {
				return
			}
		}
	}
	words, err := benchmark.CountWords(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	hit := func(doc, text string) graphrag.Hit {
		return graphrag.Hit{Chunk: graphrag.Chunk{Doc: doc, Text: text}}
	}
	it := benchmark.Item{Statements: []string{"The Fram of Larvik", "the moon", "of the B"}, Gold: []benchmark.Unit{{"gold"}, {"also", "gold2"}}}
	for _, tt := range []struct {
		name     string
		evidence []graphrag.Hit
		want     float64
	}{
		{"nothing", nil, 0},
		{"the rare word", []graphrag.Hit{hit("gold", "A town named LARVIK")}, .5},
		{"the word of all pages", []graphrag.Hit{hit("gold", "the Fram")}, 0},
		{"another page", []graphrag.Hit{hit("other", "the Fram of Larvik, the moon")}, 0},
		{"another page of the unit", []graphrag.Hit{hit("gold2", "the moon over Larvik")}, 1},
		{"in two chunks", []graphrag.Hit{hit("gold", "Larvik"), hit("gold", "moon")}, 1},
	} {
		if got, ok := words.Found(it, tt.evidence); got != tt.want || !ok {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, ok, tt.want)
		}
	}
	for name, it := range map[string]benchmark.Item{"gold documents": {Statements: it.Statements}, "a statement": {Gold: it.Gold}, "a content word": {Gold: it.Gold, Statements: []string{"it is"}}} {
		if _, ok := words.Found(it, nil); ok {
			t.Errorf("measured without %s", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := benchmark.CountWords(ctx, docs); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Systems answer the same item at once: an append to its statements must not write into
// the memory of another append.
func TestGoldStatementsAppend(t *testing.T) {
	it := benchmark.Item{Statements: append(make([]string, 0, 4), "one", "two")}
	if first, second := append(it.GoldStatements(), "a"), append(it.GoldStatements(), "b"); first[2] != "a" || second[2] != "b" {
		t.Errorf("%q and %q share their end", first, second)
	}
}
