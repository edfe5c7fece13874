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
	most   int32 // sum of the query's magnitudes

	wanted int
	floor  float32 // no row below can be among the best
	likely []guess // rows of at least this estimate
	counts []int32 // of them by key
	ids    []int32
}

// guess is a row with its estimate.
type guess struct {
	id       int32
	estimate float32
}

// likely are the rows with the best estimates, so many of those to keep, and all with
// the last one's key, in the order of their ids.
func (x *Index) likely(s *scratch, wanted, workers int) []int32 {
	turn, g := x.signs.turn, &s.glance
	g.planes = slices.Grow(g.planes[:0], signPlanes*turn.words())[:signPlanes*turn.words()]
	g.turned = slices.Grow(g.turned[:0], turn.width)[:turn.width]
	g.most = turn.signQuery(g.planes, s.query, g.turned)
	g.reset(wanted)
	if workers = min(workers, 1+x.n/shardRows); workers <= 1 {
		x.glanceAt(s, g, s.sel.Keep, 0, x.n)
	} else {
		parts := s.grow(workers)
		for _, part := range parts {
			part.glance.reset(wanted)
		}
		_ = par.Ranges(context.Background(), x.n, shardRows, workers, func(worker, first, last int) error {
			x.glanceAt(parts[worker], g, s.sel.Keep, first, last)
			return nil
		})
		for _, part := range parts {
			g.likely = append(g.likely, part.glance.likely...)
		}
	}
	g.prune()
	g.ids = slices.Grow(g.ids[:0], 1) // none are not all
	for _, r := range g.likely {
		g.ids = append(g.ids, r.id)
	}
	slices.Sort(g.ids)
	return g.ids
}

func (g *glance) reset(wanted int) {
	g.wanted, g.floor, g.likely = wanted, float32(math.Inf(-1)), g.likely[:0]
}

// glanceAt looks at rows for the query of g, and leaves the likely ones in s.glance.
func (x *Index) glanceAt(s *scratch, g *glance, keep func(int32) bool, first, last int) {
	words, mine := x.signs.turn.words(), &s.glance
	s.sums = slices.Grow(s.sums[:0], blockRows)[:blockRows]
	for ; first < last; first += blockRows {
		n := min(blockRows, last-first)
		sums := s.sums[:roundUp(n, signGroup)]
		x.kernels.differ(sums, x.signs.bits[first*words:(first+len(sums))*words], g.planes)
		for i, unit := range x.signs.units[first : first+n] {
			estimate := unit * float32(g.most-2*sums[i])
			if estimate >= mine.floor && (keep == nil || keep(int32(first+i))) {
				mine.likely = append(mine.likely, guess{int32(first + i), estimate})
			}
		}
		if len(mine.likely) >= 4*mine.wanted {
			mine.prune()
		}
	}
}

// prune drops rows that are not among the best: the floor is the lowest estimate with
// the key of the last of them.
func (g *glance) prune() {
	if len(g.likely) <= g.wanted {
		return
	}
	g.counts = slices.Grow(g.counts[:0], 1<<16)[:1<<16]
	clear(g.counts)
	highest := uint16(0)
	for _, r := range g.likely {
		key := order(r.estimate)
		g.counts[key]++
		highest = max(highest, key)
	}
	key, sum := highest, int(g.counts[highest])
	for sum < g.wanted {
		key--
		sum += int(g.counts[key])
	}
	g.floor = unordered(key)
	g.likely = slices.DeleteFunc(g.likely, func(r guess) bool { return r.estimate < g.floor })
}

// order is the first half of the bits of a number, so that they are in the order of the
// numbers: eight bits of precision at any magnitude. Counting is faster than selecting.
func order(f float32) uint16 {
	b := int32(math.Float32bits(f))
	return uint16(uint32(b^(b>>31|math.MinInt32)) >> 16)
}

// unordered is the least number with a key.
func unordered(key uint16) float32 {
	if key >= 1<<15 {
		return math.Float32frombits(uint32(key-1<<15) << 16)
	}
	return math.Float32frombits(^(uint32(key) << 16))
}
