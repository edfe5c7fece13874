// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/extract"
	"github.com/wildgraph/wildgraph/graphrag/pages"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

func hits(ids string) []graphrag.Hit {
	out := []graphrag.Hit{}
	for _, id := range strings.Fields(ids) {
		out = append(out, graphrag.Hit{Chunk: graphrag.Chunk{ID: id, Doc: id, Text: "text of " + id}, Score: 1})
	}
	return out
}

// found is a search by the first line of what it is asked.
func found(answers map[string]graphrag.Found) func(ctx context.Context, q graphrag.Question, sub agent.SubQuery) (graphrag.Found, error) {
	return func(ctx context.Context, q graphrag.Question, _ agent.SubQuery) (graphrag.Found, error) {
		f := answers[strings.Split(q.Text, "\n")[0]]
		f.Usage.Calls++
		return f, ctx.Err()
	}
}

func proposing(subs ...agent.SubQuery) agent.Decomposer {
	return func(context.Context, string) ([]agent.SubQuery, error) { return subs, nil }
}

// What sub-queries find is put together in turn; one that waits is asked together
// with the best of what it waited for.
func TestDecomposed(t *testing.T) {
	r, err := agent.Decomposed(found(map[string]graphrag.Found{
		"Who built the Fram?":  {Ranked: hits("f1 f2 f3"), Derived: []graphrag.Derived{{Text: "Fram built by Archer"}, {Text: "Fram is a ship"}}},
		"Where was he born?":   {Ranked: hits("l1 f1"), Derived: []graphrag.Derived{{Text: "Archer born in Larvik"}, {Text: "Fram is a ship"}}},
		"What do towns share?": {Ranked: hits("t1")},
	}), proposing(agent.SubQuery{ID: "a", Text: "Who built the Fram?"}, agent.SubQuery{ID: "b", Text: "Where was he born?", DependsOn: []string{"a"}},
		agent.SubQuery{ID: "c", Text: "What do towns share?", Target: "x"}), nil, 0)
	check.OK(t, err)
	q := graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2, Depth: 4}
	f := check.Of(r.Retrieve(t.Context(), q)).OK(t)
	var ids, derived []string
	for _, h := range f.Ranked {
		ids = append(ids, h.Chunk.ID)
	}
	for _, d := range f.Derived {
		derived = append(derived, d.Text)
	}
	check.Equal(t, ids, []string{"f1", "l1", "t1", "f2"})
	check.Equal(t, derived, []string{"Fram built by Archer", "Archer born in Larvik", "Fram is a ship"})
	want := []graphrag.Step{
		{Kind: "decompose", Query: q.Text, Found: []string{"a: Who built the Fram?", "b: Where was he born?", "c: What do towns share?", `sub-query "c" has the unknown target "x"`}},
		{Kind: "search", Query: "Who built the Fram?", Found: []string{"f1", "f2"}},
		{Kind: "search", Query: "Where was he born?\nFram built by Archer", Found: []string{"l1", "f1"}},
		{Kind: "search", Query: "What do towns share?", Found: []string{"t1"}},
	}
	diff := cmp.Diff(want, f.Steps)
	check.True(t, diff == "" && f.Usage.Calls == 3, "%d calls\n%s", f.Usage.Calls, diff)
}

// Sub-queries that wait for none are all in flight at once: each search ends only
// when the others have begun.
func TestSideBySide(t *testing.T) {
	var begun sync.WaitGroup
	begun.Add(4)
	search := func(ctx context.Context, _ graphrag.Question, _ agent.SubQuery) (graphrag.Found, error) {
		begun.Done()
		begun.Wait()
		return graphrag.Found{}, ctx.Err()
	}
	var subs []agent.SubQuery
	for i := range 4 {
		subs = append(subs, agent.SubQuery{Text: fmt.Sprint("part ", i)})
	}
	r, err := agent.Decomposed(search, proposing(subs...), nil, 0)
	check.OK(t, err)
	_, err = r.Retrieve(t.Context(), graphrag.Question{Text: "q"})
	check.True(t, err == nil, "%v", err)
}

