// SPDX-License-Identifier: Apache-2.0

//go:build linux

package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag/triples"
)

// world is a made-up corpus with a graph and questions. Each passage and triple is computed from the seed and
// its number, so nothing is stored.
type world struct {
	seed                         uint64
	passages, triples, questions int
}

// The sizes of the world. Words, entities and relations are drawn by Zipf's law: the most frequent entity is in
// about 1 % of the triples, the most frequent relation in 10 %.
const (
	vocabulary = 1 << 18
	entities   = 1 << 22
	relations  = 1 << 10
	topics     = 1 << 12
	topical    = 60      // percentage of the words other than stop words that belong to the topic
	firstName  = 1 << 10 // rank of the most frequent word in names
	perPassage = 110     // number of words of a passage
	edgesEach  = 4       // number of edges for each passage, which states the first two
)

// The first argument of random: the kind of thing for which numbers are drawn.
const (
	forPassage = iota + 1
	forEdge
	forName
	forRelation
	forQuestion
	forTopic
)

// stopWords are the most frequent words: they have the lowest ranks.
var stopWords = strings.Fields("the of and to a in is that for it as was with be by on not he i this are or his from at which but have an had they you were there one all we can her has been if more when will")

func (w *world) random(of, n int) *rand.Rand {
	return rand.New(rand.NewPCG(w.seed<<8|uint64(of), uint64(n)*0x9e3779b97f4a7c15))
}

// word returns the word with a rank: a stop word, or three syllables and a consonant that no stemmer removes.
func word(rank int) string {
	if rank < len(stopWords) {
		return stopWords[rank]
	}
	const onsets, vowels, ends = "bdfgklmnprstvhjz", "aeou", "kmpb"
	n := rank * 0x9e3b5 & (vocabulary - 1) // the factor is odd, so each rank has its own spelling
	b := make([]byte, 0, 7)
	for range 3 {
		b = append(b, onsets[n&15], vowels[n>>4&3])
		n >>= 6
	}
	return string(append(b, ends[rank&3]))
}

// name returns the name of an entity: one to three rare capitalised words.
func (w *world) name(entity int) string {
	r := w.random(forName, entity)
	words := make([]string, [...]int{1, 2, 2, 3}[r.IntN(4)])
	for i := range words {
		s := word(firstName + r.IntN(vocabulary-firstName))
		words[i] = strings.ToUpper(s[:1]) + s[1:]
	}
	return strings.Join(words, " ")
}

// relation returns the label of a relation in the graph and in questions, and its words in passages: "place of
// birth" and "was born in".
func (w *world) relation(k int) (label, states string) {
	r := w.random(forRelation, k)
	any := func() string { return word(1<<9 + r.IntN(1<<14)) }
	return any() + " " + any(), "was " + any() + " by"
}

// edge is a triple whose parts are numbers of entities and relations.
type edge struct{ head, relation, tail int }

// edge returns edge j of the edges that belong to no question.
func (w *world) edge(j int) edge {
	r := w.random(forEdge, j)
	ends, kinds := rand.NewZipf(r, 1.2, 20, entities-2), rand.NewZipf(r, 1.1, 2, relations-1)
	e := edge{int(ends.Uint64()), int(kinds.Uint64()), int(ends.Uint64())}
	if e.head == e.tail {
		e.tail++
	}
	return e
}

// question is a question with the two passages that answer it. If it is bridged, it needs the graph: it names a
// subject, the first passage states how the subject relates to a bridge, and the second, without a word of the
// question, states a fact about the bridge. Other questions name the subjects of both passages.
type question struct {
	text    string
	bridged bool
	gold    [2]int
	edges   [2]edge
}

