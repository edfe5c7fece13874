// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"maps"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Activation is the way from the entities of the question to others.
type Activation string

const (
	// BFS goes from entity to entity: each takes those of its sentences that are
	// most like the question and that no other has taken, and activates all
	// entities in them. It is what the program does by default.
	BFS Activation = "bfs"
	// Max is the paper's equation 5, over all sentences at once, with scores up
	// to 1; the equation itself has no bound.
	Max Activation = "max"
)

// active is an entity with its score and the step in which it was reached,
// counted from 1.
type active struct {
	entity int32
	score  float64
	tier   int
}

// set gives an entity its score, adding it at the end if it is new.
func set(table []active, a active) []active {
	if i := slices.IndexFunc(table, func(x active) bool { return x.entity == a.entity }); i >= 0 {
		table[i] = a
		return table
	}
	return append(table, a)
}

// activated is what came of the question.
type activated struct {
	table   []active  // the score each entity has in the end
	weights []float64 // by entity: the sum of all it was given, for the walk
}

// likeness is how like the question a sentence is.
type likeness func(sentence int32) float64

// activate goes on from the entities of the question.
func (s *searcher) activate(start []active, like likeness) activated {
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

// best are the unused sentences of an entity that are most like the question,
// equal ones by place.
func (s *searcher) best(e int32, used map[int32]bool, like likeness) []rank.Scored[int32] {
	var found []rank.Scored[int32]
	for _, sentence := range s.graph.in[e] {
		if !used[sentence] {
			found = append(found, rank.Scored[int32]{ID: sentence, Score: like(sentence)})
		}
	}
	return rank.Best(found, s.o.Sentences)
}

// breadthFirst is a step of BFS. The last sentence that names an entity decides
// its score in the next step.
func (s *searcher) breadthFirst(a *activated, frontier []active, used map[int32]bool, like likeness, tier int) []active {
	var next []active
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
				next = set(next, active{e, score, tier})
			}
		}
	}
	return next
}

// max is equation 5, with scores of at most 1: the score of an entity is the sum
// over its sentences of the scores in them, each weighed by the likeness of the
// sentence to the question, and never less than it was. It ends when a step
// reaches nothing new.
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
func (s *searcher) equation5(table []active, like likeness, tier int) (next []active, reached bool) {
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
			next = append(next, active{e, entities[e], tier})
			reached = true
		}
	}
	return next, reached
}
