// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func schema() extract.Schema {
	return extract.Schema{
		EntityTypes: []extract.SchemaItem{{Name: "person"}, {Name: "ship", Aliases: []string{"vessel"}}},
		Relations:   []extract.SchemaItem{{Name: "built_by", Domain: []string{"ship"}, Range: []string{"person"}}, {Name: "knows"}},
		Attributes:  []extract.SchemaItem{{Name: "launch year"}},
	}
}

const boundedAnswer = `{"attributes": {"Fram": ["launch_year: 1892", "colour: grey", "odd"], "Ann": {"Launch Year": 1900}},
"triples": [["Fram","Built by","Colin Archer"],["Colin Archer","built_by","Fram"],["Fram","moored_at","Oslo"],["Ann","knows","Oslo"],["Fram","built_by","Colin Archer","x"],["a","b"]],
"entity_types": {"Fram": "Vessel", "Colin Archer": "person", "Ann": "person", "Oslo": "city"}}`

func TestSchemaModes(t *testing.T) {
	for _, tt := range []struct {
		mode       extract.SchemaMode
		facts      []string
		attributes []string
		problems   int
	}{
		{extract.Strict, []string{"Fram | built_by | Colin Archer"}, []string{"Ann launch year 1900", "Fram launch year 1892"}, 7},
		{extract.Prefer, []string{"Fram | built_by | Colin Archer", "Colin Archer | built_by | Fram", "Fram | moored_at | Oslo", "Ann | knows | Oslo"},
			[]string{"Ann launch year 1900", "Fram launch year 1892", "Fram colour grey"}, 7},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, boundedAnswer)
		e, err := extract.NewBySchema(extract.SchemaOptions{ModelOptions: extract.ModelOptions{Model: m}, Schema: schema(), Mode: tt.mode})
		x := got(t, e, err, "Colin Archer built the Fram.")
		if diff := cmp.Diff(tt.facts, facts(x)); diff != "" {
			t.Errorf("%s: facts (-want +got):\n%s", tt.mode, diff)
		}
		var attributes []string
		for _, a := range x.Attributes {
			attributes = append(attributes, a.Entity+" "+a.Key+" "+a.Value)
		}
		if diff := cmp.Diff(tt.attributes, attributes); diff != "" {
			t.Errorf("%s: attributes (-want +got):\n%s", tt.mode, diff)
		}
		if len(x.Problems) != tt.problems {
			t.Errorf("%s: %d problems, want %d: %q", tt.mode, len(x.Problems), tt.problems, reasons(x))
		}
		if m.Calls() != 1 {
			t.Errorf("%d calls", m.Calls())
		}
	}
}

// The worked example of schema acceptance (specs, Youtu-GraphRAG 1.4): two
// documents at .95 and .93 make .94, one at 1 makes .5, three at .9, .8 and .95
// make .883333.
func TestSchemaAcceptance(t *testing.T) {
	propose := func(name string, confidences ...float64) (out []extract.Proposal) {
		for i, c := range confidences {
			out = append(out, extract.Proposal{Kind: extract.KindRelation, Name: name, Confidence: c, Doc: fmt.Sprint("d", i)})
		}
		return out
	}
	all := append(append(propose("p1", .95, .93), propose("p2", 1)...), propose("p3", .9, .8, .95)...)
	grown, decisions, err := extract.Expansion{}.Weigh(t.Context(), schema(), all)
	if err != nil {
		t.Fatal(err)
	}
	want := []extract.Decision{
		{Kind: extract.KindRelation, Name: "p1", Docs: 2, Confidence: .94, Score: .94, Accepted: true},
		{Kind: extract.KindRelation, Name: "p2", Docs: 1, Confidence: 1, Score: .5},
		{Kind: extract.KindRelation, Name: "p3", Docs: 3, Confidence: .8833333333, Score: .8833333333},
	}
	if diff := cmp.Diff(want, decisions, cmpopts.EquateApprox(0, 1e-9)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if n := len(grown.Relations); n != 3 || grown.Relations[2].Name != "p1" || len(schema().Relations) != 2 {
		t.Errorf("relations %+v", grown.Relations)
	}
}

type near struct{}

func (near) EmbedQuery(context.Context, string) ([]float32, error) { return []float32{1}, nil }
func (near) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	return make([][]float32, len(texts), len(texts)+1), nil
}

