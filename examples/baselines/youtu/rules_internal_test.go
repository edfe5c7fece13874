// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
)

// A plan by rules is the question, with the types of its question words and the names
// of the schema that it has the words of.
func TestByRules(t *testing.T) {
	schema := &extract.Schema{EntityTypes: items("person", "place", "ship"), Relations: items("was built by", "sailed on"), Attributes: items("launch_year")}
	for question, want := range map[string][]string{
		"Who built the ships in Larvik?":               {"person", "ship", "was built by"},
		"Where and in what launch year was it built?":  {"place", "was built by", "launch_year"},
		"Name everything that the moon has to do with": nil,
	} {
		subs, err := byRules(schema)(t.Context(), question)
		if err != nil || len(subs) != 1 || subs[0].Text != question {
			t.Fatalf("%+v, %v", subs, err)
		}
		if diff := cmp.Diff(want, subs[0].Types); diff != "" {
			t.Errorf("%s (-want +got):\n%s", question, diff)
		}
	}
	if subs, err := byRules(nil)(t.Context(), "Who?"); err != nil || len(subs) != 1 || subs[0].Types != nil {
		t.Errorf("without a schema: %+v, %v", subs, err)
	}
}

// What nothing found speaks of is looked for, unless no page of the corpus does.
func TestFillGaps(t *testing.T) {
	known := func(term string) bool { return term != "zaphod" }
	m := agent.Memory{Question: graphrag.Question{Text: "Where was the builder of Zaphod's ship born?", K: 1}, Found: graphrag.Found{
		Ranked:  []graphrag.Hit{{Chunk: graphrag.Chunk{Title: "Ships", Text: "Colin Archer builds."}}, {Chunk: graphrag.Chunk{Text: "He was born."}}},
		Derived: []graphrag.Derived{{Kind: kindCommunity, Text: "towns"}, {Kind: kindFact, Text: "Fram built by Archer"}},
	}}
	want := agent.Verdict{Thought: "nothing says: builder born", Query: "builder born Fram built by Archer"}
	if got := fillGaps(m, known); got != want {
		t.Errorf("%+v", got)
	}
	m.Found.Derived = append(m.Found.Derived, graphrag.Derived{Kind: kindFact, Text: "Archer was born in Larvik, the builder of ships"})
	if got := fillGaps(m, known); !got.Answered || got.Query != "" {
		t.Errorf("%+v", got)
	}
}
