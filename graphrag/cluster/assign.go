// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// subBlock is how many rows are compared with one group of centroids after the other,
// while they are in the cache.
const subBlock = 256

// scratch is what a worker needs for itself.
type scratch struct {
	rows   []int32   // of a block, those whose nearest centroid is not certain
	open   []int32   // of these, those with a nearer one in a group perhaps
	near   []float64 // squared distances of a block from their own centroids
	tile   []float32 // some rows, gathered
	scores []float32 // of the rows of the tile with the centroids of a group
}

// drift is how far the centroids of a group have gone at most.
type drift struct {
	first, second float32
	farthest      int32 // the centroid that went first
}

// drifts fills l.drifts.
func (l *lloyd) drifts() {
	for g := range l.drift {
		l.drift[g] = drift{farthest: -1}
	}
	if l.step == 0 {
		return
	}
	for c, m := range l.moved {
		d, moved := &l.drift[int(l.slot[c])/l.group], float32(m)
		if moved > d.first {
			*d = drift{first: moved, second: d.first, farthest: int32(c)}
		} else if moved > d.second {
			d.second = moved
		}
	}
}

// assign gives each vector the label of its nearest centroid and returns how
// many labels changed.
func (l *lloyd) assign(ctx context.Context) (int, error) {
	l.pack()
	l.drifts()
	var changed atomic.Int64
	err := par.Ranges(ctx, l.n, rowBlock, l.opts.Workers, func(worker, lo, hi int) error {
		s := &l.scratch[worker]
		if s.tile == nil {
			s.near = make([]float64, subBlock)
			s.tile = make([]float32, l.kernels.height*roundUp(l.dim, laneWidth))
			s.scores = make([]float32, l.kernels.height*l.group)
		}
		for ; lo < hi; lo += subBlock {
			changed.Add(int64(l.search(s, lo, min(lo+subBlock, hi))))
		}
		return nil
	})
	return int(changed.Load()), err
}

// search finds the nearest centroids of the rows lo to hi and returns how many
// labels changed.
func (l *lloyd) search(s *scratch, lo, hi int) int {
	s.rows = s.rows[:0]
	slack := l.slack()
	for i := lo; i < hi; i++ {
		c := l.labels[i]
		if c < 0 {
			s.near[i-lo] = math.Inf(1)
			s.rows = append(s.rows, int32(i))
			continue
		}
		l.upper[i] += l.moved[c]
		if least := l.fall(i, c); l.upper[i]+slack < float64(least) {
			continue
		}
		s.near[i-lo] = l.distance(l.row(i), l.centroid(int(c)))
		l.upper[i] = math.Sqrt(s.near[i-lo])
		s.rows = append(s.rows, int32(i))
	}
	changed := 0
	for g := range l.drift {
		s.open = s.open[:0]
		for _, i := range s.rows {
			if l.upper[i]+slack >= float64(l.lower[int(i)*len(l.drift)+g]) {
				s.open = append(s.open, i)
			}
		}
		for open := s.open; len(open) > 0; {
			rows := open[:min(l.kernels.height, len(open))]
			open = open[len(rows):]
			changed += l.compare(s, g, rows, lo)
		}
	}
	return changed
}

// fall lowers the bounds of a vector by how far the centroids went, its own apart,
// and returns the least.
func (l *lloyd) fall(i int, own int32) float32 {
	least := float32(math.Inf(1))
	lower := l.lower[i*len(l.drift) : (i+1)*len(l.drift)]
	for g, d := range l.drift[:len(lower)] {
		by := d.first
		if d.farthest == own {
			by = d.second
		}
		bound := lower[g] - by
		lower[g] = bound
		least = min(least, bound)
	}
	return least
}

// slack covers the rounding of bounds, which are of float32 and have been moved once in
// each step since they were found, each time by no more than twice the longest vector.
func (l *lloyd) slack() float64 {
	return 0x1p-21*float64(l.step+8)*(l.longest+l.reach) + 0x1p-140*float64(l.step+8)
}

