// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"slices"
)

// byNeighbours are the chunks of entities as the paper's code takes them: in the
// order of the entities, those of one by the number of its neighbours that are in
// the chunk too.
func (s *searcher) byNeighbours(entities []int32) []int32 {
	var out []int32
	for _, e := range entities {
		shared := make(map[int32]int)
		for _, r := range s.incident[e] {
			ends := s.pairs[r].ends
			for _, c := range s.chunks[ends[0]+ends[1]-e] {
				shared[c]++
			}
		}
		chunks := slices.Clone(s.chunks[e])
		slices.SortStableFunc(chunks, func(a, b int32) int { return cmp.Compare(shared[b], shared[a]) })
		out = append(out, chunks...)
	}
	return unique(out)
}

// inOrder are the chunks of relations in the order of the relations.
func (s *searcher) inOrder(relations []int32) []int32 {
	var out []int32
	for _, r := range relations {
		out = append(out, s.pairs[r].chunks...)
	}
	return unique(out)
}

// unique keeps the first of equal ids.
func unique(ids []int32) []int32 {
	seen := make(map[int32]bool, len(ids))
	return slices.DeleteFunc(ids, func(id int32) bool {
		if seen[id] {
			return true
		}
		seen[id] = true
		return false
	})
}
