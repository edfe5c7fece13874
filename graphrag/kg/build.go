// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/internal/display"
)

// stride is the number of chunks between two checks of the context.
const stride = 1 << 10

// build makes the graph of the extractions of chunks, in their order. It numbers the entities by key and sorts
// by counting, so the result does not depend on the numbers of the texts.
func build(ctx context.Context, o Options, words lexicon, chunks []*noted) (*Graph, error) {
	b := &builder{o: o, lexicon: words, g: &Graph{folding: o.Folding, Passages: make([]Passage, 0, len(chunks))}}
	for i, x := range chunks {
		if i%stride == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.read(int32(i), x)
	}
	if o.OnlyDescribed {
		b.dropUndescribed()
	}
	for _, step := range []func(){b.number, b.entities, b.relations, b.index} {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		step()
	}
	return b.g, ctx.Err()
}

type builder struct {
	o Options
	g *Graph
	lexicon

	uses       []use
	typed      []pair       // pairs of a key and a type
	said       []statedText // list is the key of an entity
	attributes []property
	facts      []fact

	entity []int32 // entity of each key
}

// use is a mention of a name in a passage, property an attribute that a passage states, fact a triple.
type (
	pair     struct{ key, item int32 }
	use      struct{ key, spelling, passage int32 }
	property struct {
		key, passage int32
		name, value  string
	}
	fact struct {
		head, tail int32
		label      form
		passage    int32
		text       int32 // number of the description, 0 for none
		of         *Fact
	}
)

// read collects the knowledge of one chunk.
func (b *builder) read(p int32, x *noted) {
	b.g.Passages = append(b.g.Passages, Passage{x.Chunk, x.Doc})
	for _, p := range x.Problems {
		p.Chunk = x.Chunk
		b.g.Rejected = append(b.g.Rejected, p)
	}
	// usable reports whether all names have keys. If one has none, it adds the record, given as words, to
	// Rejected.
	usable := func(kind string, words []string, names ...int32) bool {
		for _, n := range names {
			if b.names[n].key == 0 {
				b.g.Rejected = append(b.g.Rejected, Problem{x.Chunk, kind, display.Beginning(strings.Join(words, " | ")), b.reason(b.texts[n])})
				return false
			}
		}
		return true
	}
	numbers := x.numbers
	next := func(n int) []int32 {
		some := numbers[:n]
		numbers = numbers[n:]
		return some
	}
	for i := range x.Mentions {
		n := next(3)
		if !usable("mention", []string{x.Mentions[i].Name}, n[0]) {
			continue
		}
		key := b.use(p, n[0])
		if n[1] != 0 {
			b.typed = append(b.typed, pair{key, n[1]})
		}
		if n[2] != 0 {
			b.said = append(b.said, statedText{key, p, n[2]})
		}
	}
	for i := range x.Facts {
		f, n := &x.Facts[i], next(4)
		if usable("fact", []string{f.Head, f.Relation, f.Tail}, n[0], n[1]) {
			b.facts = append(b.facts, fact{head: b.use(p, n[0]), tail: b.use(p, n[1]), label: b.labels[n[2]], passage: p, text: n[3], of: f})
		}
	}
	for i := range x.Attributes {
		a, n := &x.Attributes[i], next(1)
		if usable("attribute", []string{a.Entity, a.Key, a.Value}, n[0]) {
			b.attributes = append(b.attributes, property{b.use(p, n[0]), p, a.Key, a.Value})
		}
	}
}

// reason says why a name has no key.
func (b *builder) reason(name string) string {
	if len(name) > maxName {
		return fmt.Sprintf("a name of %d bytes, more than %d", len(name), maxName)
	}
	return fmt.Sprintf("nothing is left of the name when it is folded (%s)", b.o.Folding)
}

// use records a mention of a name in passage p, and returns the key of the name.
func (b *builder) use(p, name int32) int32 {
	f := b.names[name]
	b.uses = append(b.uses, use{f.key, f.spelling, p})
	return f.key
}

