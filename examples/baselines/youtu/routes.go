// SPDX-License-Identifier: Apache-2.0

package youtu

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/path"
	"github.com/wildgraph/wildgraph/graphrag/perception"
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
	// factShare is what the likeness of a single fact counts beside the words of the
	// question that a path has.
	factShare = 0.5
)

// query is a sub-query on its way.
type query struct {
	text string
	// scores has how like the query each fact is.
	scores []float64
	// entities are those that it is about, the best first; it names as many of them
	// as named says.
	entities []int32
	named    int
}

// ask compares a query with all facts and names.
func (s *searcher) ask(ctx context.Context, text string, types []string) (*query, error) {
	scores, err := s.facts.Scores(ctx, text, nil)
	if err != nil {
		return nil, err
	}
	s.favour(scores, types)
	q := &query{text: text, scores: scores}
	return q, s.link(ctx, q)
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

// link finds the entities of a query: those that it names, or that are nearest to
// what it names, and then those whose names are most like it.
func (s *searcher) link(ctx context.Context, q *query) error {
	add := func(e int32) {
		if len(q.entities) < routeEntities && !slices.Contains(q.entities, e) {
			q.entities = append(q.entities, e)
		}
	}
	for _, name := range s.questionNames(q.text) {
		if e, ok := s.corpus.Graph.Find(name); ok {
			add(e)
			continue
		}
		near, err := s.links.Nearest(ctx, s.corpus.Graph.Key(name), 1)
		if err != nil {
			return err
		}
		for _, n := range near {
			add(s.among[n.ID])
		}
	}
	q.named = len(q.entities)
	like, err := s.names.Best(ctx, q.text, routeEntities)
	for _, e := range like {
		add(e.ID)
	}
	return err
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

// byCommunity is the third: the communities most like the query, by what is said of them
// and by their keywords (levels four and three of the tree), and of the facts about their
// members those that are like it at all.
func (s *searcher) byCommunity(ctx context.Context, q *query) (facts, communities []int32, err error) {
	said, err := s.communities.Best(ctx, q.text, routeCommunities)
	if err != nil {
		return nil, nil, err
	}
	keywords, err := s.keywords.Best(ctx, q.text, routeEntities)
	if err != nil {
		return nil, nil, err
	}
	var named []int32
	for _, k := range keywords {
		if c := s.keywordOf[k.ID]; !slices.Contains(named, c) {
			named = append(named, c)
		}
	}
	found := rank.RRF(ids(said), named)
	found = found[:min(routeCommunities, len(found))]
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

// byPath is the fourth: the facts along the paths, from what the query names, that
// speak of most of it. through has for each chunk the score of the best path that a
// fact of it is part of.
func (s *searcher) byPath(ctx context.Context, q *query) (facts []int32, through []float64, err error) {
	like, of := s.likeness(q)
	starts := q.entities[:min(cmp.Or(q.named, routeStarts), len(q.entities))]
	paths, err := path.Search(ctx, s.ways, starts, like, s.o.Paths)
	if err != nil {
		return nil, nil, err
	}
	seen := make([]bool, len(q.scores))
	through = make([]float64, len(s.corpus.Chunks))
	for _, p := range paths {
		for _, a := range p.Arcs {
			f := of[a]
			for _, c := range s.tree.Facts[f].Passages {
				through[c] = max(through[c], p.Score)
			}
			if !seen[f] && len(facts) < routeFacts {
				seen[f] = true
				facts = append(facts, f)
			}
		}
	}
	return facts, through, nil
}

// likeness says how each arc answers to a query, by the fact of it that does best.
func (s *searcher) likeness(q *query) (like path.Likeness, of []int32) {
	parts, weights := s.words.parts(q.text, len(s.tree.Facts))
	arcs := s.ways.Arcs()
	like = path.Likeness{Scores: make([]float64, arcs), Parts: make([]uint64, arcs), Weights: weights}
	of = make([]int32, arcs)
	value := make([]float64, arcs)
	for i := range value {
		value[i] = -1
	}
	for f, places := range s.arcs {
		if s.tree.Facts[f].Relation == perception.MemberOf {
			like.Scores[places[1]], value[places[1]] = math.Inf(-1), math.Inf(1) // paths end in a community
		}
		score := factShare * q.scores[f]
		worth := score + like.Worth(parts[f])
		for _, a := range places {
			if worth > value[a] {
				like.Scores[a], like.Parts[a], of[a], value[a] = score, parts[f], int32(f), worth
			}
		}
	}
	return like, of
}

func ids(list []rank.Scored[int32]) []int32 {
	out := make([]int32, len(list))
	for i, x := range list {
		out[i] = x.ID
	}
	return out
}
