// SPDX-License-Identifier: Apache-2.0

package vector

import (
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// fewRows are read at least, and manyTimes as many as are wanted: of a share of a small
// index, or of the ten best of a hundred, too little is left for the estimates to err.
const (
	fewRows   = 1 << 12
	manyTimes = 32
)

// reads is how many rows a search reads after a glance at all of them; all, if it
// takes none.
func (x *Index) reads(p Params) int {
	if x.signs == nil || p.Share <= 0 || p.Share >= 1 {
		return x.n
	}
	return max(fewRows, int(math.Ceil(p.Share*float64(x.n))), manyTimes*p.K)
}

// glance is what a first look at the rows needs.
type glance struct {
	planes []uint64 // of the query
	turned []float32
	most   int32    // sum of the query's magnitudes
	keys   []uint16 // of all rows: their estimates, in their order
	counts []int32  // of rows by key
	ids    []int32
}

const allKeys = 1 << 16

// likely are the rows with the best estimates, at least so many of those to keep, and
// all with the last one's estimate, in the order of their ids.
func (x *Index) likely(s *scratch, wanted, workers int) []int32 {
	x.estimate(s, workers)
	g := &s.glance
	for take := wanted; ; take *= 2 {
		key := allKeys - 1
		for sum := int(g.counts[key]); key > 0 && sum < take; sum += int(g.counts[key]) {
			key--
		}
		g.ids = g.ids[:0]
		for i, k := range g.keys {
			if int(k) >= key && (s.sel.Keep == nil || s.sel.Keep(int32(i))) {
				g.ids = append(g.ids, int32(i))
			}
		}
		if len(g.ids) >= wanted || key == 0 {
			return g.ids
		}
	}
}

// estimate writes the keys of all rows, and counts them.
func (x *Index) estimate(s *scratch, workers int) {
	turn, g := x.signs.turn, &s.glance
	g.planes = slices.Grow(g.planes[:0], signPlanes*turn.words())[:signPlanes*turn.words()]
	g.turned = slices.Grow(g.turned[:0], turn.width)[:turn.width]
	g.keys = slices.Grow(g.keys[:0], x.n)[:x.n]
	g.most = turn.signQuery(g.planes, s.query, g.turned)
	if workers = min(workers, 1+x.n/shardRows); workers <= 1 {
		s.glance.reset()
		s.glanceAt(x, g, 0, x.n)
		return
	}
	parts := s.grow(workers)
	for _, part := range parts {
		part.glance.reset()
	}
	_ = par.Ranges(context.Background(), x.n, shardRows, workers, func(worker, first, last int) error {
		parts[worker].glanceAt(x, g, first, last)
		return nil
	})
	g.reset()
	for _, part := range parts {
		for key, n := range part.glance.counts {
			g.counts[key] += n
		}
	}
}

func (g *glance) reset() {
	g.counts = slices.Grow(g.counts[:0], allKeys)[:allKeys]
	clear(g.counts)
}

// glanceAt looks at rows for the query of g.
func (s *scratch) glanceAt(x *Index, g *glance, first, last int) {
	words, counts := x.signs.turn.words(), s.glance.counts
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		sums := s.sums[:roundUp(n, signGroup)]
		x.kernels.differ(sums, x.signs.bits[first*words:(first+len(sums))*words], g.planes)
		keys := g.keys[first : first+n]
		for i, unit := range x.signs.units[first : first+n] {
			key := order(unit * float32(g.most-2*sums[i]))
			keys[i] = key
			counts[key]++
		}
	}
}

// order is the first half of the bits of a number, so that they are in the order of
// the numbers: enough for eight bits of precision at any magnitude.
func order(f float32) uint16 {
	b := int32(math.Float32bits(f))
	return uint16(uint32(b^(b>>31|math.MinInt32)) >> 16)
}
