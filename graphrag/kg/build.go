// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/internal/display"
)

// build makes the graph of the extractions of chunks, in the order of these. It interns every text once, numbers
// the entities by key and gathers by sorting, so the result does not depend on the order of maps or of insertion.
func build(ctx context.Context, o Options, chunks map[string]Extraction) (*Graph, error) {
	b := &builder{o: o, g: &Graph{folding: o.Folding}, names: make(map[string]nameKey), keys: newInterner(), spellings: newInterner(), labels: newInterner(), labelKeys: newInterner(), types: newInterner(), texts: newInterner()}
	for i, id := range slices.Sorted(maps.Keys(chunks)) {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		x := chunks[id]
		b.read(int32(i), &x)
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

	keys, spellings, labels, labelKeys, types, texts *interner
	names                                            map[string]nameKey
	labelKeyOf                                       []int32 // of a label
	labelRank                                        []int32 // the place of a label's key among all

	uses       []use
	typed      []pair       // key, type
	said       []statedText // list is a key
	attributes []property
	facts      []fact
	keywords   [][]string // of facts

	entity []int32 // of a key
}

// nameKey contains the numbers of the spelling and the key of a name, -1 if it is none.
type nameKey struct{ spelling, key int32 }

// use is an entity's name in a passage, property what a passage says about it, fact a triple.
type (
	pair     struct{ key, item int32 }
	use      struct{ key, spelling, passage int32 }
	property struct {
		key, passage int32
		name, value  string
	}
	fact struct {
		head, label, tail, passage int32
		text, keywords             int32 // -1 for none
		weight                     float64
		names                      [2]int32 // of head and tail, as they are spelt
	}
)

// read takes in what one chunk says.
func (b *builder) read(p int32, x *Extraction) {
	b.g.Passages = append(b.g.Passages, Passage{x.Chunk, x.Doc})
	for _, p := range x.Problems {
		p.Chunk = x.Chunk
		b.g.Rejected = append(b.g.Rejected, p)
	}
	reject := func(kind, text string, why error) {
		b.g.Rejected = append(b.g.Rejected, Problem{x.Chunk, kind, display.Beginning(text), why.Error()})
	}
	for i := range x.Mentions {
		m := &x.Mentions[i]
		key, err := b.use(p, m.Name)
		if err != nil {
			reject("mention", m.Name, err)
			continue
		}
		if t := strings.TrimSpace(m.Type); t != "" {
			b.typed = append(b.typed, pair{key, b.types.id(t)})
		}
		if m.Description != "" {
			b.said = append(b.said, statedText{key, p, b.texts.id(m.Description)})
		}
	}
	for i := range x.Facts {
		f := &x.Facts[i]
		if err := b.fact(p, f); err != nil {
			reject("fact", f.Head+" | "+f.Relation+" | "+f.Tail, err)
		}
	}
	for _, a := range x.Attributes {
		key, err := b.use(p, a.Entity)
		if err != nil {
			reject("attribute", a.Entity+" | "+a.Key+" | "+a.Value, err)
			continue
		}
		b.attributes = append(b.attributes, property{key, p, a.Key, a.Value})
	}
}

// use takes in one use of a name.
func (b *builder) use(p int32, name string) (int32, error) {
	k, err := b.name(name)
	if err != nil {
		return 0, err
	}
	b.uses = append(b.uses, use{k.key, k.spelling, p})
	return k.key, nil
}

// name looks up a name as it is written. Names that differ only in blanks are one.
func (b *builder) name(name string) (nameKey, error) {
	k, ok := b.names[name]
	if !ok {
		k.key = -1
		if len(name) <= maxName {
			spelling := oneLine(name)
			k.spelling = b.spellings.id(spelling)
			if key := b.o.Folding.Key(spelling); key != "" {
				k.key = b.keys.id(key)
			}
		}
		b.names[name] = k
	}
	switch {
	case k.key >= 0:
		return k, nil
	case len(name) > maxName:
		return k, fmt.Errorf("a name of %d bytes, more than %d", len(name), maxName)
	}
	return k, fmt.Errorf("nothing is left of the name when it is folded (%s)", b.o.Folding)
}

func (b *builder) fact(p int32, f *Fact) error {
	for _, end := range []string{f.Head, f.Tail} { // both, before either is counted
		if _, err := b.name(end); err != nil {
			return err
		}
	}
	head, _ := b.use(p, f.Head)
	tail, _ := b.use(p, f.Tail)
	n := len(b.uses)
	l := b.labels.id(oneLine(f.Relation))
	if int(l) == len(b.labelKeyOf) {
		b.labelKeyOf = append(b.labelKeyOf, b.labelKeys.id(b.o.Folding.Key(strings.ReplaceAll(f.Relation, "_", " ")))) // "born_in" is "Born in"
	}
	to := fact{head: head, label: l, tail: tail, passage: p, text: -1, keywords: -1, weight: f.Weight, names: [2]int32{b.uses[n-2].spelling, b.uses[n-1].spelling}}
	if f.Weight == 0 {
		to.weight = 1
	}
	if f.Description != "" {
		to.text = b.texts.id(f.Description)
	}
	if len(f.Keywords) > 0 {
		to.keywords = int32(len(b.keywords))
		b.keywords = append(b.keywords, f.Keywords)
	}
	b.facts = append(b.facts, to)
	return nil
}

// dropUndescribed leaves out uses and facts of keys that nothing describes or types.
func (b *builder) dropUndescribed() {
	listed := make([]bool, len(b.keys.texts))
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
		triple := b.spellings.texts[f.names[0]] + " | " + b.labels.texts[f.label] + " | " + b.spellings.texts[f.names[1]]
		b.g.Rejected = append(b.g.Rejected,
			Problem{b.g.Passages[f.passage].Chunk, "fact", display.Beginning(triple), "one of its ends is described nowhere"})
		return true
	})
	b.uses = slices.DeleteFunc(b.uses, func(u use) bool { return !listed[u.key] })
	b.attributes = slices.DeleteFunc(b.attributes, func(a property) bool { return !listed[a.key] })
}

