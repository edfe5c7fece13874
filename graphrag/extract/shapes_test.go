// SPDX-License-Identifier: Apache-2.0

package extract_test

import (
	"cmp"
	"os"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/jsonl"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

const nordstar = "The Nordstar was built in 1911 at Holmvik by Henrik Aas. Holmvik, Norway, lies at the sea."

// shaped extracts with a model that writes the reply twice, and an end mark after that.
func shaped(t *testing.T, format, reply string) (kg.Extraction, int) {
	m := llmtest.NewScript("m")
	o := extract.ModelOptions{Model: m}
	first := func(r llm.Request) bool { return (r.Stage == extract.StageEntities) == (format == "names") }
	if part, ok := strings.CutPrefix(reply, "cut: "); ok { // at the limit of tokens
		m.Fail(first, &llm.Error{Kind: llm.ErrTruncated, Partial: part})
	}
	switch format {
	case "names", "triples":
		names := `{"named_entities": ["Nordstar", "Holmvik", "Henrik Aas"]}`
		m.Reply(first, reply).Reply(llmtest.Any, map[bool]string{true: `{"triples": []}`, false: names}[format == "names"])
		e, err := extract.NewOpenIE(o)
		x := got(t, e, err, nordstar)
		return x, m.Calls() - map[bool]int{true: 1}[len(x.Problems) == 0 || format == "triples"] // without that of the other prompt
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

// Each line is a reply, and what it says. A refusal says nothing and is asked for twice; of a reply that was cut the whole
// records are kept, without a second call, and the loss is a problem.
func TestShapes(t *testing.T) {
	err := jsonl.Each(os.DirFS("testdata"), "shapes.jsonl", 1<<20, func(_ int, c struct {
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

// Long runs of marks, of records or of a list without an end is read in one pass.
func TestLongReplies(t *testing.T) {
	for _, of := range []string{"|", "(", "```\n", "{", "[", "\t", "<|", "| a | b |\n", "entity|", "##", "(\"entity\"<|>", "{\"name\": \"a\", \"description\": \"b\"}\n", "entity<|#|>a<|#|>b<|#|>c\n", "1. ", "<|COMPLETE|>"} {
		for _, format := range []extract.Format{extract.Lines, extract.Tuples} {
			if x := records(t, format, strings.Repeat(of, 1<<17/len(of))); len(x.Mentions) > 2 || len(x.Problems) > 1<<19 {
				t.Errorf("%q: %d mentions, %d problems", of, len(x.Mentions), len(x.Problems))
			}
		}
	}
}
