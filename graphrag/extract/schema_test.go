// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/internal/texttest"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// What is wrong in a file of a schema is told with the line where it stands.
func TestReadBadSchema(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "line 1: want an object",
		"{}":                                     "Nodes has no name",
		`{"Nodes": ["a"]} {}`:                    "something stands behind",
		"{\n\"Nodes\": [\"a\"],\n\"Kinds\": []}": `unknown field "Kinds"`,
		"{\n\"Nodes\": [1]}":                     "line 2: want an object",
		"{\"Nodes\": [\"a b\",\n\"x\",\n\"A_B\"]}": `line 3: "A_B" names both entity type "a b" and "A_B"`,
		"{\"Nodes\": [\"a\",\n\"a\"]}":             `line 2: "a" names both`,
		"{\"Nodes\": [\"a\",\n\" \"]}":             "line 2: a name of entity type",
	} {
		if _, err := extract.ReadSchema(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want …%s…", text, err, want)
		}
	}
}

func schema() extract.Schema {
	return extract.Schema{
		EntityTypes: []extract.SchemaItem{{Name: "person"}, {Name: "ship", Aliases: []string{"vessel"}}},
		Relations:   []extract.SchemaItem{{Name: "built_by"}, {Name: "knows"}},
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
		{extract.Strict, []string{"Fram | built_by | Colin Archer", "Colin Archer | built_by | Fram"}, []string{"Ann launch year 1900", "Fram launch year 1892"}, 6},
		{extract.Prefer, []string{"Fram | built_by | Colin Archer", "Colin Archer | built_by | Fram", "Fram | moored_at | Oslo", "Ann | knows | Oslo"},
			[]string{"Ann launch year 1900", "Fram launch year 1892", "Fram colour grey"}, 6},
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

// A schema grows at the ends of batches, by document, whatever the order of the
// chunks.
func TestGrow(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		if strings.Contains(req.Messages[0].Text, `"harbour"`) {
			t.Error("what a model proposed stands in the system message")
		}
		if strings.Contains(req.Messages[1].Text, `"harbour"`) {
			return llm.Reply{Text: `{"entity_types": {"Oslo": "harbour"}, "triples": [], "attributes": {}}`}
		}
		return llm.Reply{Text: `{"entity_types": {"Oslo": "harbour"}, "triples": [], "attributes": {}, "new_schema_types": {"nodes": [{"name":"harbour","confidence":0.95}], "relations": ["met"]}}`}
	})
	var chunks []graphrag.Chunk
	for _, d := range []string{"d", "b", "a", "c"} {
		chunks = append(chunks, graphrag.Chunk{ID: d + "#0", Doc: d, Text: "Oslo"})
	}
	e, err := extract.NewBySchema(extract.SchemaOptions{ModelOptions: extract.ModelOptions{Model: m}, Schema: schema(), Expand: &extract.Expansion{Batch: 2}})
	texttest.OK(t, err)
	out, err := e.Extract(t.Context(), chunks)
	texttest.OK(t, err)
	var types []string
	for _, x := range out {
		types = append(types, x.Chunk+" "+x.Mentions[0].Type)
	}
	// a and b propose the type together, and have it themselves too.
	if diff := cmp.Diff([]string{"d#0 harbour", "b#0 harbour", "a#0 harbour", "c#0 harbour"}, types); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
	bad.EntityTypes[0].Name = "vessel"
	if _, err := extract.NewBySchema(extract.SchemaOptions{Schema: bad, Mode: "x", Expand: &extract.Expansion{Mu: 2, MinDocs: -1}}); err == nil ||
		!strings.Contains(err.Error(), `"vessel" names both`) || !strings.Contains(err.Error(), "Mode is x") || !strings.Contains(err.Error(), "Mu is 2") || !strings.Contains(err.Error(), "MinDocs is -1") {
		t.Errorf("error %v", err)
	}
}
