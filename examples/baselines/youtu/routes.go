// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// How far each route looks; the paper says nothing of it.
const (
	routeFacts       = 60 // of each route: three times what is read
	routeEntities    = 20
	routeStarts      = 5
	routeCommunities = 3
	// typeBonus is what a fact of a wanted type gains, in shares of its score: the
	// tenth that the program gives to eight words.
	typeBonus = 0.1
	// minLike is the least likeness of a name that is linked to a name of a question.
	minLike = 0.5
)

// query is a sub-query on its way.
type query struct {
	text string
	// scores has how like the query each fact is.
	scores []float64
	// entities are those that it is about, the best first.
	entities []int32
}

// ask compares a query with all facts and names.
func (s *searcher) ask(ctx context.Context, text string, types []string) (*query, error) {
	scores, err := s.facts.Scores(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	s.favour(scores, types)
	q := &query{text: text, scores: scores}
	q.entities, err = s.named(ctx, text)
	return q, err
}

// favour raises the facts of the types that a query is after.
func (s *searcher) favour(scores []float64, types []string) {
	if len(types) == 0 {
		return
	}
	g := s.corpus.Graph
	of := func(e int32) string {
		if int(e) >= len(g.Entities) {
			return ""
		}
		return g.Entities[e].Type
	}
	for i, f := range s.tree.Facts {
		if scores[i] > 0 && (slices.Contains(types, f.Relation) || slices.Contains(types, of(f.Head)) || slices.Contains(types, of(f.Tail))) {
			scores[i] *= 1 + typeBonus
		}
	}
}

// named are the entities of a query: those that it names, and then those whose
// names are most like it.
func (s *searcher) named(ctx context.Context, text string) ([]int32, error) {
	var out []int32
	add := func(e int32) {
		if len(out) < routeEntities && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	for _, name := range s.questionNames(text) {
		if e, ok := s.corpus.Graph.Find(name); ok {
			add(e)
			continue
		}
		near, err := s.links.Nearest(ctx, s.corpus.Graph.Key(name), 1)
		if err != nil {
			return nil, err
		}
		for _, n := range near {
			if n.Score >= minLike {
				add(s.among[n.ID])
			}
		}
	}
	like, err := s.names.Best(ctx, text, routeEntities)
	if err != nil {
		return nil, err
	}
	for _, e := range like {
		add(e.ID)
	}
	return out, nil
}

// byFact is the second route: the facts most like the query.
func (s *searcher) byFact(q *query) []int32 {
	var top rank.Top[int32]
	top.Reset(routeFacts)
	for f, score := range q.scores {
		if score > 0 {
			top.Push(int32(f), score)
		}
	}
	return ids(top.Append(nil))
}

// byEntity is the first: the facts about the entities, the most like the query
// first, equal ones by entity.
func (s *searcher) byEntity(q *query) []int32 {
	var facts []int32
	for _, e := range q.entities {
		facts = append(facts, s.around[e]...)
	}
	return s.best(q, facts)
}

// best orders facts by their scores, equal ones as they come, and keeps the first
// of them.
func (s *searcher) best(q *query, facts []int32) []int32 {
	seen := make([]bool, len(q.scores))
	facts = slices.DeleteFunc(facts, func(f int32) bool {
		again := seen[f]
		seen[f] = true
		return again
	})
	slices.SortStableFunc(facts, func(a, b int32) int { return cmp.Compare(q.scores[b], q.scores[a]) })
	return facts[:min(routeFacts, len(facts))]
}

// byCommunity is the third: the communities most like the query, and of the facts
// about their members those that are like it at all.
func (s *searcher) byCommunity(ctx context.Context, q *query) (facts, communities []int32, err error) {
	found, err := s.communities.Best(ctx, q.text, routeCommunities)
	if err != nil {
		return nil, nil, err
	}
	for _, c := range found {
		communities = append(communities, c.ID)
		for _, e := range s.tree.Communities[c.ID].Members {
			for _, f := range s.around[e] {
				if q.scores[f] > 0 {
					facts = append(facts, f)
				}
			}
		}
	}
	return s.best(q, facts), communities, nil
}

// byPath is the fourth: the facts along the paths that are most like the query.
func (s *searcher) byPath(ctx context.Context, q *query) ([]int32, error) {
	scores := make([]float64, s.ways.Arcs())
	of := make([]int32, s.ways.Arcs()) // the best fact of each arc
	for f, arcs := range s.arcs {
		for _, a := range arcs {
			if of[a] == 0 || q.scores[f] > scores[a] {
				scores[a], of[a] = q.scores[f], int32(f)+1
			}
		}
	}
	paths, err := path.Search(ctx, s.ways, q.entities[:min(routeStarts, len(q.entities))], scores, s.o.Paths)
	if err != nil {
		return nil, err
	}
	var facts []int32
	seen := make([]bool, len(q.scores))
	for _, p := range paths {
		for _, a := range p.Arcs {
			if f := of[a] - 1; !seen[f] && len(facts) < routeFacts {
				seen[f] = true
				facts = append(facts, f)
			}
		}
	}
	return facts, nil
}

func ids(list []rank.Scored[int32]) []int32 {
	out := make([]int32, len(list))
	for i, x := range list {
		out[i] = x.ID
	}
	return out
}
