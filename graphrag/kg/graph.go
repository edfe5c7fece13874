// SPDX-License-Identifier: Apache-2.0

package kg

import (
	"cmp"
	"slices"
	"strings"

	"github.com/wildgraph/wildgraph/graphrag"
)

// Graph is the knowledge of a [Base], put together: what the chunks say about each entity in one place. It
// depends on the extractions in the base and its options alone, not on the order of insertions and
// deletions. It is immutable and safe for concurrent use; callers must not change its slices.
type Graph struct {
	// Entities are sorted by key, Relations by head, label and tail, Passages
	// by chunk ID. Their places are the ids used everywhere. An index of chunks numbers
	// these in its own order: [Graph.Passage] finds the passage of a chunk.
	Entities  []Entity
	Relations []Relation
	Passages  []Passage
	// Rejected lists the records of the extractions that the graph does not
	// contain, and the problems of their extractor.
	Rejected []Rejection

	folding         Folding
	ids             map[string]int32 // by key
	entityChunks    postings
	chunkEntities   postings
	relationChunks  postings
	chunkRelations  postings
	entityRelations postings

	entityDescriptions, relationDescriptions lists[Description]
}

// Find returns the entity of a name, whatever its spelling.
func (g *Graph) Find(name string) (int32, bool) {
	id, ok := g.ids[g.Key(name)]
	return id, ok
}

// Passage returns the passage of a chunk, by the ID of the chunk.
func (g *Graph) Passage(chunk string) (int32, bool) {
	p, ok := slices.BinarySearchFunc(g.Passages, chunk, func(p Passage, id string) int { return strings.Compare(p.Chunk, id) })
	return int32(p), ok
}

// Known reports whether there is an entity of a name, for a search for names in texts.
func (g *Graph) Known(name string) bool {
	_, ok := g.Find(name)
	return ok
}

// Key folds a name as the keys of entities are folded. Fold names before comparing
// them with keys, as link.NameIndex does.
func (g *Graph) Key(name string) string { return g.folding.Key(name) }

// Triple returns a relation in words.
func (g *Graph) Triple(r int32) graphrag.Triple {
	rel := &g.Relations[r]
	return graphrag.Triple{Head: g.Entities[rel.Head].Name, Relation: rel.Label, Tail: g.Entities[rel.Tail].Name}
}

// EntityDescriptions returns the descriptions of an entity, in the order of the first
// passages that state them. The caller owns the list.
func (g *Graph) EntityDescriptions(e int32) []Description {
	return clipped(g.entityDescriptions.of(int(e)))
}

// RelationDescriptions returns the descriptions of a relation, as EntityDescriptions does.
func (g *Graph) RelationDescriptions(r int32) []Description {
	return clipped(g.relationDescriptions.of(int(r)))
}

// EntityPassages are the passages that name an entity, in order, with the number of times.
func (g *Graph) EntityPassages(e int32) []Posting { return g.entityChunks.of(e) }

// PassageEntities are the entities that a passage names, in order.
func (g *Graph) PassageEntities(p int32) []Posting { return g.chunkEntities.of(p) }

// RelationPassages are the passages that state a relation, in order, with the number of times.
func (g *Graph) RelationPassages(r int32) []Posting { return g.relationChunks.of(r) }

// PassageRelations are the relations that a passage states, in order.
func (g *Graph) PassageRelations(p int32) []Posting { return g.chunkRelations.of(p) }

// EntityRelations are the relations in which an entity is head or tail, in
// order; the count is 2 where it is both.
func (g *Graph) EntityRelations(e int32) []Posting { return g.entityRelations.of(e) }

// Phrases returns the entities that are ends of facts, HippoRAG's phrases, and
// for every entity the number of passages that state a fact about it.
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

// AppendFactEntities appends the entities of the facts that a passage states,
// sorted, each once: what HippoRAG calls the phrases of a passage.
func (g *Graph) AppendFactEntities(to []int32, p int32) []int32 {
	from := len(to)
	for _, r := range g.PassageRelations(p) {
		to = append(to, g.Relations[r.ID].Head, g.Relations[r.ID].Tail)
	}
	slices.Sort(to[from:])
	return to[:from+len(slices.Compact(to[from:]))]
}

// Pairs are the relations by the two entities that they join, in the order of these. If
// directed is set, those from a to b are apart from those from b to a.
func (g *Graph) Pairs(directed bool) Lists {
	order := make([]int32, len(g.Relations))
	for r := range order {
		order[r] = int32(r)
	}
	compare := func(a, b int32) int {
		x, y := &g.Relations[a], &g.Relations[b]
		if directed {
			return cmp.Or(cmp.Compare(x.Head, y.Head), cmp.Compare(x.Tail, y.Tail))
		}
		return cmp.Or(cmp.Compare(min(x.Head, x.Tail), min(y.Head, y.Tail)), cmp.Compare(max(x.Head, x.Tail), max(y.Head, y.Tail)))
	}
	slices.SortStableFunc(order, compare)
	pairs := Lists{items: order}
	for at := 1; at <= len(order); at++ {
		if at == len(order) || compare(order[at-1], order[at]) != 0 {
			pairs.ends = append(pairs.ends, int32(at))
		}
	}
	return pairs
}

// Degrees returns the mean and the largest number of other entities that one entity has
// relations with, and the share of entities that have none.
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
