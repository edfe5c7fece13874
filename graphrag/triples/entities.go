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
	return ix.heads[triple], max(ix.tails[triple], -1)
}

// Words is the index of the texts of the triples, whose documents they are.
func (ix *Index) Words() *bm25.Index { return ix.words }

// sortEntities numbers the entities in the order of their ids, and the values after
// them.
func (ix *Index) sortEntities() {
	value := make([]bool, ix.Entities())
	for _, tail := range ix.tails {
		if tail < 0 {
			value[^tail] = true
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
	for i := range ix.heads {
		ix.heads[i] = number[ix.heads[i]]
		if tail := ix.tails[i]; tail < 0 {
			ix.tails[i] = ^number[^tail]
		} else {
			ix.tails[i] = number[tail]
		}
	}
	ix.entities = ix.entities.inOrder(order)
}

func (n *names) inOrder(order []int32) names {
	out := names{ids: make([]byte, 0, len(n.ids)), labels: make([]byte, 0, len(n.labels)), idEnds: make([]int, len(order)), labelEnds: make([]int, len(order))}
	for i, e := range order {
		out.ids, out.labels = append(out.ids, n.id(e)...), append(out.labels, part(n.labels, n.labelEnds, e)...)
		out.idEnds[i], out.labelEnds[i] = len(out.ids), len(out.labels)
	}
	return out
}
