// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Activation selects how entities are activated from the entities of the question.
type Activation string

const (
	// BFS goes from entity to entity: each takes the unused sentences that name it and are most
	// similar to the question, and activates all entities in them. It is the program's default.
	BFS Activation = "bfs"
	// Max is the paper's equation 5, over all sentences at once, with scores up
	// to 1; the equation itself has no bound.
	Max Activation = "max"
)

// activeEntity is an entity with its score and the step in which it was reached, from 1.
type activeEntity struct {
	entity int32
	score  float64
	tier   int
}

// set replaces an entity of a table or appends it.
func set(table []activeEntity, a activeEntity) []activeEntity {
	if i := slices.IndexFunc(table, func(x activeEntity) bool { return x.entity == a.entity }); i >= 0 {
		table[i] = a
		return table
	}
	return append(table, a)
}

// activated is the result of an activation.
type activated struct {
	table   []activeEntity // final scores
	weights []float64      // by entity: the sum of its scores, for the walk
}

// likeness returns the similarity of a sentence to the question.
type likeness func(sentence int32) float64

// activate activates entities from the entities of the question.
func (s *searcher) activate(start []activeEntity, like likeness) activated {
	a := activated{table: slices.Clone(start), weights: make([]float64, len(s.graph.names))}
	for _, x := range start {
		a.weights[x.entity] = x.score
	}
	if s.o.Activation == Max {
		s.max(&a, like)
		return a
	}
	frontier := start
	used := make(map[int32]bool)
	for tier := 2; tier <= s.o.Iterations && len(frontier) > 0; tier++ {
		frontier = s.breadthFirst(&a, frontier, used, like, tier)
		for _, x := range frontier {
			a.table = set(a.table, x)
		}
	}
	return a
}

// best returns the unused sentences of an entity most similar to the question, ties by place.
func (s *searcher) best(e int32, used map[int32]bool, like likeness) []rank.Scored[int32] {
	var found []rank.Scored[int32]
	for _, sentence := range s.graph.in[e] {
		if !used[sentence] {
			found = append(found, rank.Scored[int32]{ID: sentence, Score: like(sentence)})
		}
	}
	return rank.Best(found, s.o.Sentences)
}

// breadthFirst is a step of BFS. The last sentence that names an entity decides its score.
func (s *searcher) breadthFirst(a *activated, frontier []activeEntity, used map[int32]bool, like likeness, tier int) []activeEntity {
	var next []activeEntity
	for _, from := range frontier {
		if from.score < s.o.Threshold {
			continue
		}
		for _, sentence := range s.best(from.entity, used, like) {
			used[sentence.ID] = true
			score := from.score * sentence.Score
			if score < s.o.Threshold {
				continue
			}
			for _, e := range s.graph.named[sentence.ID] {
				a.weights[e] += score
				next = set(next, activeEntity{e, score, tier})
			}
		}
	}
	return next
}

// max iterates equation 5, with scores of at most 1, until a step reaches no new entity: the score of
// an entity is the sum over its sentences of the scores in them, each weighted by the similarity of the
// sentence to the question. A score never falls.
func (s *searcher) max(a *activated, like likeness) {
	for tier := 2; tier <= s.o.Iterations; tier++ {
		next, reached := s.equation5(a.table, like, tier)
		for i := range next {
			next[i].score = min(1, next[i].score)
		}
		a.table = next
		for _, x := range a.table {
			a.weights[x.entity] = x.score
		}
		if !reached {
			return
		}
	}
}

// equation5 is one step, without a bound.
func (s *searcher) equation5(table []activeEntity, like likeness, tier int) (next []activeEntity, reached bool) {
	sentences := make(map[int32]float64)
	for _, x := range table {
		for _, sentence := range s.graph.in[x.entity] {
			sentences[sentence] += x.score
		}
	}
	entities := make(map[int32]float64)
	for _, sentence := range slices.Sorted(maps.Keys(sentences)) {
		for _, e := range s.graph.named[sentence] {
			entities[e] += sentences[sentence] * like(sentence)
		}
	}
	next = slices.Clone(table)
	for i, x := range next {
		next[i].score = max(x.score, entities[x.entity])
		delete(entities, x.entity)
	}
	for _, e := range slices.Sorted(maps.Keys(entities)) {
		if entities[e] >= s.o.Threshold {
			next = append(next, activeEntity{e, entities[e], tier})
			reached = true
		}
	}
	return next, reached
}
