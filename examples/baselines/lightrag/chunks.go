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

// pick takes, of the chunks that entities or relations cite and that are not taken, those
// most like the question: half of perList for each entity or relation that is the first to
// cite one (lightrag/utils.py).
func pick(of [][]int32, taken []int32, likeness []float64, perList int) []int32 {
	gone := make(map[int32]bool)
	for _, c := range taken {
		gone[c] = true
	}
	var all []int32
	lists := 0
	for _, chunks := range of {
		before := len(all)
		for _, c := range chunks {
			if !gone[c] {
				gone[c] = true
				all = append(all, c)
			}
		}
		if len(all) > before {
			lists++
		}
	}
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(likeness[b], likeness[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), perList*lists/2)]
}

// byNeighbours are the chunks of entities as the paper's code takes them: in the
// order of the entities, those of one by the number of its neighbours that are in
// the chunk too.
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

// inOrder are the chunks of relations in the order of the relations.
func (s *searcher) inOrder(relations []int32) []int32 {
	return rank.Interleave(slices.Concat(s.relationChunks(relations)...))
}