// One search that fails ends those that wait for it, too.
func TestFailingSearch(t *testing.T) {
	broken := errors.New("no index")
	search := func(_ context.Context, q graphrag.Question, _ agent.SubQuery) (graphrag.Found, error) {
		if strings.HasPrefix(q.Text, "first") {
			return graphrag.Found{}, broken
		}
		return graphrag.Found{}, nil
	}
	r, _ := agent.Decomposed(search, proposing(agent.SubQuery{ID: "a", Text: "first?"}, agent.SubQuery{ID: "b", Text: "then?", DependsOn: []string{"a"}}), nil, 0)
	_, err := r.Retrieve(t.Context(), graphrag.Question{Text: "q"})
	check.True(t, errors.Is(err, broken) && strings.Contains(err.Error(), "sub-query a"), "%v", err)
	_, err = agent.Decomposed(nil, nil, nil, 0)
	check.True(t, err != nil && strings.Contains(err.Error(), "search") && strings.Contains(err.Error(), "decomposer"), "%v does not name both", err)
}

// A model's plan is read whatever its shape; what cannot be read leaves the question
// as it is, and a model that is not there is an error.
func TestDecomposeByModel(t *testing.T) {
	for _, tt := range []struct {
		name, reply, want string
		calls             int
	}{
		{"as told", `{"sub_queries": [{"id": "q1", "text": "Who?", "target": "node", "types": ["person"], "depends_on": []}]}`, "[{q1 Who? node [person] []}]", 1},
		{"loosely", `{"sub_queries": [{"id": 1, "text": ["Who?"], "types": "person", "depends_on": 2}, {"text": null}]}`, "[{1 Who?  [person] [2]} {    [] []}]", 1},
		{"texts alone", `{"sub_queries": ["Who?"]}`, "[{ Who?  [] []}]", 1},
		{"wrapped", `{"result": {"sub_queries": [{"text": "Who?"}]}}`, "[{ Who?  [] []}]", 1},
		{"none", `{"sub_queries": []}`, "[]", 1},
		{"another object", `{"queries": []}`, "[]", 2},
		{"no JSON", `Let me think.`, "[]", 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, tt.reply)
		d, err := agent.DecomposeByModel(m, &schema, 0)
		check.OK(t, err)
		subs, err := d(t.Context(), "Who?")
		if got := fmt.Sprint(subs); err != nil || strings.ReplaceAll(got, "  ", " ") != strings.ReplaceAll(tt.want, "  ", " ") || m.Calls() != tt.calls {
			t.Errorf("%s: %s after %d calls, %v; want %s after %d", tt.name, got, m.Calls(), err, tt.want, tt.calls)
		}
		system, user := m.Requests()[0].Messages[0].Text, m.Requests()[0].Messages[1].Text
		if !strings.Contains(system, "4 at most") || !strings.Contains(user, `"built_by"`) || !strings.Contains(user, "schema") {
			t.Errorf("%s: the prompt has no limit or no schema", tt.name)
		}
		if strings.Contains(system, "built_by") { // the schema may have words of pages
			t.Errorf("%s: the schema stands in the system message", tt.name)
		}
	}
	denied, _ := agent.DecomposeByModel(llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}), nil, 0)
	check.Is(t, check.Err(denied(t.Context(), "Who?")), llm.ErrAuth)
	check.True(t, check.Err(agent.DecomposeByModel(nil, nil, 0)) != nil, "no model")
}