type same struct{ near }

func (same) EmbedDocuments(_ context.Context, texts []string) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		out[i] = []float32{float32(len(text)), 1}
	}
	return out, nil
}

// A schema grows at the ends of batches, by document, whatever the order of the
// chunks; a name that means what is there becomes its alias.
func TestGrow(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		system := req.Messages[0].Text
		if strings.Contains(system, `"harbour"`) {
			return llm.Reply{Text: `{"entity_types": {"Oslo": "harbour"}, "triples": [], "attributes": {}}`}
		}
		return llm.Reply{Text: `{"entity_types": {"Oslo": "harbour"}, "triples": [], "attributes": {}, "new_schema_types": {"nodes": [{"name":"harbour","confidence":0.95}], "relations": ["met"]}}`}
	})
	var chunks []graphrag.Chunk
	for _, d := range []string{"d", "b", "a", "c"} {
		chunks = append(chunks, graphrag.Chunk{ID: d + "#0", Doc: d, Text: "Oslo"})
	}
	e, err := extract.NewBySchema(extract.SchemaOptions{ModelOptions: extract.ModelOptions{Model: m}, Schema: schema(), Expand: &extract.Expansion{Batch: 2}})
	if err != nil {
		t.Fatal(err)
	}
	out, grown, decisions, err := e.Grow(t.Context(), chunks)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, x := range out {
		types = append(types, x.Chunk+" "+x.Mentions[0].Type)
	}
	// a and b are read with the schema as it was, c and d with the grown one.
	if diff := cmp.Diff([]string{"d#0 harbour", "b#0 ", "a#0 ", "c#0 harbour"}, types); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(decisions) != 2 || len(grown.EntityTypes) != 3 || len(grown.Relations) != 3 {
		t.Errorf("%+v, %+v", decisions, grown)
	}
	plain, decisions, err := extract.Expansion{Embedder: same{}}.Weigh(t.Context(), schema(),
		[]extract.Proposal{{Kind: extract.KindEntityType, Name: "sailor", Confidence: 1, Doc: "a"}, {Kind: extract.KindEntityType, Name: "sailor", Confidence: 1, Doc: "b"}})
	if err != nil || decisions[0].Alias != "person" || plain.EntityTypes[0].Aliases[0] != "sailor" || len(plain.EntityTypes) != 2 {
		t.Errorf("%+v, %+v, %v", plain, decisions, err)
	}
}

func TestReadSchema(t *testing.T) {
	s, err := extract.ReadSchema(strings.NewReader(`{"Nodes": ["person"], "Relations": ["knows"], "Attributes": []}`))
	if err != nil || len(s.EntityTypes) != 1 || s.Relations[0].Name != "knows" {
		t.Errorf("%+v, %v", s, err)
	}
	for text, want := range map[string]string{
		`[`: "want an object", `{"Types": []}`: "want an object", `{"Nodes": [" "]}`: "is empty", `{"Nodes": ["a b", "A_B"]}`: "names both",
	} {
		if _, err := extract.ReadSchema(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	bad := schema()
	bad.Relations[0].Domain = []string{"house"}
	if _, err := extract.NewBySchema(extract.SchemaOptions{Schema: bad, Mode: "x", Expand: &extract.Expansion{Mu: 2, MinDocs: -1}}); err == nil ||
		!strings.Contains(err.Error(), `"house"`) || !strings.Contains(err.Error(), `Mode "x"`) || !strings.Contains(err.Error(), "Mu 2") || !strings.Contains(err.Error(), "MinDocs -1") {
		t.Errorf("error %v", err)
	}
}
