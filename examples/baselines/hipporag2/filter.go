// SPDX-License-Identifier: Apache-2.0

package hipporag2

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/kg"
	"github.com/wildgraph/wildgraph/graphrag/text"
	"github.com/wildgraph/wildgraph/llm"
)

//go:embed prompts
var promptFiles embed.FS

var prompts = llm.MustPrompts("hipporag2", promptFiles)

// StageFilter names the calls of the filter in accounts.
const StageFilter = "filter facts"

// filter is the recognition memory of the paper (section 3.3): it returns the places of the facts that
// help with the question.
type filter func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error)

// keepAll filters nothing.
func keepAll(_ context.Context, _ string, facts []graphrag.Triple) ([]int, error) {
	places := make([]int, len(facts))
	for i := range places {
		places[i] = i
	}
	return places, nil
}

// byModel returns a filter by a model.
func byModel(m llm.Model) filter {
	return func(ctx context.Context, question string, facts []graphrag.Triple) ([]int, error) {
		return choose(ctx, m, question, facts)
	}
}

// choose returns the facts nearest to the facts in the model's reply, in its order, each once. A
// model that fails at this question selects all facts.
func choose(ctx context.Context, m llm.Model, question string, facts []graphrag.Triple) ([]int, error) {
	if len(facts) == 0 {
		return nil, ctx.Err()
	}
	list, pairs := make([][]string, len(facts)), make([]map[string]int, len(facts))
	for i, t := range facts {
		list[i], pairs[i] = []string{t.Head, t.Relation, t.Tail}, pairsOf(t.Head+" "+t.Relation+" "+t.Tail)
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
		return keepAll(ctx, question, facts)
	}
	if err != nil {
		return nil, err
	}
	var out []int
	for _, t := range reply.Fact {
		if i := nearest(t, pairs); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out, nil
}

// nearest returns the first fact with the largest Dice similarity of character pairs to a triple of
// the reply; -1 if the model wrote "none" or no fact shares a pair. The published program takes the
// closest match of difflib, without a threshold.
func nearest(reply llm.Triple, facts []map[string]int) int {
	written := cmp.Or(strings.TrimSpace(reply.Head+" "+reply.Relation+" "+reply.Tail), reply.Raw)
	if slices.Contains([]string{"none", "null", "n/a", "nothing", ""}, strings.Trim(text.FoldName(cmp.Or(reply.Head, written)), `."'[]{} `)) {
		return -1
	}
	place, best, own := -1, 0.0, pairsOf(written)
	for i, pairs := range facts {
		shared := 0
		for pair, n := range pairs {
			shared += min(n, own[pair])
		}
		shared -= min(pairs[""], own[""])
		if s := float64(shared) / float64(pairs[""]+own[""]); s > best {
			place, best = i, s
		}
	}
	return place
}

// pairsOf counts the pairs of characters in the folded words of a text; "" has the total.
func pairsOf(s string) map[string]int {
	out, before := make(map[string]int), ' '
	for _, r := range kg.FoldUnicode.Key(s) + " " {
		out[string([]rune{before, r})]++
		out[""]++
		before = r
	}
	return out
}
