// SPDX-License-Identifier: Apache-2.0

package agent_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/bm25"
	"github.com/wildgraph/wildgraph/graphrag/retrieve"
	"github.com/wildgraph/wildgraph/internal/check"
	"github.com/wildgraph/wildgraph/llm"
	"github.com/wildgraph/wildgraph/llm/llmtest"
)

// saying reflects with the given verdicts, in turn.
func saying(verdicts ...agent.Move) agent.Next {
	return func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		n := len(m.Turns) - 1
		if n == len(verdicts) {
			return agent.Move{}, errors.New("asked once too often")
		}
		return verdicts[n], nil
	}
}

func next(query string) agent.Move { return agent.Move{Query: query} }

func TestReflecting(t *testing.T) {
	pages := map[string]string{"Q?": "a b", "one": "c a", "two": "d", "known": "a b", "nothing": ""}
	r := graphrag.RetrieverFunc(func(ctx context.Context, q graphrag.Question) (graphrag.Found, error) {
		return graphrag.Found{Ranked: hits(pages[q.Text]), Usage: graphrag.Usage{Calls: 1}}, ctx.Err()
	})
	for _, tt := range []struct {
		name     string
		verdicts []agent.Move
		o        agent.Options
		ranked   string
		stop     string
		searches int
	}{
		{"answered at once", []agent.Move{{Thought: "all there", Answered: true, Query: "one"}}, agent.Options{}, "a b", "answered", 1},
		{"gives up", []agent.Move{next("one"), next(" ")}, agent.Options{}, "a c b", "no further query", 2},
		{"asks again what it asked", []agent.Move{next("one"), next(" ONE ")}, agent.Options{}, "a c b", "searched for before", 2},
		{"asks the question again", []agent.Move{next("q?")}, agent.Options{}, "a b", "searched for before", 1},
		{"finds nothing new", []agent.Move{next("known")}, agent.Options{}, "a b", "nothing new", 2},
		{"finds nothing", []agent.Move{next("nothing")}, agent.Options{}, "a b", "nothing new", 2},
		{"the last step", []agent.Move{next("one"), next("two")}, agent.Options{Steps: 2}, "a c d b", "last step", 3},
		{"the budget", []agent.Move{next("one")}, agent.Options{Tokens: 10}, "a c b", "budget", 2},
	} {
		reflect := saying(tt.verdicts...)
		it := check.Of(agent.Reflecting(r, r, func(ctx context.Context, m *agent.Memory) (agent.Move, error) {
			if tt.o.Tokens > 0 && m.Left < 8 {
				return agent.Move{}, fmt.Errorf("no: %w", agent.ErrSpent)
			}
			v, err := reflect(ctx, m)
			v.Tokens = 3
			return v, err
		}, tt.o)).OK(t)
		f, err := it.Retrieve(t.Context(), graphrag.Question{Text: "Q?", K: 2, Depth: 9})
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		var ids []string
		for _, h := range f.Ranked {
			ids = append(ids, h.Chunk.ID)
		}
		last := f.Steps[len(f.Steps)-1]
		if strings.Join(ids, " ") != tt.ranked || last.Kind != "stop" || !strings.Contains(last.Found[0], tt.stop) || f.Usage.Calls != tt.searches {
			t.Errorf("%s: %s, %v after %d searches", tt.name, ids, last, f.Usage.Calls)
		}
	}
	broken := errors.New("no server")
	it, _ := agent.Reflecting(r, r, func(context.Context, *agent.Memory) (agent.Move, error) { return agent.Move{}, broken }, agent.Options{})
	check.Is(t, check.Err(it.Retrieve(t.Context(), graphrag.Question{Text: "Q?"})), broken)
	if _, err := agent.Reflecting(nil, r, nil, agent.Options{Steps: -1}); err == nil || !strings.Contains(err.Error(), "retriever") || !strings.Contains(err.Error(), "reflection is") || !strings.Contains(err.Error(), "Steps is -1") {
		t.Errorf("%v does not name all", err)
	}
}

// The first thought is a draft, and thoughts are stored in the order of the searches.
func TestMemory(t *testing.T) {
	r := graphrag.RetrieverFunc(func(_ context.Context, q graphrag.Question) (graphrag.Found, error) {
		return graphrag.Found{Ranked: hits(strings.ToLower(q.Text[:1]))}, nil
	})
	var last agent.Memory
	it, err := agent.Reflecting(r, r, func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		last = *m
		if len(m.Turns) == 2 {
			return agent.Move{Answered: true}, nil
		}
		return agent.Move{Thought: "the builder is missing", Query: "Builder?"}, nil
	}, agent.Options{Draft: func(_ context.Context, q graphrag.Question, f graphrag.Found) (graphrag.Answer, error) {
		return graphrag.Answer{Text: "perhaps " + f.Ranked[0].Chunk.ID, Found: graphrag.Found{Usage: graphrag.Usage{Calls: 7}}}, nil
	}})
	check.OK(t, err)
	f := check.Of(it.Retrieve(t.Context(), graphrag.Question{Text: "Q?", K: 1})).OK(t)
	diff := cmp.Diff([]agent.Turn{{Move: agent.Move{Query: "Q?", Thought: "perhaps q"}}, {Move: agent.Move{Query: "Builder?", Thought: "the builder is missing"}}}, last.Turns)
	check.True(t, diff == "" && f.Usage.Calls == 7, "%d calls\n%s", f.Usage.Calls, diff)
	want := []graphrag.Step{
		{Kind: "draft", Found: []string{"perhaps q"}},
		{Kind: "reflect", Query: "Builder?", Found: []string{"the builder is missing"}}, {Kind: "search", Query: "Builder?", Found: []string{"b"}},
		{Kind: "reflect"}, {Kind: "stop", Found: []string{"answered"}},
	}
	check.Equal(t, f.Steps, want)
}

