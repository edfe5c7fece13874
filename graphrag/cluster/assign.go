// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// scratch is what a worker needs for itself.
type scratch struct {
	sum     []float64
	pending []int32   // rows of a block whose nearest centroid is not certain
	tile    []float32 // some of them, gathered
	codes   []int8    // the same, their codes
	coded   []coded
	scores  []float32 // of the rows of the tile with all centroids
	top     []top
	near    []int32 // centroids that may be nearest to a row
	changed []bool  // clusters that won or lost a row

	searched, compared int // rows, and centroids compared with them by distance
}

// sums returns n zeros.
func (s *scratch) sums(n int) []float64 {
	s.sum = slices.Grow(s.sum[:0], n)[:n]
	clear(s.sum)
	return s.sum
}

// assign gives each vector the label of its nearest centroid and returns how
// many labels changed.
func (l *lloyd) assign(ctx context.Context) (int, error) {
	l.pack(&l.panels, l.centroids)
	l.widest = max(l.widest, l.panels.reach)
	// The farthest and the second farthest move: a vector's lower bound falls
	// by the farthest of those that are not its own centroid's.
	first, second, farthest := 0.0, 0.0, -1
	if l.step > 0 {
		for c, m := range l.moved {
			if m > first {
				first, second, farthest = m, first, c
			} else if m > second {
				second = m
			}
		}
	}
	var changed atomic.Int64
	err := par.Ranges(ctx, l.n, rowBlock, l.opts.Workers, func(worker, lo, hi int) error {
		s := &l.scratch[worker]
		s.pending = s.pending[:0]
		for i := lo; i < hi; i++ {
			if c := int(l.labels[i]); c >= 0 {
				l.upper[i] += l.moved[c]
				if c == farthest {
					l.lower[i] -= second
				} else {
					l.lower[i] -= first
				}
				if l.certain(i) {
					continue
				}
				// The true distance may help if its own centroid's move does. It takes as
				// long as scores of codes.
				if l.codes == nil && l.upper[i]-2*l.moved[c] < l.lower[i] {
					l.upper[i] = math.Sqrt(l.distance(l.row(i), l.centroid(c)))
					if l.certain(i) {
						continue
					}
				}
			}
			s.pending = append(s.pending, int32(i))
		}
		changed.Add(int64(l.search(s)))
		return nil
	})
	for w := range l.scratch {
		for c, yes := range l.scratch[w].changed {
			l.changed[c] = l.changed[c] || yes
		}
		clear(l.scratch[w].changed)
	}
	l.judge()
	return int(changed.Load()), err
}

// certain reports whether the bounds of a vector tell that no other centroid is
// as near as its own. The rounding of bounds that have been moved step times,
// each time by no more than twice the longest vector or centroid there was, stays below the slack.
func (l *lloyd) certain(i int) bool {
	slack := 0x1p-48 * float64(l.step+8) * (l.longest + l.widest)
	return l.upper[i]+slack < l.lower[i]
}

// pack lays centroids out for the kernels.
func (l *lloyd) pack(p *panels, centroids []float32) {
	n, width := len(centroids)/l.dim, l.kernels.width
	padded, dim := roundUp(n, width), roundUp(l.dim, laneWidth)
	p.offsets = slices.Grow(p.offsets[:0], padded)[:padded]
	p.reach = 0
	for c := range padded {
		if c >= n {
			p.offsets[c] = float32(math.Inf(-1))
			continue
		}
		length := norm(centroids[c*l.dim : (c+1)*l.dim])
		p.reach = max(p.reach, length)
		p.offsets[c] = float32(-length * length / 2)
	}
	if l.codes != nil {
		l.codes.pack(p, centroids, l.dim, width)
		return
	}
	p.floats = slices.Grow(p.floats[:0], padded*dim)[:padded*dim]
	for c := range n {
		panel := p.floats[c/width*width*dim:]
		for j, v := range centroids[c*l.dim : (c+1)*l.dim] {
			panel[j*width+c%width] = v
		}
	}
}

