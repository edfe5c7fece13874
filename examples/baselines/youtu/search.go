// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"context"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/agent"
	"github.com/wildgraph/wildgraph/graphrag/perception"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// The weights of the similarity of a chunk and of its best fact, relative to the score of a path through it.
// The paper and its program merge the chunks of facts and the similar chunks without an order.
const (
	chunkShare = 0.2
	factsShare = 0.02
)

// search finds the facts and chunks for one sub-query: four routes find facts, RRF merges them, and the
// chunks of these facts are merged with the chunks most similar to the query.
func (s *searcher) search(ctx context.Context, q graphrag.Question, sub agent.SubQuery) (graphrag.Found, error) {
	asked, err := s.ask(ctx, q.Text, sub.Types)
	if err != nil {
		return graphrag.Found{}, err
	}
	community, near, err := s.byCommunity(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	paths, through, err := s.byPath(ctx, asked)
	if err != nil {
		return graphrag.Found{}, err
	}
	routes := []struct {
		target agent.Target
		name   string
		facts  []int32
		scores []float64 // of chunks
	}{{agent.Node, "entities", s.byEntity(asked), nil}, {agent.Fact, "facts", s.byFact(asked), nil}, {agent.Community, "communities", community, nil}, {agent.Auto, "paths", paths, through}}
	var lists [][]int32
	var steps []graphrag.Step
	for _, r := range routes {
		if r.name == s.o.Without {
			clear(r.scores)
			continue
		}
		for range times(r.target, sub.Target) {
			lists = append(lists, r.facts)
		}
		steps = append(steps, graphrag.Step{Kind: r.name, Query: q.Text, Found: s.texts(r.facts[:min(3, len(r.facts))])})
	}
	merged := rank.RRF(lists...)
	facts := merged[:min(s.o.facts(q), len(merged))]
	scores, err := s.chunks.Scores(ctx, q.Text, nil)
	if err != nil {
		return graphrag.Found{}, err
	}
	found := graphrag.Found{Ranked: s.corpus.ByScore(s.weigh(scores, through, merged), q.Want(), "youtu"), Steps: steps}
	for _, f := range merged {
		fact := s.tree.Facts[f.ID]
		if fact.Relation == perception.MemberOf { // the community itself is shown below
			continue
		} else if len(found.Derived) == len(facts) {
			break
		}
		found.Derived = append(found.Derived, graphrag.Derived{Kind: kindFact, Text: fact.Text, Provenance: s.corpus.Provenance(fact.Passages)})
	}
	for _, c := range near {
		found.Derived = append(found.Derived, s.community(s.tree.Communities[c]))
	}
	return found, nil
}

// weigh returns the scores of the chunks: by the best path through each, its similarity to the query, and its
// best fact of all routes. It overwrites scores, the similarities.
func (s *searcher) weigh(scores, through []float64, facts []rank.Scored[int32]) []float64 {
	best := make([]float64, len(scores))
	for _, f := range facts {
		for _, c := range s.tree.Facts[f.ID].Passages {
			best[c] = max(best[c], f.Score/facts[0].Score)
		}
	}
	for c := range scores {
		scores[c] = through[c] + chunkShare*scores[c] + factsShare*best[c]
	}
	return scores
}

// times returns the weight of a route: 2 if it is the target of the sub-query, otherwise 1.
func times(route, wanted agent.Target) int {
	if route != agent.Auto && route == wanted {
		return 2
	}
	return 1
}

func (s *searcher) texts(facts []int32) []string {
	out := make([]string, len(facts))
	for i, f := range facts {
		out[i] = s.tree.Facts[f].Text
	}
	return out
}