// dropUndescribed removes mentions, attributes and facts of names without a description and a type.
func (b *builder) dropUndescribed() {
	listed := make([]bool, len(b.texts))
	for _, t := range b.typed {
		listed[t.key] = true
	}
	for _, s := range b.said {
		listed[s.list] = true
	}
	b.facts = slices.DeleteFunc(b.facts, func(f fact) bool {
		if listed[f.head] && listed[f.tail] {
			return false
		}
		triple := oneLine(f.of.Head) + " | " + b.texts[f.label.spelling] + " | " + oneLine(f.of.Tail)
		b.g.Rejected = append(b.g.Rejected,
			Problem{b.g.Passages[f.passage].Chunk, "fact", display.Beginning(triple), "one of its ends is described nowhere"})
		return true
	})
	b.uses = slices.DeleteFunc(b.uses, func(u use) bool { return !listed[u.key] })
	b.attributes = slices.DeleteFunc(b.attributes, func(a property) bool { return !listed[a.key] })
}

// number numbers the entities in the order of their keys.
func (b *builder) number() {
	used := make([]bool, len(b.texts))
	n := 0
	for _, u := range b.uses {
		if !used[u.key] {
			used[u.key] = true
			n++
		}
	}
	b.entity = make([]int32, len(b.texts))
	b.g.Entities = make([]Entity, 0, n)
	for _, k := range b.keys {
		if used[k] {
			b.entity[k] = int32(len(b.g.Entities))
			b.g.Entities = append(b.g.Entities, Entity{Key: b.texts[k]})
		}
	}
}

// entities collects the names, types and descriptions of each entity.
func (b *builder) entities() {
	n := len(b.g.Entities)
	spelt, typed := make([]link, len(b.uses)), make([]link, len(b.typed))
	for i, u := range b.uses {
		spelt[i] = link{b.entity[u.key], u.spelling}
		b.g.Entities[b.entity[u.key]].Mentions++
	}
	for i, t := range b.typed {
		typed[i] = link{b.entity[t.key], t.item}
	}
	names := ranked(gather(n, len(b.texts), spelt), b.texts)
	types := ranked(gather(n, len(b.texts), typed), b.texts)
	for i := range b.said {
		b.said[i].list = b.entity[b.said[i].list]
	}
	b.g.entityDescriptions = described(n, sorted(b.said, n, func(s *statedText) int32 { return s.list }), b.texts)
	b.said = nil
	for id := range b.g.Entities {
		e := &b.g.Entities[id]
		e.Names, e.Types = names.Of(int32(id)), types.Of(int32(id))
		e.Name = e.Names[0].Text
		if len(e.Types) > 0 {
			e.Type = e.Types[0].Text
		}
	}
	b.properties()
}

func (b *builder) properties() {
	for i := range b.attributes {
		b.attributes[i].key = b.entity[b.attributes[i].key]
	}
	slices.SortStableFunc(b.attributes, func(a, c property) int {
		return cmp.Or(cmp.Compare(a.key, c.key), strings.Compare(a.name, c.name), strings.Compare(a.value, c.value), cmp.Compare(a.passage, c.passage))
	})
	for _, a := range b.attributes {
		e := &b.g.Entities[a.key]
		last := len(e.Attributes) - 1
		if last < 0 || e.Attributes[last].Key != a.name || e.Attributes[last].Value != a.value {
			e.Attributes = append(e.Attributes, Property{Key: a.name, Value: a.value})
			last++
		}
		if of := &e.Attributes[last].Passages; len(*of) == 0 || (*of)[len(*of)-1] != a.passage {
			*of = append(*of, a.passage)
		}
	}
}

