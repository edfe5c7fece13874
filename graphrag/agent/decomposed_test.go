// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
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
func found(answers map[string]graphrag.Found) agent.Search {
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
	if err != nil {
		t.Fatal(err)
	}
	q := graphrag.Question{Text: "Where was the builder of the Fram born?", K: 2, Depth: 4}
	f, err := r.Retrieve(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	var ids, derived []string
	for _, h := range f.Ranked {
		ids = append(ids, h.Chunk.ID)
	}
	for _, d := range f.Derived {
		derived = append(derived, d.Text)
	}
	if diff := cmp.Diff([]string{"f1", "l1", "t1", "f2"}, ids); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"Fram built by Archer", "Archer born in Larvik", "Fram is a ship"}, derived); diff != "" {
		t.Error(diff)
	}
	want := []graphrag.Step{
		{Kind: "decompose", Query: q.Text, Found: []string{"a: Who built the Fram?", "b: Where was he born?", "c: What do towns share?", `sub-query "c" has the unknown target "x"`}},
		{Kind: "search", Query: "Who built the Fram?", Found: []string{"f1", "f2"}},
		{Kind: "search", Query: "Where was he born?\nFram built by Archer", Found: []string{"l1", "f1"}},
		{Kind: "search", Query: "What do towns share?", Found: []string{"t1"}},
	}
	if diff := cmp.Diff(want, f.Steps); diff != "" || f.Usage.Calls != 3 {
		t.Errorf("%d calls\n%s", f.Usage.Calls, diff)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Retrieve(t.Context(), graphrag.Question{Text: "q"}); err != nil {
		t.Error(err)
	}
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
	if _, err := r.Retrieve(t.Context(), graphrag.Question{Text: "q"}); !errors.Is(err, broken) || !strings.Contains(err.Error(), "sub-query a") {
		t.Error(err)
	}
	if _, err := agent.Decomposed(nil, nil, nil, 0); err == nil || !strings.Contains(err.Error(), "search") || !strings.Contains(err.Error(), "decomposer") {
		t.Errorf("%v does not name both", err)
	}
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
		{"none", `{"sub_queries": []}`, "[]", 1},
		{"another object", `{"queries": []}`, "[]", 2},
		{"no JSON", `Let me think.`, "[]", 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, tt.reply)
		d, err := agent.DecomposeByModel(agent.DecomposeOptions{Model: m, Schema: &schema})
		if err != nil {
			t.Fatal(err)
		}
		subs, err := d(t.Context(), "Who?")
		if got := fmt.Sprint(subs); err != nil || strings.ReplaceAll(got, "  ", " ") != strings.ReplaceAll(tt.want, "  ", " ") || m.Calls() != tt.calls {
			t.Errorf("%s: %s after %d calls, %v; want %s after %d", tt.name, got, m.Calls(), err, tt.want, tt.calls)
		}
		if text := m.Requests()[0].Messages[0].Text; !strings.Contains(text, `"built_by"`) || !strings.Contains(text, "4 at most") {
			t.Errorf("%s: the prompt has neither schema nor limit", tt.name)
		}
	}
	denied, _ := agent.DecomposeByModel(agent.DecomposeOptions{Model: llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth})})
	if _, err := denied(t.Context(), "Who?"); !errors.Is(err, llm.ErrAuth) {
		t.Error(err)
	}
	if _, err := agent.DecomposeByModel(agent.DecomposeOptions{}); err == nil {
		t.Error("no model")
	}
}
