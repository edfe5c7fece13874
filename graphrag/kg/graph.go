// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// Graph is the merged knowledge of a [Base]: all statements of the chunks about an entity are in one place. It
// depends only on the extractions in the base and its options, not on the order of insertions and deletions. It
// is immutable and safe for concurrent use; callers must not change its slices.
type Graph struct {
	// Entities are sorted by key, Relations by head, label and tail, Passages by chunk ID. Their indexes in
	// these lists are the ids in all methods. An index of chunks may number them in another order:
	// [Graph.Passage] finds the passage of a chunk.
	Entities  []Entity
	Relations []Relation
	Passages  []Passage
	// Rejected lists the records of the extractions that the graph does not
	// contain, and the problems of their extractor.
	Rejected []Problem

	folding         Folding
	entityChunks    lists[Posting]
	chunkEntities   lists[Posting]
	relationChunks  lists[Posting]
	chunkRelations  lists[Posting]
	entityRelations lists[Posting]

	entityDescriptions, relationDescriptions lists[Description]
}

// Find returns the entity with a name, in any spelling that is folded to its key.
func (g *Graph) Find(name string) (int32, bool) {
	id, ok := slices.BinarySearchFunc(g.Entities, g.Key(name), func(e Entity, key string) int { return strings.Compare(e.Key, key) })
	return int32(id), ok
}

// Passage returns the passage of a chunk, by the ID of the chunk.
func (g *Graph) Passage(chunk string) (int32, bool) {
	p, ok := slices.BinarySearchFunc(g.Passages, chunk, func(p Passage, id string) int { return strings.Compare(p.Chunk, id) })
	return int32(p), ok
}

// Known reports whether there is an entity with a name, for a search for names in texts.
func (g *Graph) Known(name string) bool {
	_, ok := g.Find(name)
	return ok
}

// Key folds a name by the rule of the entities' keys. Fold names before comparing them with keys, as
// link.NameIndex does.
func (g *Graph) Key(name string) string { return g.folding.Key(name) }

// Folding returns the rule by which Key folds names.
func (g *Graph) Folding() Folding { return g.folding }

// Ends returns the head and the tail of each relation.
func (g *Graph) Ends() [][2]int32 {
	ends := make([][2]int32, len(g.Relations))
	for r := range ends {
		ends[r] = [2]int32{g.Relations[r].Head, g.Relations[r].Tail}
	}
	return ends
}

// Triple returns a relation as a triple of names and label.
func (g *Graph) Triple(r int32) graphrag.Triple {
	rel := &g.Relations[r]
	return graphrag.Triple{Head: g.Entities[rel.Head].Name, Relation: rel.Label, Tail: g.Entities[rel.Tail].Name}
}

// EntityDescriptions returns the descriptions of an entity, in the order of the first
// passages that state them. The caller owns the list.
func (g *Graph) EntityDescriptions(e int32) []Description {
	return clipped(g.entityDescriptions.Of(e))
}

// RelationDescriptions returns the descriptions of a relation, as EntityDescriptions does.
func (g *Graph) RelationDescriptions(r int32) []Description {
	return clipped(g.relationDescriptions.Of(r))
}

// EntityPassages returns the passages that name an entity, in order, each with the number of mentions.
func (g *Graph) EntityPassages(e int32) []Posting { return g.entityChunks.Of(e) }

// PassageEntities returns the entities that a passage names, in order.
func (g *Graph) PassageEntities(p int32) []Posting { return g.chunkEntities.Of(p) }

// RelationPassages returns the passages that state a relation, in order, each with the number of facts.
func (g *Graph) RelationPassages(r int32) []Posting { return g.relationChunks.Of(r) }

// PassageRelations returns the relations that a passage states, in order.
func (g *Graph) PassageRelations(p int32) []Posting { return g.chunkRelations.Of(p) }

// EntityRelations returns the relations with an entity as head or tail, in order; the count is 2 if it is both.
func (g *Graph) EntityRelations(e int32) []Posting { return g.entityRelations.Of(e) }

