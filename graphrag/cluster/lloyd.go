// SPDX-License-Identifier: Apache-2.0

package cluster

import (
	"cmp"
	"context"
	"math"
	"slices"

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
	codes        *codes    // nil where floats are as fast
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

// coding says that codes pay.
func (l *lloyd) coding() bool {
	return l.kernels.codeScores != nil && min(l.dim, l.k) >= l.kernels.leastCoded
}

// encode makes the codes, where they pay.
func (l *lloyd) encode(ctx context.Context) (err error) {
	if l.codes == nil && l.coding() {
		l.codes, err = encode(ctx, l.vectors, l.dim, l.opts.Workers)
	}
	return err
}

// run iterates to the end and returns the clustering.
func (l *lloyd) run(ctx context.Context) (*Clustering, error) {
	if err := l.encode(ctx); err != nil {
		return nil, err
	}
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
