// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/link"
)

var ships = Schema{
	EntityTypes: []SchemaItem{{Name: "person"}, {Name: "ship", Aliases: []string{"vessel"}}},
	Relations:   []SchemaItem{{Name: "built_by", Domain: []string{"ship"}, Range: []string{"person"}}, {Name: "knows"}},
}

// The worked example of schema acceptance (specs, Youtu-GraphRAG 1.4): two
// documents at .95 and .93 make .94, one at 1 makes .5, three at .9, .8 and .95
// make .883333.
func TestSchemaAcceptance(t *testing.T) {
	propose := func(name string, confidences ...float64) (out []proposal) {
		for i, c := range confidences {
			out = append(out, proposal{Kind: relationKind, Name: name, Confidence: c, Doc: fmt.Sprint("d", i)})
		}
		return out
	}
	all := append(append(propose("p1", .95, .93), propose("p2", 1)...), propose("p3", .9, .8, .95)...)
	e := Expansion{Mu: .9, MinDocs: 2}
	for _, of := range groups(all) {
		want := map[string]float64{"p1": .94, "p2": .5, "p3": .8833333333}[of[0].Name]
		if got := e.score(of); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: score %v, want %v", of[0].Name, got, want)
		}
	}
	grown, err := e.weigh(t.Context(), ships, all)
	if n := len(grown.Relations); err != nil || n != 3 || grown.Relations[2].Name != "p1" || len(ships.Relations) != 2 {
		t.Errorf("relations %+v, %v", grown.Relations, err)
	}
}

type same struct{}

func (same) EmbedQuery(_ context.Context, text string) ([]float32, error) {
	return []float32{float32(len(text)), 1}, nil
}

func (same) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{float32(len(text)), 1}
	}
	return out, nil
}

// A name that means an item of the schema becomes its alias.
func TestAlias(t *testing.T) {
	e := Expansion{Mu: .9, MinDocs: 2, Novelty: .95, Link: link.Embeddings{Embedder: same{}}}
	grown, err := e.weigh(t.Context(), ships,
		[]proposal{{Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "a"}, {Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "b"}})
	if err != nil || len(grown.EntityTypes) != 2 || !slices.Equal(grown.EntityTypes[0].Aliases, []string{"sailor"}) {
		t.Errorf("%+v, %v", grown, err)
	}
}
