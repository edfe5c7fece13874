// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

var schema = extract.Schema{
	EntityTypes: []extract.SchemaItem{{Name: "person"}, {Name: "ship", Aliases: []string{"vessel"}}},
	Relations:   []extract.SchemaItem{{Name: "built_by"}},
}

func TestPlan(t *testing.T) {
	forty := make([]agent.SubQuery, 40)
	for i := range forty {
		forty[i] = agent.SubQuery{ID: fmt.Sprint("q", i+1), Text: fmt.Sprintf("part %d?", i+1), DependsOn: []string{fmt.Sprint("q", (i+1)%40+1)}}
	}
	self := []agent.SubQuery{{ID: "q1", Text: "Who built the Fram?"}}
	for _, tt := range []struct {
		name     string
		proposed []agent.SubQuery
		want     []agent.SubQuery
		notes    string // parts of them
	}{
		{"none", nil, self, "no sub-query"},
		{"only blanks", []agent.SubQuery{{ID: "a"}, {ID: "b", Text: " ?? "}}, self, "no text"},
		{"sound", []agent.SubQuery{{ID: "a", Text: "Who?", Target: agent.Node, Types: []string{"Person"}}, {ID: "b", Text: "Where?", DependsOn: []string{"a"}}},
			[]agent.SubQuery{{ID: "a", Text: "Who?", Target: agent.Node, Types: []string{"person"}}, {ID: "b", Text: "Where?", DependsOn: []string{"a"}}}, ""},
		{"forty in a circle", forty, []agent.SubQuery{
			{ID: "q1", Text: "part 1?", DependsOn: []string{"q2"}}, {ID: "q2", Text: "part 2?", DependsOn: []string{"q3"}}, {ID: "q3", Text: "part 3?", DependsOn: []string{"q4"}}, {ID: "q4", Text: "part 4?"},
		}, "one too many"},
		{"a circle of two", []agent.SubQuery{{ID: "a", Text: "x?", DependsOn: []string{"b"}}, {ID: "b", Text: "y?", DependsOn: []string{"a"}}},
			[]agent.SubQuery{{ID: "a", Text: "x?"}, {ID: "b", Text: "y?", DependsOn: []string{"a"}}}, "in a circle"},
		{"waits for itself and for nobody", []agent.SubQuery{{ID: "a", Text: "x?", DependsOn: []string{"a", "z"}}}, []agent.SubQuery{{ID: "a", Text: "x?"}}, `waits for itself; sub-query "a" waits for "z", which is not there`},
		{"unknown target and types", []agent.SubQuery{{ID: "a", Text: "x?", Target: "Everything", Types: []string{"vessel", "SHIP", "planet", "built by"}}},
			[]agent.SubQuery{{ID: "a", Text: "x?", Types: []string{"ship", "built_by"}}}, `unknown target "everything"; sub-query "a" has the unknown type "planet"`},
		{"IDs missing and twice", []agent.SubQuery{{Text: "x?"}, {ID: "q1", Text: "y?", DependsOn: []string{"q1"}}, {ID: "q1", Text: "z?", DependsOn: []string{"q1"}}},
			[]agent.SubQuery{{ID: "q1", Text: "x?"}, {ID: "q2", Text: "y?"}, {ID: "q3", Text: "z?", DependsOn: []string{"q2"}}}, "empty or taken"},
		{"said twice", []agent.SubQuery{{ID: "a", Text: "Who built it?"}, {ID: "b", Text: "who  built it?"}, {ID: "c", Text: "Where?", DependsOn: []string{"b"}}},
			[]agent.SubQuery{{ID: "a", Text: "Who built it?"}, {ID: "c", Text: "Where?", DependsOn: []string{"a"}}}, `"b" says the same as "a"`},
	} {
		got, notes := agent.Plan("Who built the Fram?", tt.proposed, &schema, 0)
		if diff := cmp.Diff(tt.want, got, cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) })); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if all := strings.Join(notes, "; "); !strings.Contains(all, tt.notes) || tt.notes == "" && all != "" {
			t.Errorf("%s: notes %q, want %q", tt.name, all, tt.notes)
		}
	}
	long, _ := agent.Plan("q", []agent.SubQuery{{ID: "a", Text: strings.Repeat("многословно ", 1000)}}, nil, 1)
	if n := len(long[0].Text); n > 1000 || n < 900 || !strings.HasSuffix(long[0].Text, "многословно") {
		t.Errorf("a text of %d bytes: …%q", n, long[0].Text[n-20:])
	}
}

// Whatever a model writes, the plan can be carried out: one to four sub-queries with
// a text and an ID of their own, none of which waits for ever.
func FuzzPlan(f *testing.F) {
	for _, reply := range []string{
		`{"sub_queries": [{"id": "q1", "text": "Who?", "target": "node", "types": ["person"], "depends_on": ["q2"]}, {"id": "q2", "text": "Where?", "depends_on": "q1"}]}`,
		`{"sub_queries": [{"id": 1, "text": "a"}, {"id": 1, "text": "A "}, {"id": null, "text": "b", "depends_on": [1, 1, "1"]}, {"text": ""}]}`,
		`{"sub_queries": [{"id": "q2", "text": "a"}, {"text": "b"}, {"id": "q2", "text": "c"}, {"id": "q4", "text": "d"}, {"text": "e"}]}`,
		`{"sub_queries": []}`, `{"sub_queries": null}`, `[]`, "",
	} {
		f.Add(reply)
	}
	f.Fuzz(func(t *testing.T, reply string) {
		d, err := agent.DecomposeByModel(agent.DecomposeOptions{Model: llmtest.NewScript("m").Reply(llmtest.Any, reply), Schema: &schema})
		if err != nil {
			t.Fatal(err)
		}
		proposed, err := d(context.Background(), "Who?")
		if err != nil {
			t.Fatalf("%q: %v", reply, err)
		}
		subs, _ := agent.Plan("Who?", proposed, &schema, 0)
		done := map[string]bool{}
		for range subs {
			for _, s := range subs {
				if !slices.ContainsFunc(s.DependsOn, func(id string) bool { return !done[id] }) {
					done[s.ID] = true
				}
			}
		}
		if len(subs) < 1 || len(subs) > 4 || len(done) != len(subs) {
			t.Errorf("%q: %+v, done %v", reply, subs, done)
		}
		for _, s := range subs {
			if strings.TrimSpace(s.Text) == "" || s.ID == "" {
				t.Errorf("%q: %+v", reply, s)
			}
		}
	})
}
