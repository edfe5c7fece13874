// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync/atomic"

	"github.com/wildgraph/wildgraph/graphrag/internal/par"
)

// rowBlock is how many rows a goroutine takes at a time.
const rowBlock = 1024

// lloyd is the state of Lloyd's iterations over one set of vectors.
type lloyd struct {
	vectors   []float32
	n, dim, k int
	opts      KMeansOptions
	kernels   kernels
	norms     []float64 // of the vectors
	longest   float64   // norm of the longest vector
	variance  float64   // mean of the variances of the components
	scratch   []scratch // one for each worker

	centroids []float32
	labels    []int32
	counts    []int32
	changed   []bool // which clusters have other vectors than when they were last averaged
	step      int    // number of updates since restart

	// The bounds of Hamerly, on distances (not squared): upper from a vector's
	// own centroid, lower from all others.
	upper, lower []float64
	moved        []float64 // how far each centroid went in the last update
	panels       panels    // of the centroids
	widest       float64   // the greatest reach since restart
}

func newLloyd(vectors []float32, dim, k int, opts KMeansOptions) *lloyd {
	n := len(vectors) / dim
	l := &lloyd{
		vectors: vectors, n: n, dim: dim, k: k, opts: opts, kernels: fastest(),
		norms: make([]float64, n), scratch: make([]scratch, opts.Workers),
		labels: make([]int32, n), counts: make([]int32, k),
		changed: make([]bool, k), upper: make([]float64, n), lower: make([]float64, n), moved: make([]float64, k),
	}
	for i := range n {
		l.norms[i] = norm(l.row(i))
		l.longest = max(l.longest, l.norms[i])
	}
	if opts.Tolerance > 0 {
		l.variance = variance(vectors, dim)
	}
	return l
}

func (l *lloyd) row(i int) []float32      { return l.vectors[i*l.dim : (i+1)*l.dim] }
func (l *lloyd) centroid(c int) []float32 { return l.centroids[c*l.dim : (c+1)*l.dim] }

// distance is the squared distance that defines what is nearest.
func (l *lloyd) distance(x, y []float32) float64 { return l.kernels.distance(x, y) }

// restart makes centroids the ones to go on from.
func (l *lloyd) restart(centroids []float32) {
	l.centroids = slices.Clone(centroids)
	l.step, l.widest = 0, 0
	for i := range l.n {
		l.labels[i], l.upper[i], l.lower[i] = -1, math.Inf(1), 0
	}
	for c := range l.k {
		l.changed[c] = true
	}
}