// relations merges the facts with the same head, label and tail. Weights are added in the order of the chunks.
func (b *builder) relations() {
	rank := make([]int32, len(b.texts)) // rank of the key of each label, from 1
	for place, key := range b.labelKeys {
		rank[key] = int32(place) + 1 // the empty label has rank 0
	}
	for i := range b.facts {
		b.facts[i].head, b.facts[i].tail = b.entity[b.facts[i].head], b.entity[b.facts[i].tail]
	}
	entities := len(b.g.Entities)
	b.facts = sorted(b.facts, entities, func(f *fact) int32 { return f.tail })
	b.facts = sorted(b.facts, len(b.labelKeys)+1, func(f *fact) int32 { return rank[f.label.key] })
	b.facts = sorted(b.facts, entities, func(f *fact) int32 { return f.head })
	n := 0
	for range b.same() {
		n++
	}
	b.g.Relations = make([]Relation, 0, n)
	var said []statedText
	for facts := range b.same() {
		for i := range facts {
			if facts[i].text != 0 {
				said = append(said, statedText{int32(len(b.g.Relations)), facts[i].passage, facts[i].text})
			}
		}
		b.g.Relations = append(b.g.Relations, b.relation(facts))
	}
	b.g.relationDescriptions = described(n, said, b.texts)
}

// same yields groups of facts with the same head, label and tail, from the sorted facts.
func (b *builder) same() iter.Seq[[]fact] {
	return func(yield func([]fact) bool) {
		for lo, hi := 0, 0; lo < len(b.facts); lo = hi {
			first := &b.facts[lo]
			for hi = lo + 1; hi < len(b.facts) && b.facts[hi].head == first.head && b.facts[hi].label.key == first.label.key && b.facts[hi].tail == first.tail; {
				hi++
			}
			if !yield(b.facts[lo:hi]) {
				return
			}
		}
	}
}

func (b *builder) relation(facts []fact) Relation {
	r := Relation{Head: facts[0].head, Tail: facts[0].tail, Key: b.texts[facts[0].label.key], Count: len(facts), Keywords: facts[0].of.Keywords}
	var keywords []string
	for i := range facts {
		r.Weight += cmp.Or(facts[i].of.Weight, 1)
		if len(facts) > 1 || len(r.Keywords) > 1 { // otherwise the relation shares the list of its only fact
			keywords = append(keywords, facts[i].of.Keywords...)
		}
	}
	if keywords != nil {
		slices.Sort(keywords)
		r.Keywords = slices.Compact(keywords)
	}
	r.Label = b.commonest(facts)
	return r
}

// commonest returns the most frequent spelling of the label, the first in the alphabet of several.
func (b *builder) commonest(facts []fact) string {
	best, most := facts[0].label.spelling, 0
	if len(facts) > 1 {
		counts := make(map[int32]int, 1)
		for i := range facts {
			l := facts[i].label.spelling
			counts[l]++
			if n := counts[l]; n > most || n == most && b.texts[l] < b.texts[best] {
				best, most = l, n
			}
		}
	}
	return b.texts[best]
}

// index lists the passages of each entity and relation, and the other way round.
func (b *builder) index() {
	passages := len(b.g.Passages)
	named := make([]link, len(b.uses))
	for i, u := range b.uses {
		named[i] = link{b.entity[u.key], u.passage}
	}
	b.g.entityChunks = gather(len(b.g.Entities), passages, named)
	b.g.chunkEntities = transpose(b.g.entityChunks, passages)

	stated, ends := make([]link, 0, len(b.facts)), make([]link, 0, 2*len(b.g.Relations))
	at := 0
	for r := range b.g.Relations {
		for range b.g.Relations[r].Count {
			stated = append(stated, link{int32(r), b.facts[at].passage})
			at++
		}
		ends = append(ends, link{b.g.Relations[r].Head, int32(r)}, link{b.g.Relations[r].Tail, int32(r)})
	}
	b.g.relationChunks = gather(len(b.g.Relations), passages, stated)
	b.g.chunkRelations = transpose(b.g.relationChunks, passages)
	b.g.entityRelations = gather(len(b.g.Entities), len(b.g.Relations), ends)
}