func TestAspectsByModel(t *testing.T) {
	const question = "Summarize the voyages of the Fram."
	forty := make([]string, 40)
	for i := range forty {
		forty[i] = fmt.Sprintf(`"ice %d"`, i)
	}
	for _, tt := range []struct {
		name, reply string
		want        []string
		calls       int
	}{
		{"as told", `{"aspects": ["Nansen 1893 drift", "Sverdrup Greenland"]}`, []string{"Nansen 1893 drift", "Sverdrup Greenland"}, 1},
		{"loosely", "Here: {\"aspects\": [1911, null, {\"name\": \"1\"}, \"Nansen\\n drift\", \"nansen drift\", \"\", \"...\"]}", []string{"1911", "1", "Nansen drift"}, 1},
		{"one alone", `{"aspects": "Nansen"}`, []string{"Nansen"}, 1},
		{"the question again", `{"aspects": ["summarize the Voyages of the Fram"]}`, nil, 1},
		{"none", `{"aspects": []}`, nil, 1},
		{"forty", `{"aspects": [` + strings.Join(forty, ",") + `]}`, []string{"ice 0", "ice 1", "ice 2", "ice 3", "ice 4", "ice 5", "ice 6", "ice 7"}, 1},
		{"another object", `{"queries": []}`, nil, 2},
		{"no JSON", `Let me think.`, nil, 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Stage(agent.StageAspects), tt.reply)
		plan, err := agent.AspectsByModel(m)
		check.OK(t, err)
		got, err := plan(t.Context(), question, []string{"The Fram", "a title\nof two lines", strings.Repeat("long ", 1000)})
		if fmt.Sprint(got) != fmt.Sprint(tt.want) || err != nil || m.Calls() != tt.calls {
			t.Errorf("%s: %q after %d calls, %v; want %q after %d", tt.name, got, m.Calls(), err, tt.want, tt.calls)
		}
		req := m.Requests()[0]
		said := req.Messages[len(req.Messages)-1].Text
		if !strings.Contains(said, question) || !strings.Contains(said, "The Fram\na title of two lines\nlong") || len(said) > 3000 || !strings.Contains(req.Messages[0].Text, fmt.Sprint("up to ", pages.MaxAspects)) {
			t.Errorf("%s: the prompt is %s", tt.name, said)
		}
	}
	denied, _ := agent.AspectsByModel(llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}))
	check.Is(t, check.Err(denied(t.Context(), question, nil)), llm.ErrAuth)
	check.True(t, check.Err(agent.AspectsByModel(nil)) != nil, "no model")
}

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
		got, notes := agent.RepairPlan("Who built the Fram?", tt.proposed, &schema, 0)
		diff := cmp.Diff(tt.want, got, cmp.Transformer("nil", func(s []string) []string { return append([]string{}, s...) }))
		check.Equal(t, diff, "", "%s (-want +got)", tt.name)
		if all := strings.Join(notes, "; "); !strings.Contains(all, tt.notes) || tt.notes == "" && all != "" {
			t.Errorf("%s: notes %q, want %q", tt.name, all, tt.notes)
		}
	}
	long, _ := agent.RepairPlan("q", []agent.SubQuery{{ID: "a", Text: strings.Repeat("многословно ", 1000)}}, nil, 1)
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
		d := check.Of(agent.DecomposeByModel(llmtest.NewScript("m").Reply(llmtest.Any, reply), &schema, 0)).OK(t)
		proposed := check.Of(d(context.Background(), "Who?")).OK(t, "%q", reply)
		subs, _ := agent.RepairPlan("Who?", proposed, &schema, 0)
		done := map[string]bool{}
		for range subs {
			for _, s := range subs {
				if !slices.ContainsFunc(s.DependsOn, func(id string) bool { return !done[id] }) {
					done[s.ID] = true
				}
			}
		}
		check.True(t, len(subs) >= 1 && len(subs) <= 4 && len(done) == len(subs), "%q: %+v, done %v", reply, subs, done)
		for _, s := range subs {
			check.True(t, strings.TrimSpace(s.Text) != "" && s.ID != "", "%q: %+v", reply, s)
		}
	})
}
