// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

func (s *searcher) entityChunks(entities []int32) (out [][]int32) {
	for _, e := range entities {
		out = append(out, s.chunks(e))
	}
	return out
}

func (s *searcher) relationChunks(relations []int32) (out [][]int32) {
	for _, r := range relations {
		out = append(out, s.relation(r).chunks)
	}
	return out
}

// unread returns the lists without the chunks that taken or an earlier list contains.
func unread(lists [][]int32, taken []int32) [][]int32 {
	seen := make(map[int32]bool)
	for _, c := range taken {
		seen[c] = true
	}
	out := make([][]int32, len(lists))
	for i, chunks := range lists {
		for _, c := range chunks {
			if !seen[c] {
				seen[c] = true
				out[i] = append(out[i], c)
			}
		}
	}
	return out
}

// cited returns the number of lists with a chunk.
func cited(lists [][]int32) (n int) {
	for _, chunks := range lists {
		n += min(1, len(chunks))
	}
	return n
}

// pick returns the n chunks of the lists that are most similar to the question, the first of equal ones.
func pick(lists [][]int32, similarity []float64, n int) []int32 {
	all := slices.Concat(lists...)
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(similarity[b], similarity[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), n)]
}

// byNeighbours returns the chunks of entities as the paper's code does: by entity, then by the number of
// neighbours of the entity in the chunk.
func (s *searcher) byNeighbours(entities []int32) []int32 {
	var out []int32
	for _, e := range entities {
		shared := make(map[int32]int)
		for _, r := range s.incident.Of(e) {
			ends := s.joins(r)
			for _, c := range s.chunks(ends[0] + ends[1] - e) {
				shared[c]++
			}
		}
		chunks := s.chunks(e)
		slices.SortStableFunc(chunks, func(a, b int32) int { return cmp.Compare(shared[b], shared[a]) })
		out = append(out, chunks...)
	}
	return rank.Interleave(out)
}

// inOrder returns the chunks of relations in the order of the relations.
func (s *searcher) inOrder(relations []int32) []int32 {
	return rank.Interleave(slices.Concat(s.relationChunks(relations)...))
}
