// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/embed/local"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/journal"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// A fault in a schema file is reported with its line.
func TestReadBadSchema(t *testing.T) {
	for _, row := range check.Rows(t, "testdata/readbadschema.txt") {
		text, want := row[0], row[1]
		check.Fails(t, check.Err(extract.ReadSchema(strings.NewReader(text))), want, "%q", text)
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
		check.Equal(t, facts(x), tt.facts, "%s: facts", tt.mode)
		var attributes []string
		for _, a := range x.Attributes {
			attributes = append(attributes, a.Entity+" "+a.Key+" "+a.Value)
		}
		check.Equal(t, attributes, tt.attributes, "%s: attributes", tt.mode)
		if len(x.Problems) != tt.problems {
			t.Errorf("%s: %d problems, want %d: %q", tt.mode, len(x.Problems), tt.problems, reasons(x))
		}
		check.Equal(t, m.Calls(), 1, "calls")
	}
}

// A schema is extended at the end of a batch of documents, whatever the order of the chunks.
func TestGrow(t *testing.T) {
	m := llmtest.NewScript("m").Handle(llmtest.Any, func(req llm.Request) llm.Reply {
		check.True(t, !strings.Contains(req.Messages[0].Text, `"harbour"`), "what a model proposed stands in the system message")
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
	check.OK(t, err)
	out := check.Of(e.Extract(t.Context(), chunks)).OK(t)
	var types []string
	for _, x := range out {
		types = append(types, x.Chunk+" "+x.Mentions[0].Type)
	}
	// a and b propose the type together, and their extractions have it too.
	check.Equal(t, types, []string{"d#0 harbour", "b#0 harbour", "a#0 harbour", "c#0 harbour"}, "(-want +got)")
}

func TestReadSchema(t *testing.T) {
	s, err := extract.ReadSchema(strings.NewReader(`{"Nodes": ["person"], "Relations": ["knows"], "Attributes": []}`))
	check.True(t, err == nil && len(s.EntityTypes) == 1 && s.Relations[0].Name == "knows", "%+v, %v", s, err)
	for text, want := range map[string]string{
		`[`: "want an object", `{"Types": []}`: "want an object", `{"Nodes": [" "]}`: "is empty", `{"Nodes": ["a b", "A_B"]}`: "names both",
	} {
		check.Fails(t, check.Err(extract.ReadSchema(strings.NewReader(text))), want, "%s", text)
	}
	bad := schema()
	bad.EntityTypes[0].Name = "vessel"
	if _, err := extract.NewBySchema(extract.SchemaOptions{Schema: bad, Mode: "x", Expand: &extract.Expansion{Mu: 2, MinDocs: -1}}); err == nil ||
		!strings.Contains(err.Error(), `"vessel" names both`) || !strings.Contains(err.Error(), "Mode is x") || !strings.Contains(err.Error(), "Mu is 2") || !strings.Contains(err.Error(), "MinDocs is -1") {
		t.Errorf("error %v", err)
	}
}

func pages(n int) []graphrag.Chunk {
	var chunks []graphrag.Chunk
	for i := range n {
		for part := range 2 {
			chunks = append(chunks, graphrag.Chunk{ID: fmt.Sprintf("%03d#%d", i, part), Doc: fmt.Sprintf("%03d", i), Text: fmt.Sprintf("page %03d part %d ", i, part) + strings.Repeat("x ", 3000)})
		}
	}
	return chunks
}

// A schema is made in one call from the beginnings of eight documents; a document more is rarely among them.
func TestInduce(t *testing.T) {
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"Nodes": ["person", "Person ", "", null, 7, "`+strings.Repeat("long", 20)+`", "ship"], "Relations": ["built_by", "built by"], "Attributes": []}`)
	s := check.Of(extract.Induce(t.Context(), m, pages(50))).OK(t)
	want := map[string][]string{"Nodes": {"person", "ship"}, "Relations": {"built_by"}, "Attributes": {}}
	check.Equal(t, s.Plain(), want)
	shown := func(n int) string {
		check.OK(t, check.Err(extract.Induce(t.Context(), m, pages(n))))
		all := m.Requests()
		_, text, _ := strings.Cut(all[len(all)-1].Messages[1].Text, "\n") // text after the mark
		return text[:strings.LastIndex(text, "\n")]
	}
	if text := shown(50); strings.Count(text, "page ") != 8 || strings.Contains(text, "part 1") || len(text) > 8*2100 {
		t.Errorf("%d bytes of %d pages", len(text), strings.Count(text, "page "))
	}
	same := 0
	for n := 50; n < 60; n++ {
		if shown(n) == shown(n+1) {
			same++
		}
	}
	check.True(t, same >= 7, "one page more changes what is shown %d times of 10", 10-same)
	none, err := extract.Induce(t.Context(), m, nil)
	check.True(t, err == nil && len(none.EntityTypes) == 0, "of nothing: %+v, %v", none, err)
	check.True(t, check.Err(extract.Induce(t.Context(), nil, pages(1))) != nil, "without a model")
	_, err = extract.Induce(t.Context(), llmtest.NewScript("m").Reply(llmtest.Any, `{"Nodes": []}`), pages(1))
	check.True(t, llm.OfOneReply(err), "no types: %v", err)
	check.Is(t, check.Err(extract.Induce(t.Context(), llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}), pages(1))), llm.ErrAuth)
}

// recorded gives every chunk the same lists.
type recorded kg.Extraction

func (r recorded) Extract(_ context.Context, chunks []graphrag.Chunk) ([]kg.Extraction, error) {
	out := make([]kg.Extraction, len(chunks))
	for i, c := range chunks {
		out[i] = kg.Extraction{Chunk: c.ID, Doc: c.Doc, Mentions: r.Mentions, Facts: r.Facts}
	}
	return out, nil
}

// Limiting returns a copy: records that others use stay whole.
func TestBoundedRecords(t *testing.T) {
	recorded := recorded{Mentions: []kg.Mention{{Name: "a"}, {Name: "b"}}}
	for _, r := range []string{"a knows b", "a built_by b", "b met a"} {
		parts := strings.Fields(r)
		recorded.Facts = append(recorded.Facts, kg.Fact{Triple: graphrag.Triple{Head: parts[0], Relation: parts[1], Tail: parts[2]}})
	}
	e := check.Of(extract.NewBySchema(extract.SchemaOptions{By: recorded, Schema: schema()})).OK(t)
	chunk := []graphrag.Chunk{{ID: "d#0", Doc: "d", Text: "p"}}
	bounded, err := e.Extract(t.Context(), chunk)
	if err != nil || len(bounded[0].Facts) != 0 || len(bounded[0].Mentions) != 2 { // no mention has a type
		t.Errorf("%+v, %v", bounded, err)
	}
	check.Equal(t, facts(check.Of(recorded.Extract(t.Context(), chunk)).OK(t)[0]), []string{"a | knows | b", "a | built_by | b", "b | met | a"})
}

const nordstar = "The Nordstar was built in 1911 at Holmvik by Henrik Aas. Holmvik, Norway, lies at the sea."

// shaped extracts with a model that writes the reply twice, the second time after an end mark.
func shaped(t *testing.T, format, reply string) (kg.Extraction, int) {
	m := llmtest.NewScript("m")
	o := extract.ModelOptions{Model: m}
	first := func(r llm.Request) bool { return (r.Stage == extract.StageEntities) == (format == "names") }
	if part, ok := strings.CutPrefix(reply, "cut: "); ok { // the reply is cut at the token limit
		m.Fail(first, &llm.Error{Kind: llm.ErrTruncated, Partial: part})
	}
	switch format {
	case "names", "triples":
		names := `{"named_entities": ["Nordstar", "Holmvik", "Henrik Aas"]}`
		m.Reply(first, reply).Reply(llmtest.Any, map[bool]string{true: `{"triples": []}`, false: names}[format == "names"])
		e, err := extract.NewOpenIE(o)
		x := got(t, e, err, nordstar)
		return x, m.Calls() - map[bool]int{true: 1}[len(x.Problems) == 0 || format == "triples"] // without the other prompt's call
	case "schema":
		m.Reply(llmtest.Any, reply)
		e, err := extract.NewBySchema(extract.SchemaOptions{ModelOptions: o, Schema: extract.Schema{EntityTypes: []extract.SchemaItem{{Name: "ship"}, {Name: "place"}, {Name: "person"}},
			Relations: []extract.SchemaItem{{Name: "built at"}, {Name: "built by"}}, Attributes: []extract.SchemaItem{{Name: "year built"}}}})
		return got(t, e, err, nordstar), m.Calls()
	}
	m.Reply(llmtest.Any, reply, reply, "<|COMPLETE|>")
	e, err := extract.NewRecords(extract.RecordOptions{ModelOptions: o, Format: extract.Format(format)})
	return got(t, e, err, nordstar), m.Calls()
}

// Each line has a reply and the records that are read from it. A refusal has none and is requested twice; of a
// reply that was cut the whole records are kept, without a second call, and the loss is reported as a problem.
func TestShapes(t *testing.T) {
	err := journal.EachLine(os.DirFS("testdata"), "shapes.jsonl", 1<<20, func(_ int, c struct {
		Format, Shape, Reply string
		Names, Facts         []string
		Calls                int
	}) error {
		x, calls := shaped(t, c.Format, c.Reply)
		var said []string
		for _, f := range x.Facts {
			said = append(said, f.Head+" | "+cmp.Or(f.Relation, f.Description)+" | "+f.Tail)
		}
		names := mentioned(x)
		slices.Sort(names)
		slices.Sort(c.Names)
		if diff := gocmp.Diff([][]string{c.Names, c.Facts}, [][]string{names, said}, cmpopts.EquateEmpty()); diff != "" || calls != c.Calls || strings.HasPrefix(c.Reply, "cut: ") && len(x.Problems) != 1 {
			t.Errorf("%s %s: %d calls, want %d; %q\n%s", c.Format, c.Shape, calls, c.Calls, reasons(x), diff)
		}
		return nil
	})
	check.OK(t, err)
}

// Long sequences of marks, of records or of a list without an end are read in one pass.
func TestLongReplies(t *testing.T) {
	for _, of := range []string{"|", "(", "```\n", "{", "[", "\t", "<|", "| a | b |\n", "entity|", "##", "(\"entity\"<|>", "{\"name\": \"a\", \"description\": \"b\"}\n", "entity<|#|>a<|#|>b<|#|>c\n", "1. ", "<|COMPLETE|>"} {
		for _, format := range []extract.Format{extract.Lines, extract.Tuples} {
			if x := records(t, format, strings.Repeat(of, 1<<17/len(of))); len(x.Mentions) > 2 || len(x.Problems) > 1<<19 {
				t.Errorf("%q: %d mentions, %d problems", of, len(x.Mentions), len(x.Problems))
			}
		}
	}
}

// fixed is an extractor that always returns one extraction.
type fixed struct{ kg.Extraction }

func (f fixed) Extract(context.Context, []graphrag.Chunk) ([]kg.Extraction, error) {
	return []kg.Extraction{f.Extraction}, nil
}

// Names in two cells of a row are not related by the words of the row.
func TestLinkedRows(t *testing.T) {
	x := fixed{kg.Extraction{Mentions: []kg.Mention{{Name: "Ann", Span: kg.Span{Start: 2, End: 5}}, {Name: "Oslo", Span: kg.Span{Start: 17, End: 21}}}}}
	found, err := extract.Linked(x).Extract(t.Context(), []graphrag.Chunk{{Text: "| Ann | laptop | Oslo |"}})
	check.True(t, err == nil && len(found[0].Facts) == 1 && found[0].Facts[0].Relation == "is mentioned with", "%+v, %v", found, err)
}

// Neighbouring names in a sentence are related once in a chunk, unless a fact relates them; names without a
// span are not.
func TestLinked(t *testing.T) {
	text := "Ann met Bob and Cid. Ann saw Bob. Dan left."
	var x kg.Extraction
	for at, name := range map[int]string{0: "Ann", 8: "Bob", 16: "Cid", 21: "Ann", 29: "Bob", 34: "Dan"} {
		x.Mentions = append(x.Mentions, kg.Mention{Name: name, Span: kg.Span{Start: at, End: at + 3}})
	}
	x.Mentions = append(x.Mentions, kg.Mention{Name: "Eve"})
	relate := func() (out []string) {
		found := check.Of(extract.Described(extract.Linked(fixed{x})).Extract(t.Context(), []graphrag.Chunk{{Text: text}})).OK(t)
		for _, f := range found[0].Facts {
			out = append(out, f.Head+" "+f.Relation+" "+f.Tail+": "+f.Description)
		}
		return out
	}
	check.Equal(t, relate(), []string{"Ann met Bob: Ann met Bob and Cid.", "Bob and Cid: Ann met Bob and Cid."})
	x.Facts = []kg.Fact{{Triple: graphrag.Triple{Head: "bob", Relation: "met by", Tail: "Ann"}, Description: "known"}}
	check.Equal(t, relate(), []string{"bob met by Ann: known", "Bob and Cid: Ann met Bob and Cid."})
}

func TestByNames(t *testing.T) {
	dir := t.TempDir()
	check.OK(t, graphragtest.WriteHead(dir, "BertForTokenClassification", "O", "B-PER", "I-PER"))
	names := check.Of(local.OpenNames(dir, local.Options{})).OK(t)
	graphragtest.Extractor(t, extract.ByNames(names))
}