func (w *world) question(n int) question {
	r := w.random(forQuestion, n)
	first := r.IntN(relations)
	second := (first + 1 + r.IntN(relations-1)) % relations
	subject := entities + 4*n
	a, _ := w.relation(first)
	q := question{bridged: n%2 == 0, gold: [2]int{2 * n * w.every(w.passages), (2*n + 1) * w.every(w.passages)}}
	if q.bridged {
		b, _ := w.relation(second)
		q.text = "What is the " + b + " of the " + a + " of " + w.name(subject) + "?"
		q.edges = [2]edge{{subject, first, subject + 1}, {subject + 1, second, subject + 2}}
	} else {
		q.text = "What are the " + a + " of " + w.name(subject) + " and the " + a + " of " + w.name(subject+1) + "?"
		q.edges = [2]edge{{subject, first, subject + 2}, {subject + 1, first, subject + 3}}
	}
	return q
}

// every returns the distance between the passages, or triples, that belong to questions: two to each question.
func (w *world) every(total int) int { return total / (2 * w.questions) }

// planted returns the edge of a question that passage, or triple, i of total has, if any.
func (w *world) planted(i, total int) (e edge, ok bool) {
	n := i / w.every(total)
	if i%w.every(total) != 0 || n >= 2*w.questions {
		return edge{}, false
	}
	return w.question(n / 2).edges[n%2], true
}

// triple returns triple j of the graph. Passages state half of the triples.
func (w *world) triple(j int) triples.Triple {
	e, ok := w.planted(j, w.triples)
	if !ok {
		e = w.edge(j)
	}
	label, _ := w.relation(e.relation)
	entity := func(n int) triples.Entity { return triples.Entity{ID: fmt.Sprint("q", n), Label: w.name(n)} }
	return triples.Triple{Head: entity(e.head), Relation: triples.Entity{ID: fmt.Sprint("r", e.relation), Label: label}, Tail: entity(e.tail)}
}

// passage returns passage i: sentences about one topic, and among them sentences that state its edges.
func (w *world) passage(i int) string {
	r := w.random(forPassage, i)
	ranks := rand.NewZipf(r, 1.05, 2.7, vocabulary-1)
	topic := r.IntN(topics)
	edges := []edge{w.edge(i * edgesEach), w.edge(i*edgesEach + 1)}
	if e, ok := w.planted(i, w.passages); ok {
		edges[0] = e
	}
	var b strings.Builder
	for n := 0; n < perPassage || len(edges) > 0; {
		if len(edges) > 0 && (n >= perPassage || r.IntN(3) == 0) {
			_, states := w.relation(edges[0].relation)
			b.WriteString(w.name(edges[0].head) + " " + states + " " + w.name(edges[0].tail) + ". ")
			edges, n = edges[1:], n+7
			continue
		}
		length := 8 + r.IntN(9)
		for i := range length {
			rank := int(ranks.Uint64())
			switch {
			case i == 0: // sentences begin with a stop word
				rank %= len(stopWords)
			case rank >= len(stopWords) && r.IntN(100) < topical: // a word of the topic with a similar rank
				rank = rank&^63 | w.random(forTopic, topic<<20|rank>>6).IntN(64)
			}
			b.WriteString(word(rank) + " ")
		}
		n += length
	}
	return strings.TrimSpace(b.String())
}

// corpus returns the passages, with questions about edges that they state, so that frequent entities are asked
// for often.
func (w *world) corpus() *corpus {
	c, random := &corpus{}, w.random(forQuestion, -1)
	c.at = func(i int) (title, text string) { return "", w.passage(i) }
	for range w.questions {
		i := random.IntN(w.passages)
		first, _ := w.relation(w.edge(i * edgesEach).relation)
		second, _ := w.relation(w.edge(i*edgesEach + 1).relation)
		c.questions = append(c.questions, "What is the "+second+" of the "+first+" of "+w.name(w.edge(i*edgesEach).head)+"?")
	}
	return c
}

// graph builds an index of the triples in a folder and opens it.
func (w *world) graph(ctx context.Context, dir string) (*triples.Index, error) {
	if err := triples.Build(ctx, dir, func(yield func(triples.Triple, error) bool) {
		for j := range w.triples {
			if !yield(w.triple(j), nil) {
				return
			}
		}
	}, triples.Options{}); err != nil {
		return nil, err
	}
	return triples.Open(dir, nil)
}
