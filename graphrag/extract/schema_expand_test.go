// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

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
	grown, decisions, err := Expansion{}.weigh(t.Context(), ships, all)
	if err != nil {
		t.Fatal(err)
	}
	want := []Decision{
		{Kind: relationKind, Name: "p1", Docs: 2, Confidence: .94, Score: .94, Accepted: true},
		{Kind: relationKind, Name: "p2", Docs: 1, Confidence: 1, Score: .5},
		{Kind: relationKind, Name: "p3", Docs: 3, Confidence: .8833333333, Score: .8833333333},
	}
	if diff := cmp.Diff(want, decisions, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(grown.Relations); n != 3 || grown.Relations[2].Name != "p1" || len(ships.Relations) != 2 {
		t.Errorf("relations %+v", grown.Relations)
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

// A name that means what is there becomes its alias.
func TestAlias(t *testing.T) {
	plain, decisions, err := Expansion{Link: link.Embeddings{Embedder: same{}}}.weigh(t.Context(), ships,
		[]proposal{{Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "a"}, {Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "b"}})
	if err != nil || decisions[0].Alias != "person" || plain.EntityTypes[0].Aliases[0] != "sailor" || len(plain.EntityTypes) != 2 {
		t.Errorf("%+v, %+v, %v", plain, decisions, err)
	}
}
