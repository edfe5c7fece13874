// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// chunkDepth is how many chunks a route ranks at least.
const chunkDepth = 100

// search finds the facts and chunks for one sub-query: four routes find facts, RRF
// merges them, and the chunks that the facts of each route are from are merged with
// those most like the query.
func (s *searcher) search(ctx context.Context, q graphrag.Question, sub agent.SubQuery) (graphrag.Found, error) {
	asked, err := s.ask(ctx, q.Text, sub.Types)
	if err != nil {
		return graphrag.Found{}, err
	}
	community, near, err := s.byCommunity(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	paths, err := s.byPath(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	routes := []struct {
		target agent.Target
		name   string
		facts  []int32
	}{{agent.Node, "entities", s.byEntity(asked)}, {agent.Fact, "facts", s.byFact(asked)}, {agent.Community, "communities", community}, {agent.Auto, "paths", paths}}
	depth := max(q.Want(), chunkDepth)
	like, err := s.chunks.Best(ctx, q.Text, depth)
	if err != nil {
		return graphrag.Found{}, err
	}
	chunks := [][]int32{ids(like)}
	var lists [][]int32
	var steps []graphrag.Step
	for _, r := range routes {
		for range times(r.target, sub.Target) {
			lists = append(lists, r.facts)
			chunks = append(chunks, s.passages(r.facts, depth))
		}
		steps = append(steps, graphrag.Step{Kind: r.name, Query: q.Text, Found: s.texts(r.facts[:min(3, len(r.facts))])})
	}
	scores := make([]float64, len(s.corpus.Chunks))
	for _, c := range rank.RRF(chunks...) {
		scores[c.ID] = c.Score
	}
	found := graphrag.Found{Ranked: s.corpus.ByScore(scores, q.Want(), "youtu"), Steps: steps}
	for i, f := range rank.RRF(lists...) {
		if i == s.o.Facts {
			break
		}
		fact := s.tree.Facts[f.ID]
		found.Derived = append(found.Derived, graphrag.Derived{Kind: "fact", Text: fact.Text, Docs: s.corpus.Docs(fact.Passages)})
	}
	for _, c := range near {
		found.Derived = append(found.Derived, s.community(s.tree.Communities[c]))
	}
	return found, nil
}

// times is how often a route counts: twice if it is what the sub-query is after.
func times(route, wanted agent.Target) int {
	if route != agent.Auto && route == wanted {
		return 2
	}
	return 1
}

// passages are those that facts are from, in the order of the facts.
func (s *searcher) passages(facts []int32, most int) []int32 {
	var out []int32
	seen := make(map[int32]bool)
	for _, f := range facts {
		for _, p := range s.tree.Facts[f].Passages {
			if !seen[p] && len(out) < most {
				seen[p] = true
				out = append(out, p)
			}
		}
	}
	return out
}

func (s *searcher) texts(facts []int32) []string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = s.tree.Facts[f].Text
	}
	return out
}
