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
	order     []int32 // vectors sorted by label, filled by sort
	starts    []int32 // where each label begins in order
	step      int     // number of updates since restart
	means     means

	// Bounds of distances (not squared): upper from a vector's own centroid, lower from the
	// others of each group.
	upper   []float64
	lower   []float32
	moved   []float64 // how far each centroid went in the last update
	drift   []drift   // of each group
	group   int       // centroids in a group, whole panels
	slot    []int32   // of each centroid among the panels
	slots   []int32   // the centroids in these places
	panels  []float32 // the centroids as the kernels want them
	offsets []float32 // -½|c|², and -Inf for the rest of the last panel
	reach   float64   // norm of the longest centroid
}

func newLloyd(vectors []float32, dim, k int, opts KMeansOptions) *lloyd {
	n := len(vectors) / dim
	l := &lloyd{
		vectors: vectors, n: n, dim: dim, k: k, opts: opts, kernels: fastest(),
		norms: make([]float64, n), scratch: make([]scratch, opts.Workers),
		labels: make([]int32, n), counts: make([]int32, k), order: make([]int32, n), starts: make([]int32, k+1),
		means: newMeans(vectors, n, k, dim), upper: make([]float64, n), moved: make([]float64, k),
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
	l.step = 0
	l.gather()
	for i := range l.n {
		l.labels[i], l.upper[i] = -1, math.Inf(1)
	}
	l.means.restart()
}

// mostGroups bounds the memory of the bounds.
const mostGroups = 16

// gather forms groups of centroids: the first one left, and those nearest to it. What is
// computed does not depend on them, but how soon others are ruled out.
func (l *lloyd) gather() {
	panels := (l.k + l.kernels.width - 1) / l.kernels.width
	l.group = l.kernels.width * ((panels + mostGroups - 1) / mostGroups)
	groups := (l.k + l.group - 1) / l.group
	if len(l.lower) != l.n*groups {
		l.drift, l.lower = make([]drift, groups), make([]float32, l.n*groups)
		l.slot, l.slots, l.panels = make([]int32, l.k), make([]int32, groups*l.group), nil
	}
	left := make([]int32, l.k)
	for c := range left {
		left[c] = int32(c)
	}
	away := make([]float64, l.k)
	for at := 0; len(left) > 0; {
		for _, c := range left {
			away[c] = l.distance(l.centroid(int(left[0])), l.centroid(int(c)))
		}
		slices.SortFunc(left, func(a, b int32) int { return cmp.Or(cmp.Compare(away[a], away[b]), cmp.Compare(a, b)) })
		size := min(l.group, len(left))
		for _, c := range left[:size] {
			l.slot[c], l.slots[at] = int32(at), c
			at++
		}
		left = left[size:]
		slices.Sort(left)
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
		l.labels[i], l.upper[i] = int32(c), math.Inf(1)
		clear(l.lower[int(i)*len(l.drift) : (int(i)+1)*len(l.drift)])
	}
	return nil
}

func (l *lloyd) count() {
	clear(l.counts)
	for _, c := range l.labels {
		l.counts[c]++
	}
}

// update moves the centroids of the clusters that changed to their means and
// returns the sum of the squared moves. The one of an empty cluster stays where it
// is.
func (l *lloyd) update(ctx context.Context) (float64, error) {
	l.sort()
	l.means.collect(l.labels)
	clear(l.moved)
	err := par.Ranges(ctx, l.k, 1, l.opts.Workers, func(worker, c, _ int) error {
		members := l.order[l.starts[c]:l.starts[c+1]]
		if l.means.sum(c, members, l.kernels) && len(members) > 0 {
			l.moved[c] = math.Sqrt(l.settle(c, len(members)))
		}
		return nil
	})
	shift := 0.0
	for _, m := range l.moved {
		shift += m * m
	}
	return shift, err
}

// settle moves the centroid of a cluster to its mean and returns the square of the way.
func (l *lloyd) settle(c, members int) float64 {
	by := float64(members)
	centroid, way := l.centroid(c), 0.0
	for j, s := range l.means.of(c) {
		next := float32(s / by)
		d := float64(next) - float64(centroid[j])
		way += float64(d * d) // rounded: not fused with the addition
		centroid[j] = next
	}
	return way
}

// sort fills order with the vectors by label and, within one, by number.
func (l *lloyd) sort() {
	l.count()
	for c, n := range l.counts {
		l.starts[c+1] = l.starts[c] + n
	}
	next := slices.Clone(l.starts[:l.k])
	for i, c := range l.labels {
		l.order[next[c]] = int32(i)
		next[c]++
	}
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
