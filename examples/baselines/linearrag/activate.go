// SPDX-License-Identifier: Apache-2.0

package linearrag

import (
	"cmp"
	"slices"
)

// Activation is the way from the entities of the question to others.
type Activation int

const (
	// BFS goes from entity to entity: each takes those of its sentences that are
	// most like the question and that no other has taken, and activates all
	// entities in them. It is what the program does by default.
	BFS Activation = iota
	// Sum takes the entities of one step together: they share sentences, and
	// what they give adds up. The program's vectorised way, which is not the
	// same.
	Sum
	// Max is the paper's equation 5, over all sentences at once, with scores up
	// to 1; the equation itself has no bound.
	Max
)

// active is an entity with its score and the step in which it was reached,
// counted from 1.
type active struct {
	entity int32
	score  float64
	tier   int
}

// put sets the score of an entity, or adds it at the end.
func put(to []active, a active) []active {
	if i := slices.IndexFunc(to, func(x active) bool { return x.entity == a.entity }); i >= 0 {
		to[i] = a
		return to
	}
	return append(to, a)
}

// activated is what came of the question.
type activated struct {
	table   []active  // the score each entity has in the end
	weights []float64 // by entity: the sum of all it was given, for the walk
}

// activate spreads from the start. likeness tells how like the question a
// sentence is.
func (s *searcher) activate(start []active, likeness func(int32) float64) activated {
	a := activated{table: slices.Clone(start), weights: make([]float64, len(s.graph.names))}
	for _, x := range start {
		a.weights[x.entity] = x.score
	}
	if s.o.Activation == Max {
		s.spread(&a, likeness)
		return a
	}
	frontier := start
	used := make(map[int32]bool)
	for step := 1; step < s.o.Iterations && len(frontier) > 0; step++ {
		if s.o.Activation == Sum {
			frontier = s.together(&a, frontier, used, likeness, step)
		} else {
			frontier = s.apart(&a, frontier, used, likeness, step+1)
		}
		for _, x := range frontier {
			a.table = put(a.table, x)
		}
	}
	return a
}

// best are the unused sentences of an entity that are most like the question,
// equal ones by place.
func (s *searcher) best(e int32, used map[int32]bool, likeness func(int32) float64) []int32 {
	type scored struct {
		sentence int32
		score    float64
	}
	var found []scored
	for _, sentence := range s.graph.in[e] {
		if !used[sentence] {
			found = append(found, scored{sentence, likeness(sentence)})
		}
	}
	slices.SortStableFunc(found, func(a, b scored) int { return cmp.Compare(b.score, a.score) })
	out := make([]int32, min(s.o.Sentences, len(found)))
	for i := range out {
		out[i] = found[i].sentence
	}
	return out
}

// apart is a step of BFS. The last sentence that names an entity decides its
// score in the next step.
func (s *searcher) apart(a *activated, frontier []active, used map[int32]bool, likeness func(int32) float64, tier int) []active {
	var next []active
	for _, from := range frontier {
		if from.score < s.o.Threshold {
			continue
		}
		for _, sentence := range s.best(from.entity, used, likeness) {
			used[sentence] = true
			score := from.score * likeness(sentence)
			if score < s.o.Threshold {
				continue
			}
			for _, e := range s.graph.named[sentence] {
				a.weights[e] += score
				next = put(next, active{e, score, tier})
			}
		}
	}
	return next
}

// together is a step of Sum. What stays below the threshold still counts as
// weight.
func (s *searcher) together(a *activated, frontier []active, used map[int32]bool, likeness func(int32) float64, tier int) []active {
	var next []active
	var taken []int32
	for _, from := range frontier {
		if from.score < s.o.Threshold {
			continue
		}
		for _, sentence := range s.best(from.entity, used, likeness) {
			taken = append(taken, sentence)
			score := from.score * likeness(sentence)
			for _, e := range s.graph.named[sentence] {
				a.weights[e] += score
				if i := slices.IndexFunc(next, func(x active) bool { return x.entity == e }); i >= 0 {
					next[i].score += score
				} else {
					next = append(next, active{e, score, tier})
				}
			}
		}
	}
	for _, sentence := range taken {
		used[sentence] = true
	}
	return slices.DeleteFunc(next, func(x active) bool { return x.score < s.o.Threshold })
}

// spread is equation 5, with scores of at most 1: an entity gets what its
// sentences hold, each weighed by its likeness to the question, and never less
// than it had. It ends when a step reaches nothing new.
func (s *searcher) spread(a *activated, likeness func(int32) float64) {
	for tier := 2; tier <= s.o.Iterations; tier++ {
		next, reached := s.equation5(a.table, likeness, tier)
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
func (s *searcher) equation5(table []active, likeness func(int32) float64, tier int) (next []active, reached bool) {
	held := make(map[int32]float64)
	var order []int32
	for _, x := range table {
		for _, sentence := range s.graph.in[x.entity] {
			if _, ok := held[sentence]; !ok {
				order = append(order, sentence)
			}
			held[sentence] += x.score
		}
	}
	slices.Sort(order)
	sum := make(map[int32]float64)
	for _, sentence := range order {
		for _, e := range s.graph.named[sentence] {
			sum[e] += held[sentence] * likeness(sentence)
		}
	}
	next = slices.Clone(table)
	for i, x := range next {
		next[i].score = max(x.score, sum[x.entity])
		delete(sum, x.entity)
	}
	for _, e := range sortedKeys(sum) {
		if sum[e] >= s.o.Threshold {
			next = append(next, active{e, sum[e], tier})
			reached = true
		}
	}
	return next, reached
}

func sortedKeys(m map[int32]float64) []int32 {
	out := make([]int32, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