// number gives ids to the keys in use, by their order.
func (b *builder) number() {
	texts := b.keys.texts
	// A rejected fact may leave the key of its head behind, without a use.
	used := make([]bool, len(texts))
	for _, u := range b.uses {
		used[u.key] = true
	}
	var order []int32
	for k := range texts {
		if used[k] {
			order = append(order, int32(k))
		}
	}
	slices.SortFunc(order, func(a, c int32) int { return strings.Compare(texts[a], texts[c]) })
	b.entity = make([]int32, len(texts))
	b.g.Entities = make([]Entity, len(order))
	b.g.ids = make(map[string]int32, len(order))
	for id, k := range order {
		b.entity[k] = int32(id)
		b.g.Entities[id].Key = texts[k]
		b.g.ids[texts[k]] = int32(id)
	}
}

// entities gathers the mentions and descriptions of each entity.
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
	names := gather(n, len(b.spellings.texts), spelt).ranked(b.spellings)
	types := gather(n, len(b.types.texts), typed).ranked(b.types)
	for i := range b.said {
		b.said[i].list = b.entity[b.said[i].list]
	}
	slices.SortStableFunc(b.said, func(a, c statedText) int { return cmp.Compare(a.list, c.list) })
	b.texts.texts = slices.Clone(b.texts.texts) // without room for more: the graph keeps them
	b.g.entityDescriptions = described(n, b.said, b.texts.texts)
	b.said = nil
	for id := range b.g.Entities {
		e := &b.g.Entities[id]
		e.Names, e.Types = names.of(id), types.of(id)
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
		e.Attributes[last].Passages = add(e.Attributes[last].Passages, a.passage)
	}
}

// add appends a passage unless it is the last already.
func add(to []int32, p int32) []int32 {
	if n := len(to); n > 0 && to[n-1] == p {
		return to
	}
	return append(to, p)
}

// relations gathers the facts that say the same. Weights are added in the order of the chunks.
func (b *builder) relations() {
	b.labelRank = make([]int32, len(b.labels.texts))
	rank := sortedOrder(b.labelKeys.texts)
	for l, key := range b.labelKeyOf {
		b.labelRank[l] = rank[key]
	}
	for i := range b.facts {
		b.facts[i].head, b.facts[i].tail = b.entity[b.facts[i].head], b.entity[b.facts[i].tail]
	}
	slices.SortStableFunc(b.facts, func(a, c fact) int {
		return cmp.Or(b.compare(&a, &c), cmp.Compare(a.passage, c.passage))
	})
	n := 0
	for range b.same() {
		n++
	}
	b.g.Relations = make([]Relation, 0, n)
	var said []statedText
	for facts := range b.same() {
		for i := range facts {
			if facts[i].text >= 0 {
				said = append(said, statedText{int32(len(b.g.Relations)), facts[i].passage, facts[i].text})
			}
		}
		b.g.Relations = append(b.g.Relations, b.relation(facts))
	}
	b.g.relationDescriptions = described(n, said, b.texts.texts)
}

// compare orders facts by their content.
func (b *builder) compare(a, c *fact) int {
	return cmp.Or(cmp.Compare(a.head, c.head), cmp.Compare(b.labelRank[a.label], b.labelRank[c.label]), cmp.Compare(a.tail, c.tail))
}

// same yields the sorted facts that say the same.
func (b *builder) same() iter.Seq[[]fact] {
	return func(yield func([]fact) bool) {
		for lo, hi := 0, 0; lo < len(b.facts); lo = hi {
			for hi = lo + 1; hi < len(b.facts) && b.compare(&b.facts[lo], &b.facts[hi]) == 0; {
				hi++
			}
			if !yield(b.facts[lo:hi]) {
				return
			}
		}
	}
}

func (b *builder) relation(facts []fact) Relation {
	r := Relation{Head: facts[0].head, Tail: facts[0].tail, Key: b.labelKeys.texts[b.labelKeyOf[facts[0].label]], Count: len(facts)}
	for i := range facts {
		r.Weight += facts[i].weight
		if k := facts[i].keywords; k >= 0 {
			r.Keywords = append(r.Keywords, b.keywords[k]...)
		}
	}
	slices.Sort(r.Keywords)
	r.Keywords = slices.Compact(r.Keywords)
	r.Label = b.commonest(facts)
	return r
}

// commonest is the label that most of the facts have, of such the first in the alphabet.
func (b *builder) commonest(facts []fact) string {
	best, most := facts[0].label, 0
	if len(facts) > 1 {
		counts := make(map[int32]int, 1)
		for i := range facts {
			l := facts[i].label
			counts[l]++
			if n := counts[l]; n > most || n == most && b.labels.texts[l] < b.labels.texts[best] {
				best, most = l, n
			}
		}
	}
	return b.labels.texts[best]
}

// index lists the passages of each entity and relation.
func (b *builder) index() {
	passages := len(b.g.Passages)
	named := make([]link, len(b.uses))
	for i, u := range b.uses {
		named[i] = link{b.entity[u.key], u.passage}
	}
	b.g.entityChunks = gather(len(b.g.Entities), passages, named)
	b.g.chunkEntities = b.g.entityChunks.transpose(passages)

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
	b.g.chunkRelations = b.g.relationChunks.transpose(passages)
	b.g.entityRelations = gather(len(b.g.Entities), len(b.g.Relations), ends)
}
