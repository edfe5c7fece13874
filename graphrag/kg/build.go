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
)

// build makes the graph of the extractions of chunks, in the order of these. It interns
// every text once, numbers the entities by key and gathers by sorting, so the
// result does not depend on the order of maps or of insertion.
func build(ctx context.Context, o Options, chunks map[string]packed) (*Graph, error) {
	b := &builder{o: o, g: &Graph{folding: o.Folding}, names: make(map[string]known), keys: newInterner(), spellings: newInterner(), labels: newInterner(), labelKeys: newInterner(), types: newInterner(), texts: newInterner()}
	var u unpacker
	var x Extraction
	for i, id := range slices.Sorted(maps.Keys(chunks)) {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		p := chunks[id]
		p.into(&u, id, &x)
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
	names                                            map[string]known
	labelKeyOf                                       []int32 // of a label
	labelRank                                        []int32 // the place of a label's key among all

	uses       []use
	typed      []pair // key, type
	said       []told // list is a key
	attributes []property
	facts      []fact
	keywords   [][]string // of facts

	entity []int32 // of a key
}

// known is what a name is: a spelling and a key, -1 if it is no name.
type known struct{ spelling, key int32 }

// use is an entity's name in a passage, property what a passage says about it, fact a
// triple.
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
			b.said = append(b.said, told{key, p, b.texts.id(m.Description)})
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
	n := len(b.uses)
	l := b.labels.id(oneLine(f.Relation))
	if int(l) == len(b.labelKeyOf) {
		b.labelKeyOf = append(b.labelKeyOf, b.labelKeys.id(b.o.Folding.relation(f.Relation)))
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
	known := make([]bool, len(b.keys.texts))
	for _, t := range b.typed {
		known[t.key] = true
	}
	for _, s := range b.said {
		known[s.list] = true
	}
	b.facts = slices.DeleteFunc(b.facts, func(f fact) bool {
		if known[f.head] && known[f.tail] {
			return false
		}
		triple := b.spellings.texts[f.names[0]] + " | " + b.labels.texts[f.label] + " | " + b.spellings.texts[f.names[1]]
		b.g.Rejected = append(b.g.Rejected, Rejection{b.g.Passages[f.passage].Chunk,
			Problem{"fact", Beginning(triple), "one of its ends is described nowhere"}})
		return true
	})
	b.uses = slices.DeleteFunc(b.uses, func(u use) bool { return !known[u.key] })
	b.attributes = slices.DeleteFunc(b.attributes, func(a property) bool { return !known[a.key] })
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
	names := gather(n, len(b.spellings.texts), spelt).ranked(b.spellings)
	types := gather(n, len(b.types.texts), typed).ranked(b.types)
	for i := range b.said {
		b.said[i].list = b.entity[b.said[i].list]
	}
	slices.SortStableFunc(b.said, func(a, c told) int { return cmp.Compare(a.list, c.list) })
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

// relations gathers the facts that say the same. Weights are added in the order
// of the chunks.
func (b *builder) relations() {
	b.labelRank = make([]int32, len(b.labels.texts))
	rank := order(b.labelKeys.texts)
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
	var said []told
	for facts := range b.same() {
		for i := range facts {
			if facts[i].text >= 0 {
				said = append(said, told{int32(len(b.g.Relations)), facts[i].passage, facts[i].text})
			}
		}
		b.g.Relations = append(b.g.Relations, b.relation(facts))
	}
	b.g.relationDescriptions = described(n, said, b.texts.texts)
}

// compare orders facts by what they say.
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

// descriptions are lists of them, one behind the other. Most are from one passage, and take
// 8 bytes: a graph of the sentences of 155 MB of pages has a million.
type descriptions struct {
	ends     []int32
	text     []int32 // of each its text
	passages []int32 // of each its passage; of one with several ^ their place in more
	more     lists[int32]
	texts    []string
}

// of is a list, made when it is asked for; nil if it is empty.
func (d *descriptions) of(i int32) []Description {
	lo, hi := int32(0), d.ends[i]
	if i > 0 {
		lo = d.ends[i-1]
	}
	if lo == hi {
		return nil
	}
	out := make([]Description, hi-lo)
	for n := range out {
		out[n] = Description{d.texts[d.text[lo+int32(n)]], d.from(lo + int32(n))}
	}
	return out
}

// from are the passages of a description.
func (d *descriptions) from(at int32) []int32 {
	if p := d.passages[at]; p < 0 {
		return d.more.of(int(^p))
	}
	return d.passages[at : at+1 : at+1]
}

// told says that a passage has a text about something.
type told struct{ list, passage, text int32 }

// described gathers texts by what they describe, of which there are n: equal texts once,
// in the order in which they first appear. said is sorted by list, and within one by
// passage.
func described(n int, said []told, texts []string) descriptions {
	out := descriptions{ends: make([]int32, 0, n), texts: texts}
	place := make([]int32, len(texts)) // of a text among the descriptions, from 1
	of := make([]int32, len(said))     // the description of each
	var text, size, last []int32       // of each description: passages, the last one
	for i := range said {
		s := &said[i]
		for int32(len(out.ends)) < s.list {
			out.ends = append(out.ends, int32(len(text)))
		}
		first := int32(0)
		if s.list > 0 {
			first = out.ends[s.list-1]
		}
		d := place[s.text] - 1
		if d < first {
			d = int32(len(text))
			place[s.text] = d + 1
			text, size, last = append(text, s.text), append(size, 0), append(last, -1)
		}
		of[i] = -1 // the same passage again
		if last[d] != s.passage {
			of[i], last[d] = d, s.passage
			size[d]++
		}
	}
	for len(out.ends) < n {
		out.ends = append(out.ends, int32(len(text)))
	}
	out.text = clipped(text)
	out.fill(said, of, size)
	return out
}

// fill writes the passages of each description, of which there are size.
func (d *descriptions) fill(said []told, of, size []int32) {
	d.passages = make([]int32, len(size))
	all := 0
	for i, n := range size {
		if n > 1 {
			d.passages[i] = ^int32(len(d.more.ends))
			d.more.ends = append(d.more.ends, all) // where it begins, until it is filled
			all += int(n)
		}
	}
	d.more.items = make([]int32, all)
	for i, to := range of {
		switch {
		case to < 0:
		case size[to] == 1:
			d.passages[to] = said[i].passage
		default:
			end := &d.more.ends[^d.passages[to]]
			d.more.items[*end] = said[i].passage
			*end++
		}
	}
}

// lists are lists of items, one behind the other.
type lists[T any] struct {
	ends  []int
	items []T
}

// of is a list.
func (l *lists[T]) of(i int) []T {
	lo, hi := 0, l.ends[i]
	if i > 0 {
		lo = l.ends[i-1]
	}
	return l.items[lo:hi:hi]
}

// ranked are texts by frequency, equal ones by the text.
func (p postings) ranked(texts *interner) lists[Count] {
	out := lists[Count]{items: make([]Count, len(p.items))}
	for i, x := range p.items {
		out.items[i] = Count{texts.texts[x.ID], int(x.Count)}
	}
	for _, end := range p.offsets[1:] {
		out.ends = append(out.ends, int(end))
		if of := out.of(len(out.ends) - 1); len(of) > 1 {
			slices.SortFunc(of, func(a, b Count) int {
				return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Text, b.Text))
			})
		}
	}
	return out
}

