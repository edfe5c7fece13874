// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/matrix"
	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// rowBlock is the number of rows that a worker takes at a time.
const rowBlock = 1024

// lloyd is the state of Lloyd's iterations over a set of vectors.
type lloyd struct {
	vectors   []float32
	n, dim, k int
	limit     int       // most iterations of a start
	tolerance float64   // negative: iterate until no vector changes its cluster
	norms     []float64 // norm of each vector
	variance  float64   // mean of the variances of all components
	scratch   []scratch // buffers of each worker

	centroids []float32
	panels    panels // the centroids, packed
	labels    []int32
	counts    []int32
}

// scratch holds the buffers of a worker.
type scratch struct {
	tile   []float32 // matrix.TileRows rows of vectors
	scores []float32 // scores of these rows with all centroids
}

func newLloyd(vectors []float32, dim, k int) *lloyd {
	n := len(vectors) / dim
	l := &lloyd{
		vectors: vectors, n: n, dim: dim, k: k, limit: maxIterations, tolerance: tolerance, variance: variance(vectors, dim),
		scratch: make([]scratch, par.Workers(0)), norms: make([]float64, n), labels: make([]int32, n), counts: make([]int32, k),
	}
	for i := range n {
		l.norms[i] = norm(l.row(i))
	}
	return l
}

func (l *lloyd) row(i int) []float32      { return l.vectors[i*l.dim : (i+1)*l.dim] }
func (l *lloyd) centroid(c int) []float32 { return l.centroids[c*l.dim : (c+1)*l.dim] }

// run iterates from the given centroids until it converges or reaches the limit.
func (l *lloyd) run(ctx context.Context, start []float32) (*Clustering, error) {
	l.centroids = slices.Clone(start)
	for i := range l.labels {
		l.labels[i] = -1
	}
	steps, stable := 0, false
	for steps < l.limit {
		changed, err := l.assign(ctx)
		if err != nil {
			return nil, err
		}
		if stable = changed == 0; stable {
			break
		}
		if err := l.refill(ctx); err != nil {
			return nil, err
		}
		shift, err := l.update(ctx)
		if err != nil {
			return nil, err
		}
		steps++
		if shift <= l.tolerance*l.variance {
			break
		}
	}
	if !stable {
		if _, err := l.assign(ctx); err != nil {
			return nil, err
		}
	}
	distances, err := l.distances(ctx)
	if err != nil {
		return nil, err
	}
	inertia := 0.0
	for _, d := range distances {
		inertia += d
	}
	return &Clustering{K: l.k, Dim: l.dim, Labels: slices.Clone(l.labels), Centroids: l.centroids, Inertia: inertia, Iterations: steps}, nil
}

// assign sets the label of each vector to its nearest centroid and returns the number of labels that changed.
func (l *lloyd) assign(ctx context.Context) (int, error) {
	l.panels.pack(l.centroids, l.dim)
	var changed atomic.Int64
	err := par.Ranges(ctx, l.n, rowBlock, len(l.scratch), func(worker, lo, hi int) error {
		count := 0
		l.score(&l.scratch[worker], &l.panels, lo, hi, func(i int, scores []float32, e float64) {
			if c := l.nearest(i, scores[:l.k], e); c != l.labels[i] {
				l.labels[i] = c
				count++
			}
		})
		changed.Add(int64(count))
		return nil
	})
	return int(changed.Load()), err
}

// nearest returns the nearest centroid of a vector, given its scores and the bound e of their error: the one
// with the greatest score, or if several are within the error, the one with the least distance.
func (l *lloyd) nearest(i int, scores []float32, e float64) int32 {
	first, second, at := float32(math.Inf(-1)), float32(math.Inf(-1)), int32(0)
	for c, s := range scores {
		if s > first {
			first, second, at = s, first, int32(c)
		} else if s > second {
			second = s
		}
	}
	if float64(first)-float64(second) > 2*e {
		return at
	}
	least := math.Inf(1)
	for c, s := range scores {
		if float64(s) < float64(first)-2*e {
			continue
		}
		if d := distance(l.row(i), l.centroid(c)); d < least {
			least, at = d, int32(c)
		}
	}
	return at
}

// distances returns the squared distance of each vector from its own centroid.
func (l *lloyd) distances(ctx context.Context) ([]float64, error) {
	d := make([]float64, l.n)
	err := par.Ranges(ctx, l.n, rowBlock, len(l.scratch), func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			d[i] = distance(l.row(i), l.centroid(int(l.labels[i])))
		}
		return nil
	})
	return d, err
}

// refill gives each empty cluster the vector that is farthest from its centroid, the first of equally far ones,
// from clusters with more than one vector. If all such vectors are at distance 0, the clusters stay empty.
func (l *lloyd) refill(ctx context.Context) error {
	clear(l.counts)
	for _, c := range l.labels {
		l.counts[c]++
	}
	if !slices.Contains(l.counts, 0) {
		return nil
	}
	d, err := l.distances(ctx)
	if err != nil {
		return err
	}
	far := make([]int32, l.n)
	for i := range far {
		far[i] = int32(i)
	}
	slices.SortFunc(far, func(a, b int32) int { return cmp.Or(cmp.Compare(d[b], d[a]), cmp.Compare(a, b)) })
	for c := range l.k {
		if l.counts[c] > 0 {
			continue
		}
		for len(far) > 0 && l.counts[l.labels[far[0]]] < 2 {
			far = far[1:]
		}
		if len(far) == 0 || d[far[0]] == 0 {
			return nil
		}
		i := far[0]
		far = far[1:]
		l.counts[l.labels[i]]--
		l.counts[c] = 1
		l.labels[i] = int32(c)
	}
	return nil
}

