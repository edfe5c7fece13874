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

// choose returns the facts nearest to those that the model names, in its order, each once. A
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
	pairs := make([]map[string]int, len(facts))
	for i, t := range facts {
		pairs[i] = pairsOf(t.Head + " " + t.Relation + " " + t.Tail)
	}
	var out []int
	for _, named := range reply.Fact {
		if i := nearest(named, pairs); i >= 0 && !slices.Contains(out, i) {
			out = append(out, i)
		}
	}
	return out, nil
}

// nearest returns the fact with the largest Dice similarity of character pairs to what the
// model wrote, of equal ones the first; -1 if it wrote "none" or no fact shares a pair. The
// published program takes the closest match of difflib, without a threshold.
func nearest(named llm.Triple, facts []map[string]int) int {
	said := strings.TrimSpace(named.Head + " " + named.Relation + " " + named.Tail)
	if said == "" {
		said = named.Raw
	}
	if slices.Contains([]string{"none", "null", "n/a", "nothing", ""}, strings.Trim(text.FoldName(cmp.Or(named.Head, said)), `."'[]{} `)) {
		return -1
	}
	place, best, own := -1, 0.0, pairsOf(said)
	for i, fact := range facts {
		shared := 0
		for pair, n := range fact {
			shared += min(n, own[pair])
		}
		shared -= min(fact[""], own[""])
		if s := float64(shared) / float64(fact[""]+own[""]); s > best {
			place, best = i, s
		}
	}
	return place
}

// pairsOf counts the pairs of characters in the folded words of a text; "" has their number.
func pairsOf(s string) map[string]int {
	out, before := make(map[string]int), ' '
	for _, r := range kg.FoldUnicode.Key(s) + " " {
		out[string([]rune{before, r})]++
		out[""]++
		before = r
	}
	return out
}
