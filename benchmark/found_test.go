// SPDX-License-Identifier: Apache-2.0

package benchmark_test

import (
	"context"
	"errors"
	"testing"

	"github.com/wildgraph/wildgraph/benchmark"
	"github.com/wildgraph/wildgraph/graphrag"
)

// Worked by hand: of four pages "fram" is on all, "larvik" on one. ln(1+.5/4.5) is .105,
// ln(1+3.5/1.5) is 1.204: who has "larvik" has most of "fram larvik", and who has "fram"
// an eleventh of it.
func TestStatementFound(t *testing.T) {
	c, err := benchmark.NewCoverage("")
	if err != nil {
		t.Fatal(err)
	}
	docs := func(yield func(graphrag.Document, error) bool) {
		for _, text := range []string{"fram larvik", "fram", "fram moon", "fram moon"} {
			if !yield(graphrag.Document{ID: text, Text: text}, nil) {
				return
			}
		}
	}
	rarity, err := c.Rarity(t.Context(), docs)
	if err != nil {
		t.Fatal(err)
	}
	hit := func(doc, text string) graphrag.Hit {
		return graphrag.Hit{Chunk: graphrag.Chunk{Doc: doc, Text: text}}
	}
	it := benchmark.Item{Statements: []string{"The Fram of Larvik", "the moon", "of the"}, Gold: []benchmark.Unit{{"gold"}, {"also", "gold2"}}}
	for _, tt := range []struct {
		name     string
		evidence []graphrag.Hit
		want     float64
	}{
		{"nothing", nil, 0},
		{"the rare word", []graphrag.Hit{hit("gold", "A town named Larvik")}, .5},
		{"the word of all pages", []graphrag.Hit{hit("gold", "the Fram")}, 0},
		{"another page", []graphrag.Hit{hit("other", "the Fram of Larvik, the moon")}, 0},
		{"a page that will do as well", []graphrag.Hit{hit("gold2", "the moon over Larvik")}, 1},
		{"in two pieces", []graphrag.Hit{hit("gold", "Larvik"), hit("gold", "moon")}, 1},
	} {
		if got, ok := c.Found(it, tt.evidence, rarity); got != tt.want || !ok {
			t.Errorf("%s: %v, %v, want %v", tt.name, got, ok, tt.want)
		}
	}
	if _, ok := c.Found(benchmark.Item{Statements: it.Statements}, nil, rarity); ok {
		t.Error("measured without gold documents")
	}
	if _, ok := c.Found(benchmark.Item{Gold: it.Gold}, nil, rarity); ok {
		t.Error("measured without a statement")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Rarity(ctx, docs); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// Systems answer the same item at once: who appends to its statements must not write
// where another does.
func TestGoldStatementsAppend(t *testing.T) {
	it := benchmark.Item{Statements: append(make([]string, 0, 4), "one", "two")}
	if first, second := append(it.GoldStatements(), "a"), append(it.GoldStatements(), "b"); first[2] != "a" || second[2] != "b" {
		t.Errorf("%q and %q share their end", first, second)
	}
}