// sumBytes is the size of the sums that a worker computes at a time: half of a second-level cache.
const sumBytes = 1 << 20

// update moves the centroids to the means of their clusters and returns the sum of the squared moves. The
// centroid of an empty cluster does not move.
func (l *lloyd) update(ctx context.Context) (float64, error) {
	moves := make([]float64, l.k)
	size := min(sumBytes/(8*l.dim), (l.k+len(l.scratch)-1)/len(l.scratch))
	err := par.Ranges(ctx, l.k, max(1, size), len(l.scratch), func(_, lo, hi int) error {
		sums := make([]float64, (hi-lo)*l.dim)
		for i, c := range l.labels { // in the order in which the vectors are in memory
			if int(c) >= lo && int(c) < hi {
				to := sums[(int(c)-lo)*l.dim:][:l.dim]
				for j, x := range l.row(i) {
					to[j] += float64(x)
				}
			}
		}
		for c := lo; c < hi; c++ {
			if l.counts[c] > 0 {
				moves[c] = l.settle(c, sums[(c-lo)*l.dim:(c-lo+1)*l.dim])
			}
		}
		return nil
	})
	shift := 0.0
	for _, m := range moves {
		shift += m
	}
	return shift, err
}

// settle moves the centroid of a cluster to its mean and returns the square of the move.
func (l *lloyd) settle(c int, sums []float64) float64 {
	by := float64(l.counts[c])
	centroid, move := l.centroid(c), 0.0
	for j, s := range sums {
		next := float32(s / by)
		d := float64(next) - float64(centroid[j])
		move += float64(d * d) // the conversion prevents fusing with the addition
		centroid[j] = next
	}
	return move
}

// variance returns the mean of the variances of the components.
func variance(rows []float32, dim int) float64 {
	n := float64(len(rows) / dim)
	mean := make([]float64, dim)
	for i := 0; i < len(rows); i += dim {
		for j, c := range rows[i : i+dim] {
			mean[j] += float64(c)
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	sum := 0.0
	for i := 0; i < len(rows); i += dim {
		for j, c := range rows[i : i+dim] {
			d := float64(c) - mean[j]
			sum += float64(d * d)
		}
	}
	return sum / n / float64(dim)
}

// panels are centroids, packed for package matrix. The score of a vector x with a centroid c is x·c - ½|c|²:
// the greater it is, the nearer they are.
type panels struct {
	floats  []float32
	offsets []float32 // by centroid: -½|c|²
	longest float64   // greatest norm of a centroid
}

func (p *panels) pack(centroids []float32, dim int) {
	n := len(centroids) / dim
	p.floats = matrix.Pack(p.floats, centroids, dim)
	p.offsets, p.longest = slices.Grow(p.offsets[:0], matrix.Padded(n))[:matrix.Padded(n)], 0
	for c := range n {
		length := norm(centroids[c*dim : (c+1)*dim])
		p.longest = max(p.longest, length)
		p.offsets[c] = float32(-length * length / 2)
	}
	clear(p.offsets[n:])
}

// score calls do for each row from lo to hi, with its scores for all centroids of p and their error bound.
func (l *lloyd) score(s *scratch, p *panels, lo, hi int, do func(i int, scores []float32, e float64)) {
	const height = matrix.TileRows
	wide := len(p.offsets)
	s.tile = slices.Grow(s.tile[:0], height*l.dim)[:height*l.dim]
	s.scores = slices.Grow(s.scores[:0], height*wide)[:height*wide]
	for ; lo < hi; lo += height {
		end := min(lo+height, hi)
		copy(s.tile, l.vectors[lo*l.dim:end*l.dim])
		for c := 0; c < wide; c += matrix.Panel {
			matrix.Multiply(s.scores[c:], s.tile, p.floats[c*l.dim:(c+matrix.Panel)*l.dim], p.offsets[c:], height, l.dim, wide, l.dim)
		}
		for i := lo; i < end; i++ {
			do(i, s.scores[(i-lo)*wide:][:wide], l.scoreError(i, p))
		}
	}
}

// scoreError returns a bound of the error of a vector's scores: a float32 sum of dim products and an offset, in
// any order, is off by at most (dim+2)·2⁻²⁴ of the sum of the magnitudes, and by 2⁻¹⁴⁹ for each product that
// underflows. The bound is twice that, which includes the rounding of the distance in float64.
func (l *lloyd) scoreError(i int, p *panels) float64 {
	terms := float64(l.dim + 2)
	return terms * (0x1p-23*(l.norms[i]*p.longest+p.longest*p.longest/2) + 0x1p-148)
}

// beyond returns a lower bound of the squared distance, as rounded, of a vector from a centroid, given their
// score and the bound of its error.
func (l *lloyd) beyond(i int, score float32, e float64) float64 {
	square := l.norms[i] * l.norms[i]
	return square*(1-0x1p-30) - 2*(float64(score)+e)
}

// distance returns the squared distance by which nearest is defined. It is the sum of eight sums, each over
// every eighth component. Squares are rounded before they are added.
func distance(x, y []float32) float64 {
	var s [8]float64
	y = y[:len(x)]
	for ; len(x) >= 8; x, y = x[8:], y[8:] {
		for j := range 8 {
			d := float64(x[j]) - float64(y[j])
			s[j] += float64(d * d)
		}
	}
	for j := range x {
		d := float64(x[j]) - float64(y[j])
		s[j] += float64(d * d)
	}
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// norm returns the Euclidean norm: squares of float32 are exact in float64 and cannot overflow.
func norm(v []float32) float64 {
	sum := 0.0
	for _, c := range v {
		sum += float64(c) * float64(c)
	}
	return math.Sqrt(sum)
}