func clipped(list []int32) []int32 { return append(make([]int32, 0, len(list)), list...) }

// postings are lists, one behind the other.
type postings struct {
	offsets []int64
	items   []Posting
}

func (p *postings) of(id int32) []Posting {
	lo, hi := p.offsets[id], p.offsets[id+1]
	return p.items[lo:hi:hi]
}

// link is one occurrence of an item in a list.
type link struct{ list, item int32 }

// gather makes n lists of links, sorted by item and counted. It sorts by
// counting, first by item and then by list, so time and memory are linear.
func gather(n, items int, links []link) postings {
	links = sorted(links, items, func(l link) int32 { return l.item })
	links = sorted(links, n, func(l link) int32 { return l.list })
	distinct := 0
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			distinct++
		}
	}
	p := postings{offsets: make([]int64, n+1), items: make([]Posting, 0, distinct)}
	for i, l := range links {
		if i > 0 && links[i-1] == l {
			p.items[len(p.items)-1].Count++
		} else {
			p.items = append(p.items, Posting{l.item, 1})
		}
		p.offsets[l.list+1] = int64(len(p.items))
	}
	for i := range n { // lists without links
		p.offsets[i+1] = max(p.offsets[i+1], p.offsets[i])
	}
	return p
}

// sorted returns links by a key below n, equal ones in their order.
func sorted(links []link, n int, key func(link) int32) []link {
	next := make([]int64, n+1)
	for _, l := range links {
		next[key(l)+1]++
	}
	for i := range n {
		next[i+1] += next[i]
	}
	out := make([]link, len(links))
	for _, l := range links {
		out[next[key(l)]] = l
		next[key(l)]++
	}
	return out
}

// transpose turns lists of items into lists of those lists.
func (p *postings) transpose(items int) postings {
	q := postings{offsets: make([]int64, items+1), items: make([]Posting, len(p.items))}
	for _, x := range p.items {
		q.offsets[x.ID+1]++
	}
	for i := range items {
		q.offsets[i+1] += q.offsets[i]
	}
	next := append([]int64(nil), q.offsets...)
	for list := range len(p.offsets) - 1 {
		for _, x := range p.of(int32(list)) {
			q.items[next[x.ID]] = Posting{int32(list), x.Count}
			next[x.ID]++
		}
	}
	return q
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