// Phrases returns the entities that are head or tail of a relation, which HippoRAG calls phrases, and, for
// every entity, the number of passages that state a fact about it.
func (g *Graph) Phrases() (phrases, passages []int32) {
	passages = make([]int32, len(g.Entities))
	var ends []int32
	for p := range g.Passages {
		ends = g.AppendFactEntities(ends[:0], int32(p))
		for _, e := range ends {
			passages[e]++
		}
	}
	for e, n := range passages {
		if n > 0 {
			phrases = append(phrases, int32(e))
		}
	}
	return phrases, passages
}

// AppendFactEntities appends the heads and tails of the facts that a passage states, sorted, each once.
// HippoRAG calls them the phrases of a passage.
func (g *Graph) AppendFactEntities(to []int32, p int32) []int32 {
	from := len(to)
	for _, r := range g.PassageRelations(p) {
		to = append(to, g.Relations[r.ID].Head, g.Relations[r.ID].Tail)
	}
	slices.Sort(to[from:])
	return to[:from+len(slices.Compact(to[from:]))]
}

// Pairs returns lists of the relations between the same two entities, sorted by the entities. With directed,
// the relations from a to b and those from b to a are in different lists.
func (g *Graph) Pairs(directed bool) Lists {
	ends := g.Ends()
	order := make([]int32, len(ends))
	for r, e := range ends {
		if order[r] = int32(r); !directed && e[0] > e[1] {
			ends[r] = [2]int32{e[1], e[0]}
		}
	}
	for _, end := range []int{1, 0} {
		order = sorted(order, len(g.Entities), func(r *int32) int32 { return ends[*r][end] })
	}
	pairs := Lists{lists[int32]{items: order}}
	for at := 1; at <= len(order); at++ {
		if at == len(order) || ends[order[at-1]] != ends[order[at]] {
			pairs.ends = append(pairs.ends, int32(at))
		}
	}
	return pairs
}

// Degrees returns the mean and the largest number of other entities to which an entity has relations, and the
// share of entities without relations.
func (g *Graph) Degrees() (mean float64, most int, isolated float64) {
	n := len(g.Entities)
	if n == 0 {
		return 0, 0, 0
	}
	degrees, ends, alone := make([]int, n), 0, 0
	pairs := g.Pairs(false)
	for _, relations := range pairs.All() {
		if r := &g.Relations[relations[0]]; r.Head != r.Tail {
			degrees[r.Head]++
			degrees[r.Tail]++
			ends += 2
		}
	}
	for _, d := range degrees {
		if most = max(most, d); d == 0 {
			alone++
		}
	}
	return float64(ends) / float64(n), most, float64(alone) / float64(n)
}

// Synonym says that the entity From has found the entity To, whose name is similar. It has a direction: a name
// that is too short does not look for synonyms, but may be one.
type Synonym struct {
	From, To int32
	Score    float64
}

// ViewOptions decide which knowledge of a graph becomes edges. HippoRAG 2 has the same weights: 2 for a fact,
// the score for each direction of a synonym, 1 for a passage and an entity of one of its facts.
type ViewOptions struct {
	// Synonyms become edges; the scores of both directions are added.
	Synonyms []Synonym
	// Overwrite makes a synonym replace the facts in its direction, which are half of their weight, instead of
	// adding to them (as HippoRAG's code does).
	Overwrite bool
	// Passages adds the passages as nodes, with an edge to each entity of their facts; with Mentioned to each
	// entity that they name.
	Passages  bool
	Mentioned bool
}

// View is a graph whose node e is entity e, and whose node Entities+p is passage p.
type View struct {
	*graph.Graph
	// Entities and Passages are the numbers of nodes of each kind.
	Entities, Passages int
}

// Passage returns the node of a passage.
func (v *View) Passage(p int32) int32 { return int32(v.Entities) + p }