// run iterates to the end and returns the clustering.
func (l *lloyd) run(ctx context.Context) (*Clustering, error) {
	stable := false
	for l.step < l.opts.MaxIterations {
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
		l.step++
		if l.opts.Tolerance > 0 && shift <= l.opts.Tolerance*l.variance {
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
	return &Clustering{
		K: l.k, Dim: l.dim, Labels: slices.Clone(l.labels), Centroids: slices.Clone(l.centroids),
		Inertia: inertia, Iterations: l.step,
	}, nil
}

// distances returns the squared distance of each vector from its own centroid.
func (l *lloyd) distances(ctx context.Context) ([]float64, error) {
	d := make([]float64, l.n)
	err := par.Ranges(ctx, l.n, rowBlock, l.opts.Workers, func(_, lo, hi int) error {
		for i := lo; i < hi; i++ {
			d[i] = l.distance(l.row(i), l.centroid(int(l.labels[i])))
		}
		return nil
	})
	return d, err
}

// refill gives each empty cluster the vector farthest from its centroid, the
// first of equally far ones, out of clusters with more than one. Where all
// that is left is at distance 0, clusters stay empty.
func (l *lloyd) refill(ctx context.Context) error {
	l.count()
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
		from := l.labels[i]
		l.counts[from], l.counts[c] = l.counts[from]-1, 1
		l.changed[from], l.changed[c] = true, true
		l.labels[i], l.upper[i], l.lower[i] = int32(c), math.Inf(1), 0
	}
	return nil
}

func (l *lloyd) count() {
	clear(l.counts)
	for _, c := range l.labels {
		l.counts[c]++
	}
}

// sumBytes bounds the sums that are added up at a time: half of a second cache.
const sumBytes = 1 << 20

// update moves the centroids of the clusters that changed to their means and
// returns the sum of the squared moves. The one of an empty cluster stays where it
// is.
func (l *lloyd) update(ctx context.Context) (float64, error) {
	l.count()
	clear(l.moved)
	size := min(sumBytes/(8*l.dim), (l.k+l.opts.Workers-1)/l.opts.Workers)
	err := par.Ranges(ctx, l.k, max(1, size), l.opts.Workers, func(worker, lo, hi int) error {
		sums := l.scratch[worker].sums((hi - lo) * l.dim)
		l.add(sums, lo, hi)
		for c := lo; c < hi; c++ {
			if l.changed[c] && l.counts[c] > 0 {
				l.moved[c] = math.Sqrt(l.settle(c, sums[(c-lo)*l.dim:(c-lo+1)*l.dim]))
				l.changed[c] = false
			}
		}
		return nil
	})
	shift := 0.0
	for _, m := range l.moved {
		shift += m * m
	}
	return shift, err
}

// add adds up the vectors of the clusters from lo to hi that changed. All are passed
// in their order: they lie in memory as they are read.
func (l *lloyd) add(sums []float64, lo, hi int) {
	one := func(i, next int) {
		c := int(l.labels[i]) - lo
		l.kernels.add(sums[c*l.dim:(c+1)*l.dim], l.row(i), l.row(next))
	}
	last := -1
	for i, c := range l.labels {
		if int(c) < lo || int(c) >= hi || !l.changed[c] {
			continue
		}
		if last >= 0 {
			one(last, i)
		}
		last = i
	}
	if last >= 0 {
		one(last, last)
	}
}

// settle moves the centroid of a cluster to its mean and returns the square of the way.
func (l *lloyd) settle(c int, sums []float64) float64 {
	by := float64(l.counts[c])
	centroid, way := l.centroid(c), 0.0
	for j, s := range sums {
		next := float32(s / by)
		d := float64(next) - float64(centroid[j])
		way += float64(d * d) // rounded: not fused with the addition
		centroid[j] = next
	}
	return way
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

// panels are centroids in the layout of the kernels. The score of a vector x with a centroid c is
// x·c - ½|c|²: the larger, the nearer.
type panels struct {
	floats []float32
	// offsets are -½|c|², and -Inf for the rest of the last panel.
	offsets []float32
	reach   float64 // norm of the longest centroid
}

// scratch is what a worker needs for itself.
type scratch struct {
	sum     []float64
	pending []int32   // rows of a block whose nearest centroid is not certain
	tile    []float32 // some of them, gathered
	scores  []float32 // of the rows of the tile with all centroids
	top     []top
	changed []bool // clusters that won or lost a row
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
				// The true distance may help if its own centroid's move does.
				if l.upper[i]-2*l.moved[c] < l.lower[i] {
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
		s.tile = make([]float32, height*dim)
	}
	s.scores = slices.Grow(s.scores[:0], height*len(p.offsets))[:height*len(p.offsets)]
	for r, i := range rows {
		copy(s.tile[r*dim:], l.row(int(i)))
	}
	l.kernels.scores(s.scores, s.tile, p.floats, p.offsets)
}

// search finds the nearest centroids of the pending rows. It returns how many labels changed.
func (l *lloyd) search(s *scratch) int {
	height, padded := l.kernels.height, len(l.panels.offsets)
	if s.top == nil {
		s.top, s.changed = make([]top, height), make([]bool, l.k)
	}
	changed := 0
	for rest := s.pending; len(rest) > 0; {
		rows := rest[:min(height, len(rest))]
		rest = rest[len(rows):]
		l.score(s, &l.panels, rows)
		l.kernels.best(s.top, s.scores)
		for r, i := range rows {
			old := l.labels[i]
			l.label(int(i), s.top[r], s.scores[r*padded:(r+1)*padded])
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

// label sets the label and the bounds of a vector by its scores. If the two best are closer
// than the error of the scores, all candidates within it are compared by distance.
func (l *lloyd) label(i int, t top, scores []float32) {
	square, e := l.norms[i]*l.norms[i], l.scoreError(i, &l.panels)
	if gap := float64(t.first) - float64(t.second); gap > 2*e {
		l.labels[i] = t.index
		l.upper[i] = math.Sqrt(max(0, square-2*(float64(t.first)-e)))
		l.lower[i] = math.Sqrt(max(0, square-2*(float64(t.second)+e)))
		return
	}
	nearest, other := math.Inf(1), square-2*(float64(t.first)-e)
	least := ceil32(float64(t.first) - 2*e)
	for c, score := range scores[:l.k] {
		if score < least {
			continue
		}
		if d := l.distance(l.row(i), l.centroid(c)); d < nearest {
			nearest, other, l.labels[i] = d, min(other, nearest), int32(c)
		} else {
			other = min(other, d)
		}
	}
	l.upper[i] = math.Sqrt(nearest)
	l.lower[i] = math.Sqrt(max(0, other))
}

// scoreError bounds how far the score of a vector with any centroid is from the
// true one: a float32 sum of dim products and an offset, in any order, is off by
// at most (dim+2)·2⁻²⁴ of the sum of the magnitudes, and by 2⁻¹⁴⁹ for each
// product that is too small. Twice that also covers the rounding of the
// distance in float64.
func (l *lloyd) scoreError(i int, p *panels) float64 {
	terms := float64(l.dim + 2)
	return terms * (0x1p-23*(l.norms[i]*p.reach+p.reach*p.reach/2) + 0x1p-148)
}

// beyond is a lower bound of the squared distance of a vector from a centroid, whose score
// is known with an error, and of that distance as it is rounded.
func (l *lloyd) beyond(i int, score float32, e float64) float64 {
	square := l.norms[i] * l.norms[i]
	return square*(1-0x1p-30) - 2*(float64(score)+e)
}
