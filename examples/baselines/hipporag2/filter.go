// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"context"
	"embed"
	"encoding/json"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("hipporag2", promptFiles)

// StageFilter names the calls of the filter in accounts.
const StageFilter = "filter facts"

// filter is the recognition memory of the paper (section 3.3): it says which of
// the facts found help with the question, by their places.
type filter func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error)

// keepAll filters nothing.
func keepAll(_ context.Context, _ string, facts []graphrag.Triple) ([]int, error) {
	return all(facts), nil
}

func all(facts []graphrag.Triple) []int {
	places := make([]int, len(facts))
	for i := range places {
		places[i] = i
	}
	return places
}

// byModel has a model choose.
func byModel(m llm.Model) filter {
	return func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error) {
		if len(facts) == 0 {
			return nil, ctx.Err()
		}
		return choose(ctx, m, question, facts)
	}
}

// choose returns the facts that the model names, in its order, each once. A
// model that fails at this question leaves the facts as they are.
func choose(ctx context.Context, m llm.Model, question string, facts []graphrag.Triple) ([]int, error) {
	list := make([][]string, len(facts))
	for i, t := range facts {
		list[i] = []string{t.Head, t.Relation, t.Tail}
	}
	data, err := json.Marshal(map[string]any{"fact": list})
	if err != nil {
		return nil, err
	}
	req, err := prompts.Request(ctx, StageFilter, "filter", nil, llm.Data{Label: "question", Text: question}, llm.Data{Label: "facts", Text: string(data)})
	if err != nil {
		return nil, err
	}
	reply, _, err := llm.Decode[struct{ Fact []llm.Triple }](ctx, m, req)
	if llm.OfOneReply(err) {
		return all(facts), nil
	}
	if err != nil {
		return nil, err
	}
	var out []int
	used := make([]bool, len(facts))
	for _, named := range reply.Fact {
		for i := range facts {
			if !used[i] && same(named, facts[i]) {
				used[i] = true
				out = append(out, i)
				break
			}
		}
	}
	return out, nil
}

// same tells whether the model wrote this fact; a fact that it made up is none
// of them.
func same(named llm.Triple, fact graphrag.Triple) bool {
	equal := func(a, b string) bool { return kg.FoldUnicode.Key(a) == kg.FoldUnicode.Key(b) }
	return named.Fault == "" && equal(named.Head, fact.Head) && equal(named.Relation, fact.Relation) && equal(named.Tail, fact.Tail)
}