// View makes a weighted undirected graph of the facts. A fact whose head is its tail is no edge.
func (g *Graph) View(o ViewOptions) (*View, error) {
	v := &View{Entities: len(g.Entities)}
	edges, err := g.entityEdges(o)
	if err != nil {
		return nil, err
	}
	if o.Passages {
		v.Passages = len(g.Passages)
		edges = append(edges, g.contextEdges(o, v)...)
	}
	built, err := graph.New(v.Entities+v.Passages, edges)
	if err != nil {
		return nil, fmt.Errorf("kg: view: make the graph: %w", err)
	}
	v.Graph = built
	return v, nil
}

// entityEdges returns the facts and the synonyms, each as half an edge in its direction. With Overwrite, a
// synonym replaces the facts in its direction.
func (g *Graph) entityEdges(o ViewOptions) ([]graph.Edge, error) {
	edges := make([]graph.Edge, 0, 2*len(g.Relations)+len(o.Synonyms))
	replaced := make(map[[2]int32]bool)
	for _, s := range o.Synonyms {
		if s.From != s.To {
			edges = append(edges, graph.Edge{From: s.From, To: s.To, Weight: s.Score})
			if o.Overwrite {
				replaced[[2]int32{s.From, s.To}] = true
			}
		}
	}
	for r, ends := range g.Ends() {
		for _, e := range [][2]int32{ends, {ends[1], ends[0]}} {
			if e[0] != e[1] && !replaced[e] {
				edges = append(edges, graph.Edge{From: e[0], To: e[1], Weight: float64(g.Relations[r].Count)})
			}
		}
	}
	for _, e := range edges {
		if n := uint32(len(g.Entities)); uint32(e.From) >= n || uint32(e.To) >= n {
			return nil, fmt.Errorf("kg: view: a synonym is from entity %d to %d: the graph has %d entities", e.From, e.To, n)
		}
	}
	return edges, nil
}

func (g *Graph) contextEdges(o ViewOptions, v *View) []graph.Edge {
	var edges []graph.Edge
	var ends []int32
	for p := range g.Passages {
		ends = ends[:0]
		if o.Mentioned {
			for _, e := range g.PassageEntities(int32(p)) {
				ends = append(ends, e.ID)
			}
		} else {
			ends = g.AppendFactEntities(ends, int32(p))
		}
		for _, e := range ends {
			edges = append(edges, graph.Edge{From: v.Passage(int32(p)), To: e, Weight: 1})
		}
	}
	return edges
}

// Lists holds lists of numbers in one array. There are as many lists as pairs of entities, and most have a
// single number, for which a slice header would be six times as large.
type Lists struct{ lists[int32] }

// lists holds lists of items in one array.
type lists[T any] struct {
	ends  []int32
	items []T
}

// Len returns the number of lists.
func (l *lists[T]) Len() int { return len(l.ends) }

// Of returns list i; the caller must not change it.
func (l *lists[T]) Of(i int32) []T {
	lo, hi := int32(0), l.ends[i]
	if i > 0 {
		lo = l.ends[i-1]
	}
	return l.items[lo:hi:hi]
}

// All yields the lists in their order.
func (l *lists[T]) All() iter.Seq2[int32, []T] {
	return func(yield func(int32, []T) bool) {
		for i := range int32(l.Len()) {
			if !yield(i, l.Of(i)) {
				return
			}
		}
	}
}

// Append appends a list.
func (l *lists[T]) Append(list ...T) {
	l.items = append(l.items, list...)
	l.ends = append(l.ends, int32(len(l.items)))
}

// Clip releases spare capacity.
func (l *lists[T]) Clip() {
	l.ends, l.items = clipped(l.ends), clipped(l.items)
}

// begin replaces the sizes of lists by their start offsets. They become the ends when the lists are filled.
func begin(sizes []int32) {
	at := int32(0)
	for i, size := range sizes {
		sizes[i] = at
		at += size
	}
}

// Incident returns, for each of n entities, the pairs that contain it; ends returns the entities of each of m
// pairs.
func Incident(n, m int, ends func(pair int32) [2]int32) Lists {
	l := Lists{lists[int32]{make([]int32, n), make([]int32, 2*m)}}
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.ends[e]++
		}
	}
	begin(l.ends)
	for p := range int32(m) {
		for _, e := range ends(p) {
			l.items[l.ends[e]] = p
			l.ends[e]++
		}
	}
	return l
}