// pack lays the centroids out for the kernels and computes their offsets.
func (l *lloyd) pack() {
	width := l.kernels.width
	padded, dim := len(l.drift)*l.group, roundUp(l.dim, laneWidth)
	if l.panels == nil {
		l.panels = make([]float32, padded*dim)
		l.offsets = make([]float32, padded)
		for at := range l.offsets {
			l.offsets[at] = float32(math.Inf(-1))
		}
	}
	l.reach = 0
	for c := range l.k {
		at, length := int(l.slot[c]), norm(l.centroid(c))
		l.reach = max(l.reach, length)
		l.offsets[at] = float32(-length * length / 2)
		panel := l.panels[at/width*width*dim:]
		for j, v := range l.centroid(c) {
			panel[j*width+at%width] = v
		}
	}
}

// compare compares rows with the centroids of a group and returns how many labels
// changed. The score of a row x with a centroid c is x·c - ½|c|²: the larger, the nearer.
func (l *lloyd) compare(s *scratch, g int, rows []int32, first int) int {
	dim, lo, hi := roundUp(l.dim, laneWidth), g*l.group, (g+1)*l.group
	tile, at := s.tile, int(rows[0])
	if dim == l.dim && int(rows[len(rows)-1]) == at+len(rows)-1 && at+l.kernels.height <= l.n {
		tile = l.vectors[at*dim : (at+l.kernels.height)*dim] // they lie as in a tile
	} else {
		for r, i := range rows {
			copy(tile[r*dim:], l.row(int(i)))
		}
	}
	l.kernels.scores(s.scores, tile, l.panels[lo*dim:hi*dim], l.offsets[lo:hi])
	changed := 0
	for r, i := range rows {
		old := l.labels[i]
		l.label(int(i), g, &s.near[int(i)-first], s.scores[r*l.group:(r+1)*l.group])
		if l.labels[i] != old {
			changed++
		}
	}
	return changed
}

// label looks among the centroids of a group, by their scores, for one nearer than the
// vector's own, at the squared distance near, and sets label and bounds. The best are
// compared by distance, as long as they may be nearer.
func (l *lloyd) label(i, g int, near *float64, scores []float32) {
	own := l.labels[i]
	if own >= 0 && int(l.slot[own])/l.group == g {
		scores[int(l.slot[own])%l.group] = gone
	}
	lower := l.lower[i*len(l.drift) : (i+1)*len(l.drift)]
	other := math.Inf(1) // the least squared distance of the others in the group
	best, farther := greatest(scores), 0.0
	for farther = l.beyond(i, best); farther <= *near && best > gone; farther = l.beyond(i, best) {
		at := slices.Index(scores, best)
		c := l.slots[g*l.group+at]
		d := l.distance(l.row(i), l.centroid(int(c)))
		switch {
		case d > *near || d == *near && c > l.labels[i]:
			other = min(other, d)
		case l.labels[i] >= 0 && int(l.slot[l.labels[i]])/l.group != g:
			home := &lower[int(l.slot[l.labels[i]])/l.group]
			*home = min(*home, float32(math.Sqrt(*near)))
			*near, l.labels[i] = d, c
		default:
			other = min(other, *near)
			*near, l.labels[i] = d, c
		}
		scores[at] = gone
		best = greatest(scores)
	}
	if l.labels[i] != own {
		l.upper[i] = math.Sqrt(*near)
	}
	lower[g] = float32(math.Sqrt(max(0, min(farther, other))))
}

// gone is less than any score.
var gone = float32(math.Inf(-1))

// greatest returns the best of scores, whose number is even.
func greatest(scores []float32) float32 {
	even, odd := gone, gone
	for ; len(scores) >= 4; scores = scores[4:] {
		even = max(even, max(scores[0], scores[1]))
		odd = max(odd, max(scores[2], scores[3]))
	}
	return max(even, odd)
}

// beyond returns a squared distance that no centroid with the score is nearer than. What
// the last term covers are float64 sums, of the distance too.
func (l *lloyd) beyond(i int, score float32) float64 {
	square := l.norms[i] * l.norms[i]
	return square - 2*(float64(score)+l.scoreError(i)) - float64(l.dim+16)*0x1p-51*(square+l.reach*l.reach)
}

// scoreError bounds how far the score of a vector with any centroid is from the
// true one: a float32 sum of dim products and an offset, in any order, is off by
// at most (dim+2)·2⁻²⁴ of the sum of the magnitudes, and by 2⁻¹⁴⁹ for each
// product that is too small. Twice that also covers the rounding of the
// distance in float64.
func (l *lloyd) scoreError(i int) float64 {
	terms := float64(l.dim + 2)
	return terms * (0x1p-23*(l.norms[i]*l.reach+l.reach*l.reach/2) + 0x1p-148)
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }
