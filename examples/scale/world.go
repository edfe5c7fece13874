// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/store"
	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// settings decide a world.
type settings struct {
	Seed      uint64 `json:"seed"`
	Passages  int    `json:"passages"`
	Triples   int    `json:"triples"`
	Questions int    `json:"questions"`
}

// world is a corpus, a graph and questions. Nothing of it is kept: each passage and
// each triple is a function of the seed and its number, and, but for those that are
// planted, the same however many there are. It is safe for concurrent use.
type world struct {
	settings
	words     []string
	ranks     zipf // of words
	ends      zipf // of triples: entities
	kinds     zipf // of relations
	relations [1 << relationOctaves]relation
	questions []planted
}

// relation is how the graph and questions call a relation, and how passages do: one
// says "place of birth", the other "was born in".
type relation struct{ label, stated string }

// The graph: some four million entities, of which the first is in one edge of 70, and
// a thousand relations, of which the first is in one edge of ten.
const (
	entityOctaves   = 22
	entities        = 1 << entityOctaves
	entityPower     = 0.8
	relationOctaves = 10
)

// What random numbers are drawn for.
const (
	forPassage = iota + 1
	forEdge
	forName
	forRelation
	forQuestion
	forPlanted
)

func newWorld(s settings) (*world, error) {
	if least := s.Questions * passagesEach; s.Passages < 2*least {
		return nil, fmt.Errorf("%d passages are too few to hide those of %d questions among: ask for %d or more, or for fewer questions", s.Passages, s.Questions, 2*least)
	}
	if least := s.Questions * edgesEach; s.Triples < 2*least {
		return nil, fmt.Errorf("%d triples are too few to hide those of %d questions among: ask for %d or more, or for fewer questions", s.Triples, s.Questions, 2*least)
	}
	w := &world{settings: s, words: words(), ranks: newZipf(wordOctaves, 1), ends: newZipf(entityOctaves, entityPower), kinds: newZipf(relationOctaves, 1)}
	for k := range w.relations {
		w.relations[k] = w.relation(k)
	}
	w.plant()
	return w, nil
}

// edge is a triple by the numbers of its parts.
type edge struct{ head, relation, tail int }

// background is edge j of those that no question is about.
func (w *world) background(j int) edge {
	r := seeded(w.Seed, forEdge, uint64(j))
	e := edge{w.ends.draw(&r), w.kinds.draw(&r), w.ends.draw(&r)}
	if e.tail == e.head {
		e.tail = e.head%(entities-1) + 1
	}
	return e
}

// statedEach is how many of the edges a passage states, out of edgesAhead: the graph
// knows more than the corpus says, as that of an encyclopedia would.
const (
	statedEach = 2
	edgesAhead = 4
)

// triple is triple j of the graph.
func (w *world) triple(j int) store.Triple {
	e, source := w.background(j), -1
	if j%edgesAhead < statedEach && j/edgesAhead < w.Passages {
		source = j / edgesAhead
	}
	if q, slot, ok := w.plantedAt(j, w.Triples, edgesEach); ok {
		e, source = w.questions[q].edge(slot), w.statedBy(q, slot)
	}
	t := store.Triple{Triple: triples.Triple{Head: w.entity(e.head), Relation: triples.Entity{ID: "r" + strconv.Itoa(e.relation), Label: w.relations[e.relation].label}, Tail: w.entity(e.tail)}, Weight: 1}
	if source >= 0 {
		t.Source = passageID(source)
	}
	return t
}

func (w *world) entity(e int) triples.Entity {
	return triples.Entity{ID: "q" + strconv.Itoa(e), Label: w.name(e)}
}

// name is one to three words with capitals, as rare as names are.
func (w *world) name(e int) string {
	ranks := w.nameWords(e)
	var b strings.Builder
	for i, rank := range ranks {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteByte(w.words[rank][0] - 'a' + 'A')
		b.WriteString(w.words[rank][1:])
	}
	return b.String()
}

// rarest of the words with content begin names: those from this rank on.
const firstNameWord = 1 << 10

func (w *world) nameWords(e int) []int {
	if e > entities {
		return w.plantedName(e - entities)
	}
	r := seeded(w.Seed, forName, uint64(e))
	n := 2
	switch x := r.below(100); {
	case x < 25:
		n = 1
	case x < 45:
		n = 3
	}
	return drawName(&r, make([]int, n))
}

func drawName(r *rng, ranks []int) []int {
	for i := range ranks {
		ranks[i] = firstNameWord + r.below(vocabulary-firstNameWord)
	}
	return ranks
}

// relation draws words that are neither frequent nor rare.
func (w *world) relation(k int) (out relation) {
	r := seeded(w.Seed, forRelation, uint64(k))
	const from, to = 1 << 9, 1 << 14
	word := func() string { return w.words[from+r.below(to-from)] }
	out.label, out.stated = word(), word()
	if r.below(2) == 0 {
		out.label += " " + word()
	}
	if r.below(2) == 0 {
		out.stated += " " + word()
	}
	forms := [...][2]string{{"was ", " by"}, {"was ", " in"}, {"is the ", " of"}, {"has ", " with"}}
	form := forms[r.below(len(forms))]
	out.stated = form[0] + out.stated + form[1]
	return out
}

// sentence states an edge as passages do.
func (w *world) sentence(e edge) string {
	return w.name(e.head) + " " + w.relations[e.relation].stated + " " + w.name(e.tail) + "."
}

func passageID(i int) string { return numbered('p', i) }

// numbered is a letter and a number of seven digits or more.
func numbered(letter byte, n int) string {
	digits := strconv.Itoa(n)
	return string(letter) + "0000000"[min(7, len(digits)):] + digits
}

// passage is passage i: 100 to 120 words of one topic, or a few more, with what it
// states among them. Two are a document.
func (w *world) passage(i int) graphrag.Chunk {
	stated := [statedEach]edge{}
	for n := range stated {
		stated[n] = w.background(i*edgesAhead + n)
	}
	if q, slot, ok := w.plantedAt(i, w.Passages, passagesEach); ok {
		stated[0] = w.questions[q].edge(stating[slot])
	}
	return graphrag.Chunk{ID: passageID(i), Doc: numbered('d', i/2), Index: i % 2, Text: w.text(i, stated[:])}
}

func (w *world) text(i int, stated []edge) string {
	r := seeded(w.Seed, forPassage, uint64(i))
	topic, length := r.below(topics), 100+r.below(21)
	b := make([]byte, 0, 1024)
	for n := 0; n < length; {
		if len(stated) > 0 && (n > 0 && r.below(3) == 0 || n > length/2) {
			s := w.sentence(stated[0])
			b = append(append(b, s...), ' ')
			n += strings.Count(s, " ") + 1
			stated = stated[1:]
			continue
		}
		size := min(8+r.below(9), max(length-n, 3))
		b = w.filler(b, &r, topic, size)
		n += size
	}
	return string(b[:len(b)-1])
}

// filler appends a sentence that states nothing. It begins with a word without
// content, as most do.
func (w *world) filler(b []byte, r *rng, topic, size int) []byte {
	start := len(b)
	for i := range size {
		rank := w.ranks.draw(r)
		switch {
		case i == 0:
			rank = 1 + rank%(firstWord-1)
		case rank >= firstWord && r.below(100) < topicalShare:
			rank = topical(topic, rank)
		}
		b = append(append(b, w.words[rank]...), ' ')
	}
	b[start] -= 'a' - 'A'
	b[len(b)-1] = '.'
	return append(b, ' ')
}