// statedText is a text that a passage states about an entity or a relation, which is list.
type statedText struct{ list, passage, text int32 }

// described groups texts by the entity or relation that they describe (0 to n-1): equal texts once, in the
// order of their first passages. said is sorted by entity or relation, then by passage; it is overwritten.
func described(n int, said []statedText, texts []string) lists[Description] {
	out := lists[Description]{ends: make([]int32, 0, n)}
	place := make([]int, len(texts)) // index of each text in out.items, plus 1
	first := 0                       // index of the first description of the current list
	for i := range said {
		s := &said[i]
		for len(out.ends) < int(s.list) {
			out.ends = append(out.ends, int32(len(out.items)))
			first = len(out.items)
		}
		d := place[s.text] - 1
		if d < first {
			d = len(out.items)
			place[s.text] = d + 1
			out.items = append(out.items, Description{Text: texts[s.text]})
		}
		s.text = int32(d) // from here on the index of the description
	}
	for len(out.ends) < n {
		out.ends = append(out.ends, int32(len(out.items)))
	}
	out.items = clipped(out.items)
	said = sorted(said, len(out.items), func(s *statedText) int32 { return s.text })
	passages := make([]int32, 0, len(said)) // passages of all descriptions, in their order
	for i, s := range said {
		if i > 0 && s == said[i-1] {
			continue
		}
		of := &out.items[s.text].Passages
		passages = append(passages, s.passage)
		*of = passages[len(passages)-len(*of)-1 : len(passages) : len(passages)]
	}
	return out
}

// ranked returns texts by descending frequency, equal frequencies in alphabetical order.
func ranked(p lists[Posting], texts []string) lists[Count] {
	out := lists[Count]{p.ends, make([]Count, len(p.items))}
	for i, x := range p.items {
		out.items[i] = Count{texts[x.ID], int(x.Count)}
	}
	for _, of := range out.All() {
		if len(of) > 1 {
			slices.SortFunc(of, func(a, b Count) int {
				return cmp.Or(cmp.Compare(b.N, a.N), strings.Compare(a.Text, b.Text))
			})
		}
	}
	return out
}

// clipped returns a copy without spare capacity; nil for an empty list.
func clipped[T any](list []T) []T {
	if len(list) == 0 {
		return nil
	}
	return append(make([]T, 0, len(list)), list...)
}

// link says that an item occurs once in a list.
type link struct{ list, item int32 }

// gather makes n lists of the items of links, sorted and with counts. It sorts by counting, first by item and
// then by list, so time and memory are linear.
func gather(n, items int, links []link) lists[Posting] {
	links = sorted(links, items, func(l *link) int32 { return l.item })
	links = sorted(links, n, func(l *link) int32 { return l.list })
	p, size := lists[Posting]{ends: make([]int32, n)}, 0
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			p.ends[l.list]++
			size++
		}
	}
	begin(p.ends)
	p.items = make([]Posting, 0, size)
	for i, l := range links {
		if i == 0 || links[i-1] != l {
			p.items = append(p.items, Posting{ID: l.item})
			p.ends[l.list]++
		}
		p.items[len(p.items)-1].Count++
	}
	return p
}

// sorted returns items sorted by a key below n; items with equal keys keep their order.
func sorted[T any](items []T, n int, key func(*T) int32) []T {
	next := make([]int32, n)
	for i := range items {
		next[key(&items[i])]++
	}
	begin(next)
	out := make([]T, len(items))
	for i := range items {
		k := key(&items[i])
		out[next[k]] = items[i]
		next[k]++
	}
	return out
}

// transpose returns, for each item, the lists that contain it.
func transpose(p lists[Posting], items int) lists[Posting] {
	q := lists[Posting]{make([]int32, items), make([]Posting, len(p.items))}
	for _, x := range p.items {
		q.ends[x.ID]++
	}
	begin(q.ends)
	for list, of := range p.All() {
		for _, x := range of {
			q.items[q.ends[x.ID]] = Posting{list, x.Count}
			q.ends[x.ID]++
		}
	}
	return q
}
