// SPDX-License-Identifier: Apache-2.0

package triples

import (
	"bytes"
	"slices"
	"sort"

	"github.com/wildgraph/wildgraph/graphrag/bm25"
)

// Entity is the number of an entity; values have none.
func (ix *Index) Entity(id string) (int32, bool) {
	i := sort.Search(ix.meta.Known, func(i int) bool { return string(ix.entities.id(int32(i))) >= id })
	return int32(i), i < ix.meta.Known && string(ix.entities.id(int32(i))) == id
}

// Of are the triples that an entity is in, in order. They must not be written to.
func (ix *Index) Of(entity int32) []int32 {
	return ix.adjacency[ix.starts[entity]:ix.starts[entity+1]]
}

// Ends are the numbers of the head and the tail of a triple; a tail that is a value has
// -1.
func (ix *Index) Ends(triple int32) (head, tail int32) {
	e := ix.edges[triple]
	return e.head, max(e.tail, -1)
}

// Words is the index of the texts of the triples, whose documents they are.
func (ix *Index) Words() *bm25.Index { return ix.words }

// sortEntities numbers the entities in the order of their ids, and the values after
// them.
func (ix *Index) sortEntities() {
	value := make([]bool, ix.Entities())
	for _, e := range ix.edges {
		if e.tail < 0 {
			value[^e.tail] = true
		}
	}
	var order, values []int32
	for e, is := range value {
		if is {
			values = append(values, int32(e))
		} else {
			order = append(order, int32(e))
		}
	}
	slices.SortFunc(order, func(a, b int32) int { return bytes.Compare(ix.entities.id(a), ix.entities.id(b)) })
	ix.meta.Known = len(order)
	order = append(order, values...)
	number := make([]int32, len(order))
	for i, e := range order {
		number[e] = int32(i)
	}
	for i := range ix.edges {
		e := &ix.edges[i]
		if e.head = number[e.head]; e.tail < 0 {
			e.tail = ^number[^e.tail]
		} else {
			e.tail = number[e.tail]
		}
	}
	sorted := names{arena: make([]byte, 0, len(ix.entities.arena)), ends: make([]nameEnds, 0, len(order))}
	for _, e := range order {
		add(&sorted, ix.entities.id(e), ix.entities.label(e))
	}
	ix.entities = sorted
}

// names are ids and labels, by number: each id and behind it the label, unless that is
// the same.
type names struct {
	arena []byte
	ends  []nameEnds
}

// nameEnds are where an id and its label end.
type nameEnds struct{ id, label int }

func (n *names) len() int { return len(n.ends) }

func (n *names) start(i int32) int {
	if i == 0 {
		return 0
	}
	return n.ends[i-1].label
}

func (n *names) id(i int32) []byte { return n.arena[n.start(i):n.ends[i].id] }

func (n *names) label(i int32) []byte { return n.arena[n.ends[i].id:n.ends[i].label] }

func (n *names) at(i int32) Entity {
	id := string(n.id(i))
	if label := n.label(i); len(label) > 0 {
		return Entity{id, string(label)}
	}
	return Entity{id, id}
}

func add[S string | []byte](n *names, id, label S) {
	n.arena = append(append(n.arena, id...), label...)
	n.ends = append(n.ends, nameEnds{len(n.arena) - len(label), len(n.arena)})
}