// score computes the scores of rows, as many as a tile at most, with all centroids.
func (l *lloyd) score(s *scratch, p *panels, rows []int32) {
	height, dim := l.kernels.height, roundUp(l.dim, laneWidth)
	if s.tile == nil {
		s.tile, s.codes, s.coded = make([]float32, height*dim), make([]int8, height*dim), make([]coded, height)
	}
	s.scores = slices.Grow(s.scores[:0], height*len(p.offsets))[:height*len(p.offsets)]
	if l.codes != nil {
		l.codes.gather(s.codes, s.coded, rows)
		l.kernels.codeScores(s.scores, s.codes, s.coded, p.bytes, p.steps, p.offsets)
		return
	}
	for r, i := range rows {
		copy(s.tile[r*dim:], l.row(int(i)))
	}
	l.kernels.scores(s.scores, s.tile, p.floats, p.offsets)
}

// search finds the nearest centroids of the pending rows. It returns how many labels changed.
func (l *lloyd) search(s *scratch) int {
	height, padded := l.kernels.height, len(l.panels.offsets)
	if s.top == nil {
		s.top, s.near = make([]top, height), make([]int32, padded+16)
		s.changed = make([]bool, l.k)
	}
	changed := 0
	s.searched += len(s.pending)
	for rest := s.pending; len(rest) > 0; {
		rows := rest[:min(height, len(rest))]
		rest = rest[len(rows):]
		l.score(s, &l.panels, rows)
		l.kernels.best(s.top, s.scores)
		for r, i := range rows {
			old := l.labels[i]
			s.compared += l.label(int(i), s.top[r], s.scores[r*padded:(r+1)*padded], s.near)
			if now := l.labels[i]; now != old {
				changed++
				s.changed[now] = true
				if old >= 0 {
					s.changed[old] = true
				}
			}
		}
	}
	return changed
}

// label sets the label and the bounds of a vector by its scores. If the two
// best are too close for the scores' error, the centroids in question are compared by
// distance. It returns how many. near has room for their indices.
func (l *lloyd) label(i int, t top, scores []float32, near []int32) int {
	square, e := l.norms[i]*l.norms[i], l.scoreError(i, &l.panels)
	best, compared := t.index, 0
	if gap := float64(t.first) - float64(t.second); gap > 2*e {
		l.upper[i] = math.Sqrt(max(0, square-2*(float64(t.first)-e)))
		l.lower[i] = math.Sqrt(max(0, square-2*(float64(t.second)+e)))
	} else {
		nearest, other := math.Inf(1), square-2*(float64(t.first)-e)
		compared = l.kernels.atLeast(near, scores, ceil32(float64(t.first)-2*e))
		for _, c := range near[:compared] {
			if int(c) >= l.k {
				break
			}
			if d := l.distance(l.row(i), l.centroid(int(c))); d < nearest {
				nearest, other, best = d, min(other, nearest), c
			} else {
				other = min(other, d)
			}
		}
		l.upper[i] = math.Sqrt(nearest)
		l.lower[i] = math.Sqrt(max(0, other))
	}
	l.labels[i] = best
	return compared
}

// distanceCost is how many scores of floats take as long as a distance.
const distanceCost = 24

// judge gives up codes that rule out too little.
func (l *lloyd) judge() {
	searched, compared := 0, 0
	for w := range l.scratch {
		s := &l.scratch[w]
		searched, compared = searched+s.searched, compared+s.compared
		s.searched, s.compared = 0, 0
	}
	if distanceCost*compared > l.k*searched {
		l.codes, l.kernels.codeScores = nil, nil
	}
}

// scoreError bounds how far the score of a vector with any centroid is from the
// true one: a float32 sum of dim products and an offset, in any order, is off by
// at most (dim+2)·2⁻²⁴ of the sum of the magnitudes, and by 2⁻¹⁴⁹ for each
// product that is too small. Twice that also covers the rounding of the
// distance in float64.
func (l *lloyd) scoreError(i int, p *panels) float64 {
	if l.codes != nil {
		return l.codes.scoreError(i, l.norms[i], p)
	}
	terms := float64(l.dim + 2)
	return terms * (0x1p-23*(l.norms[i]*p.reach+p.reach*p.reach/2) + 0x1p-148)
}

// beyond is a lower bound of the squared distance of a vector from a centroid, whose score
// is known with an error, and of that distance as it is rounded.
func (l *lloyd) beyond(i int, score float32, e float64) float64 {
	square := l.norms[i] * l.norms[i]
	return square*(1-0x1p-30) - 2*(float64(score)+e)
}
