// SPDX-License-Identifier: Apache-2.0

package main

import (
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/text"
)

// planted is a question with two passages that answer it.
//
// One that needs the graph is asked of a subject: its first passage states who the
// bridge is, the second what is asked of the bridge, without a word of the question:
// it names neither the subject nor the relations as the question does. The other kind
// asks the same of two subjects, and each passage names one.
type planted struct {
	number  int
	try     uint64 // until the second passage of a bridge has no word of the question
	Text    string
	Bridged bool
	Gold    [2]int // passages
	edges   []edge
}

// What belongs to a question: the edges of its facts, other edges of its core, which is
// the bridge or the first subject, and edges of namesakes, which share a word with the
// core or the subject. Half of these have a relation of the question.
const (
	coreEdges      = 24
	namesakes      = 232
	subjectsOwn    = 32 // of the namesakes
	edgesEach      = coreEdges + namesakes
	entitiesEach   = firstNamesake + namesakes
	firstNamesake  = 4
	passagesEach   = len(stating)
	subject, other = 0, 2 // entities of a question; the bridge is 1
)

// stating are the edges that the passages of a question state: the two facts, three
// other edges of the core, and three of namesakes with the relations of the question.
var stating = [...]int{0, 1, 2, 3, 4, coreEdges + subjectsOwn, coreEdges + subjectsOwn + 4, coreEdges + 1}

// plant makes the questions, the first half of them such that need the graph.
func (w *world) plant() {
	w.questions = make([]planted, w.Questions)
	for n := range w.questions {
		q := &w.questions[n]
		q.number, q.Bridged = n, n < (w.Questions+1)/2
		for i := range q.Gold {
			q.Gold[i] = (i*w.Questions + n) * (w.Passages / (w.Questions * passagesEach))
		}
		for ; ; q.try++ {
			w.draw(q)
			if !q.Bridged || !share(q.Text, w.passage(q.Gold[1]).Text) {
				break
			}
		}
	}
}

// plantedAt tells whether something is planted at a place of total: for which question
// and the how many-th. Places are evenly spread, so that no list of them is needed.
func (w *world) plantedAt(place, total, each int) (question, slot int, ok bool) {
	stride := total / (w.Questions * each)
	n := place / stride
	return n % w.Questions, n / w.Questions, place%stride == 0 && n < w.Questions*each
}

// statedBy is the passage that states an edge of a question, -1 if none does.
func (w *world) statedBy(question, slot int) int {
	if i := slices.Index(stating[:], slot); i >= 0 {
		return (i*w.Questions + question) * (w.Passages / (w.Questions * passagesEach))
	}
	return -1
}

func (q *planted) edge(slot int) edge { return q.edges[slot] }

// entity numbers the entities of a question after those of the graph.
func (q *planted) entity(i int) int { return entities + 1 + q.number*entitiesEach + i }

// core is the entity that has many edges and namesakes.
func (q *planted) core() int {
	if q.Bridged {
		return 1
	}
	return subject
}

// draw makes text and edges of a question.
func (w *world) draw(q *planted) {
	r := seeded(w.Seed, forQuestion, uint64(q.number), q.try)
	first, second := w.kinds.draw(&r), w.kinds.draw(&r)
	for second == first {
		second = w.kinds.draw(&r)
	}
	s, o := w.name(q.entity(subject)), w.name(q.entity(other))
	if q.Bridged {
		q.Text = "What is the " + w.relations[second].label + " of the " + w.relations[first].label + " of " + s + "?"
		q.edges = []edge{{q.entity(0), first, q.entity(1)}, {q.entity(1), second, q.entity(2)}}
	} else {
		q.Text = "What are the " + w.relations[first].label + " of " + s + " and the " + w.relations[first].label + " of " + o + "?"
		q.edges = []edge{{q.entity(0), first, q.entity(1)}, {q.entity(2), first, q.entity(3)}}
	}
	for len(q.edges) < coreEdges {
		k := w.kinds.draw(&r)
		switch e := w.ends.draw(&r); {
		case k == first || k == second:
		case r.below(3) == 0:
			q.edges = append(q.edges, edge{e, k, q.entity(q.core())})
		default:
			q.edges = append(q.edges, edge{q.entity(q.core()), k, e})
		}
	}
	if !q.Bridged {
		second = first
	}
	for i := range namesakes {
		k := [...]int{second, first, w.kinds.draw(&r), w.kinds.draw(&r)}[i%4]
		q.edges = append(q.edges, edge{q.entity(firstNamesake + i), k, w.ends.draw(&r)})
	}
}

// plantedName are the words of an entity of a question. Those that questions are about
// have two or three, since people ask for names that say whom they mean; a namesake
// has one of these and others.
func (w *world) plantedName(e int) []int {
	e--
	q, i := &w.questions[e/entitiesEach], e%entitiesEach
	r := seeded(w.Seed, forPlanted, uint64(e), q.try)
	ranks := drawName(&r, make([]int, 2+r.below(2)))
	if i < firstNamesake {
		return ranks
	}
	of := q.core()
	if i-firstNamesake < subjectsOwn {
		of = subject
	}
	named := w.plantedName(q.number*entitiesEach + of + 1)
	ranks[r.below(len(ranks))] = named[r.below(len(named))]
	return ranks
}

// share tells whether two texts have a word with content in common.
func share(a, b string) bool {
	of := terms(b)
	for t := range terms(a) {
		if of[t] {
			return true
		}
	}
	return false
}

var analyzer = text.Default()

func terms(s string) map[string]bool {
	out := map[string]bool{}
	analyzer.Words(s, func(word []byte) bool {
		if t, ok := analyzer.Term(string(word)); ok {
			out[t] = true
		}
		return true
	})
	return out
}

// anyQuestion is a question about what passage i states: whoever asks the store many
// questions asks about hubs as often as the passages speak of them.
func (w *world) anyQuestion(i int) string {
	e := w.background(i * edgesAhead)
	second := w.background(i*edgesAhead + 1).relation
	return "What is the " + w.relations[second].label + " of the " + w.relations[e.relation].label + " of " + w.name(e.head) + "?"
}
