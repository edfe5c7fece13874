// SPDX-License-Identifier: Apache-2.0

package extract

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/link"
	"github.com/wildgraph/wildgraph/internal/check"
)

var ships = Schema{
	EntityTypes: []SchemaItem{{Name: "person"}, {Name: "ship", Aliases: []string{"vessel"}}},
	Relations:   []SchemaItem{{Name: "built_by"}, {Name: "knows"}},
}

// The worked example of schema acceptance (specs, Youtu-GraphRAG 1.4): two
// documents at .95 and .93 make .94, one at 1 makes .5, three at .9, .8 and .95
// make .883333; two at .9 reach μ itself. The options are the defaults.
func TestSchemaAcceptance(t *testing.T) {
	propose := func(name string, confidences ...float64) (out []proposal) {
		for i, c := range confidences {
			out = append(out, proposal{Kind: relationKind, Name: name, Confidence: c, Doc: fmt.Sprint("d", i)})
		}
		return out
	}
	all := slices.Concat(propose("p1", .95, .93), propose("p2", 1), propose("p3", .9, .8, .95), propose("p4", .9, .9))
	e := Expansion{}.withDefaults(&opt.Checks{})
	for _, of := range groups(all) {
		want := map[string]float64{"p1": .94, "p2": .5, "p3": .8833333333, "p4": .9}[of[0].Name]
		if got, _ := e.score(of); math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: score %v, want %v", of[0].Name, got, want)
		}
	}
	grown, err := e.weigh(t.Context(), Growth{Schema: ships}, all)
	if n := len(grown.Schema.Relations); err != nil || n != 4 || grown.Schema.Relations[2].Name != "p1" || grown.Schema.Relations[3].Name != "p4" || len(ships.Relations) != 2 {
		t.Errorf("relations %+v, %v", grown.Schema.Relations, err)
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

// A name that stands for an item of the schema becomes an alias of the item.
func TestAlias(t *testing.T) {
	e := Expansion{Mu: .9, MinDocs: 2, Novelty: .95, Link: link.Embeddings{Embedder: same{}}}
	grown, err := e.weigh(t.Context(), Growth{Schema: ships},
		[]proposal{{Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "a"}, {Kind: entityTypeKind, Name: "sailor", Confidence: 1, Doc: "b"}})
	if err != nil || len(grown.Schema.EntityTypes) != 2 || !slices.Equal(grown.Schema.EntityTypes[0].Aliases, []string{"sailor"}) ||
		!slices.Equal(grown.Decisions, []Decision{{entityTypeKind, "sailor", 1, 2, true, "person"}}) {
		t.Errorf("%+v, %v", grown, err)
	}
}

// script answers each chunk with the extraction of its text.
type script map[string]kg.Extraction

func (s script) Extract(_ context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		out[i] = s[c.Text]
		out[i].Chunk, out[i].Doc = c.ID, c.Doc
	}
	return out, nil
}

// Growth with one document, by hand. The schema has person and knows. Of three passages two
// have an island and one a ship; the three passages count as documents, since there is
// one document and MinDocs is 2: island has the score 1 · min(1, 2/2) = 1 and is
// accepted, ship 1 · min(1, 1/2) = 0.5 < 0.9 is not. The island of the passages that
// proposed it stays in them. A document of one passage has the score 1 · min(1, 1/1).
func TestGrowthWithOneDocument(t *testing.T) {
	seed := Schema{EntityTypes: []SchemaItem{{Name: "person"}}, Relations: []SchemaItem{{Name: "knows"}}}
	by := script{
		"1": {Mentions: []kg.Mention{{Name: "Ada", Type: "person"}, {Name: "Skye", Type: "island"}}},
		"2": {Mentions: []kg.Mention{{Name: "Mull", Type: "Island"}}},
		"3": {Mentions: []kg.Mention{{Name: "Fram", Type: "ship"}}},
	}
	e := check.Of(NewBySchema(SchemaOptions{By: by, Schema: seed, Expand: &Expansion{}})).OK(t)
	chunks := []graphrag.Chunk{{ID: "d#1", Doc: "d", Text: "1"}, {ID: "d#2", Doc: "d", Text: "2"}, {ID: "d#3", Doc: "d", Text: "3"}}
	found, grown, err := e.Grow(t.Context(), chunks)
	want := []Decision{{entityTypeKind, "island", 1, 2, true, ""}, {entityTypeKind, "ship", .5, 1, false, ""}}
	check.True(t, err == nil && slices.Equal(grown.Decisions, want) && len(grown.Schema.EntityTypes) == 2, "%+v, %v", grown, err)
	check.True(t, found[0].Mentions[1].Type == "island" && found[1].Mentions[0].Type == "island" && found[2].Mentions[0].Type == "", "%+v", found)
	_, grown, err = e.Grow(t.Context(), chunks[2:])
	check.True(t, err == nil && slices.Equal(grown.Decisions, []Decision{{entityTypeKind, "ship", 1, 1, true, ""}}), "one passage: %+v, %v", grown, err)
	// If 33 documents propose island, a batch has 32 of them, and so many have proposed it when it is accepted.
	chunks = nil
	for i := range 33 {
		chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%02d#1", i), Doc: fmt.Sprintf("%02d", i), Text: "2"})
	}
	_, grown, err = e.Grow(t.Context(), chunks)
	check.True(t, err == nil && slices.Equal(grown.Decisions, []Decision{{entityTypeKind, "Island", 1, 32, true, ""}}), "33 documents: %+v, %v", grown, err)
}
