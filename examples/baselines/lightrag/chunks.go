// SPDX-License-Identifier: Apache-2.0

package lightrag

import (
	"cmp"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Pick says which chunks of the entities and relations that were found are read.
type Pick string

// The ways to pick chunks. The empty one is ByVector.
const (
	// ByVector takes those most like the question, half of RelatedChunks for each
	// entity or relation.
	ByVector Pick = "vector"
	// ByWeight takes those that many of them cite, RelatedChunks of the first,
	// falling to 1 of the last.
	ByWeight Pick = "weight"
)

// cited are the chunks of one entity or relation.
type cited []int32

func (s *searcher) entityChunks(entities []int32) (out []cited) {
	for _, e := range entities {
		out = append(out, s.chunks(e))
	}
	return out
}

func (s *searcher) relationChunks(relations []int32) (out []cited) {
	for _, r := range relations {
		out = append(out, s.relation(r).chunks)
	}
	return out
}

// picker picks chunks (lightrag/utils.py).
type picker struct {
	o        Options
	likeness []float64 // of each chunk to the question
}

// pick returns chunks of things that come in order, best first, without those
// that are taken.
func (p picker) pick(of []cited, taken []int32) []int32 {
	of = own(of, taken)
	if p.o.Pick == ByWeight {
		return byWeight(of, p.o.RelatedChunks)
	}
	return p.byVector(of)
}

// own gives each chunk to the first that cites it, and sorts the chunks of each
// by how many cite them. Those left with none are left out.
func own(of []cited, taken []int32) []cited {
	cites := make(map[int32]int)
	for _, chunks := range of {
		for _, c := range chunks {
			cites[c]++
		}
	}
	gone := make(map[int32]bool)
	for _, c := range taken {
		gone[c] = true
	}
	var out []cited
	for _, chunks := range of {
		var mine cited
		for _, c := range chunks {
			if !gone[c] {
				gone[c] = true
				mine = append(mine, c)
			}
		}
		if len(mine) > 0 {
			slices.SortStableFunc(mine, func(a, b int32) int { return cmp.Compare(cites[b], cites[a]) })
			out = append(out, mine)
		}
	}
	return out
}

func (p picker) byVector(of []cited) []int32 {
	all := slices.Concat(of...)
	slices.SortFunc(all, func(a, b int32) int {
		return cmp.Or(cmp.Compare(p.likeness[b], p.likeness[a]), cmp.Compare(a, b))
	})
	return all[:min(len(all), p.o.RelatedChunks*len(of)/2)]
}

// byWeight takes most chunks from the first and one from the last. What some
// cannot give, the first that have more give.
func byWeight(of []cited, most int) []int32 {
	var out []int32
	rest := 0
	next := make([]int, len(of))
	for i, chunks := range of {
		quota := most
		if len(of) > 1 {
			quota = int(math.RoundToEven(float64(most) - float64(most-1)*(float64(i)/float64(len(of)-1))))
		}
		next[i] = min(quota, len(chunks))
		rest += quota - next[i]
		out = append(out, chunks[:next[i]]...)
	}
	for i, chunks := range of {
		more := min(rest, len(chunks)-next[i])
		out = append(out, chunks[next[i]:next[i]+more]...)
		rest -= more
	}
	return out
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
