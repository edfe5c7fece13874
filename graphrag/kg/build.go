// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// build makes the graph of extractions that are sorted by chunk. It interns
// every text once, numbers the entities by key and gathers by sorting, so the
// result does not depend on the order of maps or of insertion.
func build(ctx context.Context, o Options, extractions []Extraction, manual map[string]string) (*Graph, error) {
	b := &builder{o: o, g: &Graph{folding: o.Folding}, names: make(map[string]known), keys: newInterner(), spellings: newInterner(), labels: newInterner(), labelKeys: newInterner(), types: newInterner()}
	for i := range extractions {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		b.read(int32(i), &extractions[i])
	}
	merges, err := b.merge(ctx, manual)
	if err != nil {
		return nil, err
	}
	if o.OnlyDescribed {
		b.dropUndescribed(merges, extractions)
	}
	for _, step := range []func(){func() { b.number(merges) }, b.entities, b.relations, b.index} {
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

	keys, spellings, labels, labelKeys, types *interner
	names                                     map[string]known
	labelKeyOf                                []int32 // of a label

	uses       []use
	typed      []pair // key, type
	said       []told // key
	attributes []property
	facts      []fact

	entity []int32 // of a key
}

// known is what a name is: a spelling and a key, -1 if it is no name.
type known struct{ spelling, key int32 }

// use is an entity's name in a passage, said and property what a passage says
// about it, fact a triple.
type (
	pair struct{ key, item int32 }
	use  struct{ key, spelling, passage int32 }
	told struct {
		key, passage int32
		text         string
	}
	property struct {
		key, passage int32
		name, value  string
	}
	fact struct {
		head, label, tail, passage int32
		*Fact
	}
)

// read takes in what one chunk says.
func (b *builder) read(p int32, x *Extraction) {
	b.g.Passages = append(b.g.Passages, Passage{x.Chunk, x.Doc})
	for _, p := range x.Problems {
		b.g.Rejected = append(b.g.Rejected, Rejection{x.Chunk, p})
	}
	reject := func(kind, text string, why error) {
		b.g.Rejected = append(b.g.Rejected, Rejection{x.Chunk, Problem{kind, Beginning(text), why.Error()}})
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
			b.said = append(b.said, told{key, p, m.Description})
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
func (b *builder) name(name string) (known, error) {
	k, ok := b.names[name]
	if !ok {
		k.key = -1
		if len(name) <= b.o.MaxName {
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
	case len(name) > b.o.MaxName:
		return k, fmt.Errorf("a name of %d bytes, more than %d", len(name), b.o.MaxName)
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
	l := b.labels.id(oneLine(f.Relation))
	if int(l) == len(b.labelKeyOf) {
		b.labelKeyOf = append(b.labelKeyOf, b.labelKeys.id(b.o.Folding.relation(f.Relation)))
	}
	b.facts = append(b.facts, fact{head, l, tail, p, f})
	return nil
}

// dropUndescribed leaves out uses and facts of keys that nothing describes or types.
func (b *builder) dropUndescribed(into []int32, of []Extraction) {
	known := make([]bool, len(into))
	for _, t := range b.typed {
		known[into[t.key]] = true
	}
	for _, s := range b.said {
		known[into[s.key]] = true
	}
	b.facts = slices.DeleteFunc(b.facts, func(f fact) bool {
		if known[into[f.head]] && known[into[f.tail]] {
			return false
		}
		b.g.Rejected = append(b.g.Rejected, Rejection{of[f.passage].Chunk,
			Problem{"fact", Beginning(f.Head + " | " + f.Relation + " | " + f.Tail), "one of its ends is described nowhere"}})
		return true
	})
	b.uses = slices.DeleteFunc(b.uses, func(u use) bool { return !known[into[u.key]] })
	b.attributes = slices.DeleteFunc(b.attributes, func(a property) bool { return !known[into[a.key]] })
}

// number gives ids to the keys that are left after the merges, by their order.
func (b *builder) number(into []int32) {
	// A rejected fact may leave the key of its head behind, without a use.
	used := make([]bool, len(into))
	for _, u := range b.uses {
		used[into[u.key]] = true
	}
	var order []int32
	for k := range into {
		if used[k] {
			order = append(order, int32(k))
		}
	}
	texts := b.keys.texts
	slices.SortFunc(order, func(a, c int32) int { return strings.Compare(texts[a], texts[c]) })
	b.entity = make([]int32, len(into))
	b.g.Entities = make([]Entity, len(order))
	for id, k := range order {
		b.entity[k] = int32(id)
		b.g.Entities[id].Key = texts[k]
	}
	b.g.ids = make(map[string]int32, len(texts))
	for k, text := range texts {
		if used[into[k]] {
			b.entity[k] = b.entity[into[k]]
			b.g.ids[text] = b.entity[k]
		}
	}
}

// entities gathers what is said about each.
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
	names := gather(n, len(b.spellings.texts), spelt)
	types := gather(n, len(b.types.texts), typed)
	for id := range b.g.Entities {
		e := &b.g.Entities[id]
		e.Names = ranked(names.of(int32(id)), b.spellings)
		e.Types = ranked(types.of(int32(id)), b.types)
		e.Name = e.Names[0].Text
		if len(e.Types) > 0 {
			e.Type = e.Types[0].Text
		}
	}
	for i := range b.said {
		b.said[i].key = b.entity[b.said[i].key]
	}
	for key, of := range descriptions(b.said) {
		b.g.Entities[key].Descriptions = of
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

// ranked are texts by frequency, equal ones by the text.
func ranked(of []Posting, texts *interner) []Count {
	out := make([]Count, len(of))
	for i, p := range of {
		out[i] = Count{texts.texts[p.ID], int(p.Count)}
	}
	slices.SortFunc(out, func(a, b Count) int {
		return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Text, b.Text))
	})
	return out
}

// descriptions gathers texts by what they describe, equal texts once, in the
// order in which they first appear.
func descriptions(said []told) map[int32][]Description {
	at := make(map[told]int)
	out := make(map[int32][]Description)
	for _, s := range said {
		id := told{s.key, 0, s.text}
		i, ok := at[id]
		if !ok {
			i = len(out[s.key])
			at[id] = i
			out[s.key] = append(out[s.key], Description{Text: s.text})
		}
		d := &out[s.key][i]
		d.Passages = add(d.Passages, s.passage)
	}
	return out
}

// add appends a passage unless it is the last already.
func add(to []int32, p int32) []int32 {
	if n := len(to); n > 0 && to[n-1] == p {
		return to
	}
	return append(to, p)
}

// relations gathers the facts that say the same. Weights are added in the order
// of the chunks.
func (b *builder) relations() {
	rank := order(b.labelKeys.texts)
	key := func(f *fact) int32 { return rank[b.labelKeyOf[f.label]] }
	for i := range b.facts {
		b.facts[i].head, b.facts[i].tail = b.entity[b.facts[i].head], b.entity[b.facts[i].tail]
	}
	slices.SortStableFunc(b.facts, func(a, c fact) int {
		return cmp.Or(cmp.Compare(a.head, c.head), cmp.Compare(key(&a), key(&c)), cmp.Compare(a.tail, c.tail), cmp.Compare(a.passage, c.passage))
	})
	for lo := 0; lo < len(b.facts); {
		hi := lo + 1
		first := &b.facts[lo]
		for hi < len(b.facts) && b.facts[hi].head == first.head && key(&b.facts[hi]) == key(first) && b.facts[hi].tail == first.tail {
			hi++
		}
		b.g.Relations = append(b.g.Relations, b.relation(b.facts[lo:hi]))
		lo = hi
	}
}

func (b *builder) relation(facts []fact) Relation {
	r := Relation{Head: facts[0].head, Tail: facts[0].tail, Key: b.labelKeys.texts[b.labelKeyOf[facts[0].label]], Count: len(facts)}
	var said []told
	labels := make([]link, len(facts))
	for i, f := range facts {
		weight := f.Weight
		if weight == 0 {
			weight = 1
		}
		r.Weight += weight
		r.Keywords = append(r.Keywords, f.Keywords...)
		labels[i] = link{0, f.label}
		if f.Description != "" {
			said = append(said, told{0, f.passage, f.Description})
		}
	}
	slices.Sort(r.Keywords)
	r.Keywords = slices.Compact(r.Keywords)
	r.Label = b.commonest(labels)
	r.Descriptions = descriptions(said)[0]
	return r
}

func (b *builder) commonest(labels []link) string {
	counts := make(map[int32]int, 1)
	best := labels[0].item
	for _, l := range labels {
		counts[l.item]++
	}
	for _, l := range labels {
		if n := counts[l.item] - counts[best]; n > 0 || n == 0 && b.labels.texts[l.item] < b.labels.texts[best] {
			best = l.item
		}
	}
	return b.labels.texts[best]
}

// index lists who occurs where.
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

// interner numbers texts in the order in which they come.
type interner struct {
	ids   map[string]int32
	texts []string
}

func newInterner() *interner { return &interner{ids: make(map[string]int32)} }

func (n *interner) id(text string) int32 {
	id, ok := n.ids[text]
	if !ok {
		id = int32(len(n.texts))
		n.ids[text] = id
		n.texts = append(n.texts, text)
	}
	return id
}

// order returns the place of each text among all.
func order(texts []string) []int32 {
	by := make([]int32, len(texts))
	for i := range by {
		by[i] = int32(i)
	}
	slices.SortFunc(by, func(a, b int32) int { return strings.Compare(texts[a], texts[b]) })
	rank := make([]int32, len(texts))
	for place, i := range by {
		rank[i] = int32(place)
	}
	return rank
}
