// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// CenterOptions of [ByCenters]. The fields that [Options] has mean what they mean
// there.
type CenterOptions struct {
	Direction      Direction
	RelationWeight float64
	// Initial is taken for the parts of one cluster.
	Initial []int32
	// k-means makes the clusters of the paper, at most ⌊n/2⌋, and one for n ≤ 2.
	Beta, MaxClusters int
	Seed              uint64
	// Threshold is the least similarity of centres that are merged; 0 means 0.5.
	Threshold float64
	MaxSize   int
	Keywords  int
}

// minDivided is the size from which on the published code divides a cluster.
const minDivided = 4

// ByCenters finds communities as the published code of Youtu-GraphRAG does, but
// for dropping entities: each cluster is divided by k-means once more, and of its
// parts those with similar centres are merged, each at most once. Arguments and
// errors are those of [ByMembers].
func ByCenters(ctx context.Context, vectors []float32, dim int, triples []Triple, o CenterOptions) (Partition, error) {
	m, err := newMerger(ctx, vectors, dim, triples, Options{
		Direction: o.Direction, RelationWeight: o.RelationWeight, Initial: o.Initial, Beta: o.Beta,
		MaxClusters: o.MaxClusters, Seed: o.Seed, MaxSize: o.MaxSize, Keywords: o.Keywords,
	})
	checks := opt.Checks{Of: "perception"}
	opt.Min(&checks, "Threshold", o.Threshold, 0)
	if err := errors.Join(err, checks.Err()); err != nil {
		return Partition{}, err
	}
	c := centers{m, outgoing(m.n, triples), cmp.Or(o.Threshold, 0.5)}
	if err := c.merge(); err != nil {
		return Partition{}, failed(err)
	}
	m.passes, m.stable = 1, true
	return m.partition(c.ranked), nil
}

// centers merges communities by their centres.
type centers struct {
	*merger
	neighbors [][]int32 // of each entity
	threshold float64
}

func (m *centers) merge() error {
	if m.opts.Initial != nil {
		m.divide(m.opts.Initial)
		m.mergePairs(m.similar(), m.fits, 0)
		return nil
	}
	labels, err := m.kmeans(m.vectors, m.clusters(m.n))
	if err != nil {
		return err
	}
	var done []*group
	for _, members := range membersOf(labels) {
		if err := m.divideCluster(members); err != nil {
			return err
		}
		m.mergePairs(m.similar(), m.fits, 0)
		done = append(done, m.groups...)
		m.groups = nil
	}
	m.groups = done
	return nil
}

func (m *centers) clusters(n int) int { return min(m.opts.clusters(n), max(1, n/2)) }

// divideCluster makes communities of the parts of a cluster.
func (m *centers) divideCluster(members []int32) error {
	if len(members) < minDivided {
		m.groups = []*group{m.group(members)}
		return nil
	}
	vectors := make([]float32, 0, len(members)*m.dim)
	for _, e := range members {
		vectors = append(vectors, m.vector(e)...)
	}
	labels, err := m.kmeans(vectors, m.clusters(len(members)))
	if err != nil {
		return err
	}
	for _, part := range membersOf(labels) {
		for i, at := range part {
			part[i] = members[at]
		}
		m.groups = append(m.groups, m.group(part))
	}
	return nil
}

// similar returns the pairs of communities whose centres are similar enough,
// the most similar first. What the code calls structure is the Jaccard
// coefficient of the centres' neighbours among the centres.
func (m *centers) similar() []pair {
	centers := make([]int32, len(m.groups))
	for i, c := range m.groups {
		centers[i] = m.ranked(c)[0]
	}
	among := slices.Clone(centers)
	slices.Sort(among)
	near := make([][]int32, len(centers))
	for i, e := range centers {
		for _, v := range m.neighbors[e] {
			if _, ok := slices.BinarySearch(among, v); ok {
				near[i] = append(near[i], v)
			}
		}
	}
	var pairs []pair
	for a := range centers {
		for b := a + 1; b < len(centers); b++ {
			similarity := m.combine(jaccard(near[a], near[b]), m.between(centers[a], centers[b]))
			if similarity >= m.threshold {
				pairs = append(pairs, pair{int32(a), int32(b), -similarity})
			}
		}
	}
	slices.SortFunc(pairs, byDistance)
	return pairs
}

// ranked returns the members of a community by degree and cosine, the best first.
func (m *centers) ranked(c *group) []int32 {
	most := 1.0
	for _, e := range c.members {
		most = max(most, m.degree(e))
	}
	return ranked(c, func(e int32) float64 { return m.combine(m.degree(e)/most, m.cosine(e, c)) })
}

// degree is the number of triples of an entity, |Ψ(e)|.
func (p *perception) degree(e int32) float64 {
	sum := 0.0
	for _, t := range p.profiles.of(e) {
		sum += float64(t.count)
	}
	return sum
}

// between is the cosine of two entities, 0 with a vector of zeros.
func (p *perception) between(a, b int32) float64 {
	if p.lengths[a] == 0 || p.lengths[b] == 0 {
		return 0
	}
	sum := 0.0
	other := p.vector(b)
	for i, x := range p.vector(a) {
		sum += float64(x) * float64(other[i])
	}
	return sum / (p.lengths[a] * p.lengths[b])
}

// outgoing returns the different tails of each entity in ascending order.
func outgoing(n int, triples []Triple) [][]int32 {
	sorted := slices.SortedFunc(slices.Values(triples), compareTriples)
	tails := make([][]int32, n)
	for i, t := range sorted {
		if i == 0 || sorted[i-1].Head != t.Head || sorted[i-1].Tail != t.Tail {
			tails[t.Head] = append(tails[t.Head], t.Tail)
		}
	}
	return tails
}

// jaccard is the share of elements in common of two ascending lists, 0 for two
// empty ones.
func jaccard(a, b []int32) float64 {
	both := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] < b[j]:
			i++
		case a[i] > b[j]:
			j++
		default:
			both, i, j = both+1, i+1, j+1
		}
	}
	if either := len(a) + len(b) - both; either > 0 {
		return float64(both) / float64(either)
	}
	return 0
}