func TestReflectByModel(t *testing.T) {
	memory := &agent.Memory{Question: graphrag.Question{Text: "Who built it?", K: 2, Depth: 3}, Turns: []agent.Turn{{Move: agent.Move{Query: "Who built it?", Thought: "Archer, says the draft"}}, {Move: agent.Move{Query: "Which ship?"}}}, Left: -1,
		Found: graphrag.Found{Ranked: hits("a b c"), Derived: []graphrag.Derived{{Text: "Fram built by Archer"}}}}
	words := func(s string) int { return len(strings.Fields(s)) }
	for _, tt := range []struct {
		name, reply string
		want        agent.Move
		calls       int
	}{
		{"answer", `{"thought": "t", "status": "answer", "next_query": "x"}`, agent.Move{Thought: "t", Answered: true}, 1},
		{"continue", `{"thought": "t", "status": "Continue", "next_query": "Where?"}`, agent.Move{Thought: "t", Query: "Where?"}, 1},
		{"abstain", `{"thought": "t", "status": "abstain", "next_query": "Where?"}`, agent.Move{Thought: "t"}, 1},
		{"sub-queries", `{"thought": "t", "status": "continue", "sub_queries": [{"id": "q1", "question": "Where?"}, "When?"]}`, agent.Move{Thought: "t", Query: "Where?"}, 1},
		{"continue without a query", `{"status": "continue"}`, agent.Move{Thought: "the reflection could not be used"}, 2},
		{"another status", `{"status": "done"}`, agent.Move{Thought: "the reflection could not be used"}, 2},
		{"no JSON", `I believe so.`, agent.Move{Thought: "the reflection could not be used"}, 2},
	} {
		m := llmtest.NewScript("m").Reply(llmtest.Any, tt.reply)
		reflect := check.Of(agent.ReflectByModel(m, words)).OK(t)
		v, err := reflect(t.Context(), memory)
		check.True(t, v.Tokens != 0, "%s: no tokens are counted", tt.name)
		v.Tokens = 0
		diff := cmp.Diff(tt.want, v)
		check.True(t, err == nil && diff == "" && m.Calls() == tt.calls, "%s: %+v after %d calls, %v", tt.name, v, m.Calls(), err)
		user := m.Requests()[0].Messages[1].Text
		check.True(t, !strings.Contains(user, "text of c"), "%s: a chunk that is ranked for measuring alone is shown", tt.name)
		for _, part := range []string{"Who built it?", "Archer, says the draft", "2. Which ship?", "Fram built by Archer\n\ntext of a\n\ntext of b"} {
			check.True(t, strings.Contains(user, part), "%s: %q is not shown in\n%s", tt.name, part, user)
		}
	}
	// A budget smaller than the prompt makes no call; a larger one limits the reply.
	m := llmtest.NewScript("m").Reply(llmtest.Any, `{"status": "answer"}`)
	reflect, _ := agent.ReflectByModel(m, words)
	memory.Left = 400
	_, err := reflect(t.Context(), memory)
	check.True(t, errors.Is(err, agent.ErrSpent) && m.Calls() == 0, "%v after %d calls", err, m.Calls())
	memory.Left = 2000
	if v, err := reflect(t.Context(), memory); err != nil || !v.Answered || m.Requests()[0].MaxTokens == 0 || m.Requests()[0].MaxTokens > 2000 {
		t.Errorf("%+v, %v, %+v", v, err, m.Requests()[0].MaxTokens)
	}
	denied, _ := agent.ReflectByModel(llmtest.NewScript("m").Fail(llmtest.Any, &llm.Error{Kind: llm.ErrAuth}), words)
	check.Is(t, check.Err(denied(t.Context(), memory)), llm.ErrAuth)
	_, err = agent.ReflectByModel(nil, nil)
	check.True(t, err != nil && strings.Contains(err.Error(), "model") && strings.Contains(err.Error(), "counter"), "%v does not name all", err)
}

// A search over three pages that reflects by one rule: if a page names the ship's builder, it searches for the
// builder.
func ExampleReflecting() {
	ctx := context.Background()
	pages, err := retrieve.NewSparse(ctx, []graphrag.Chunk{
		{ID: "archer", Doc: "archer", Text: "Colin Archer was born in Larvik."},
		{ID: "fram", Doc: "fram", Text: "The ship Fram was built by Colin Archer."},
		{ID: "larvik", Doc: "larvik", Text: "Larvik is a town in Norway."},
	}, bm25.Options{})
	if err != nil {
		panic(err)
	}
	reflect := func(_ context.Context, m *agent.Memory) (agent.Move, error) {
		first := m.Found.Ranked[0].Chunk.Text
		_, builder, ok := strings.Cut(strings.TrimSuffix(first, "."), "built by ")
		if !ok || len(m.Turns) > 1 {
			return agent.Move{Thought: "All is known.", Answered: true}, nil
		}
		return agent.Move{Thought: "The builder is " + builder, Query: "Where was " + builder + " born?"}, nil
	}
	r, err := agent.Reflecting(pages, pages, reflect, agent.Options{})
	if err != nil {
		panic(err)
	}
	found, err := r.Retrieve(ctx, graphrag.Question{Text: "Where was the builder of the ship Fram born?", K: 1})
	if err != nil {
		panic(err)
	}
	for _, s := range found.Steps {
		fmt.Println(s.Kind, s.Query, s.Found)
	}
	// Output:
	// reflect Where was Colin Archer born? [The builder is Colin Archer]
	// search Where was Colin Archer born? [archer]
	// reflect  [All is known.]
	// stop  [answered]
}
