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
	i := sort.Search(len(ix.order), func(i int) bool { return string(ix.entities.id(ix.order[i])) >= id })
	if i == len(ix.order) || string(ix.entities.id(ix.order[i])) != id {
		return 0, false
	}
	return ix.order[i], true
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

// sortEntities orders the entities by their ids.
func (ix *Index) sortEntities() {
	value := make([]bool, ix.Entities())
	for _, tail := range ix.tails {
		if tail < 0 {
			value[^tail] = true
		}
	}
	ix.order = make([]int32, 0, len(value))
	for e, is := range value {
		if !is {
			ix.order = append(ix.order, int32(e))
		}
	}
	slices.SortFunc(ix.order, func(a, b int32) int { return bytes.Compare(ix.entities.id(a), ix.entities.id(b)) })
}
