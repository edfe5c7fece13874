// SPDX-License-Identifier: Apache-2.0

package community

import "slices"

// minDivided is the size from which on the published code divides a cluster.
const minDivided = 4

// byCenters merges as the published code does: each cluster is divided by
// k-means once more, and of its parts those with similar centres are merged,
// each at most once. A given initial partition is taken for the parts of one
// cluster.
func (m *merger) byCenters(triples []Triple) error {
	m.passes, m.stable = 1, true
	neighbors := outgoing(m.n, triples)
	if m.opts.Initial != nil {
		m.divide(m.opts.Initial)
		m.mergePairs(m.similar(neighbors), m.fits, 0)
		return m.limit()
	}
	labels, err := m.kmeans(m.vectors)
	if err != nil {
		return err
	}
	labels = slices.Clone(labels)
	var done []*circle
	for _, members := range membersOf(labels, canonical(labels)) {
		if err := m.divideCluster(members); err != nil {
			return err
		}
		m.mergePairs(m.similar(neighbors), m.fits, 0)
		done = append(done, m.circles...)
		m.circles = nil
	}
	m.circles = done
	m.tidy()
	return m.limit()
}

// divideCluster makes communities of the parts of a cluster.
func (m *merger) divideCluster(members []int32) error {
	if len(members) < minDivided {
		m.circles = []*circle{m.circle(members)}
		return nil
	}
	vectors := make([]float32, 0, len(members)*m.dim)
	for _, e := range members {
		vectors = append(vectors, m.vector(e)...)
	}
	labels, err := m.kmeans(vectors)
	if err != nil {
		return err
	}
	labels = slices.Clone(labels)
	for _, part := range membersOf(labels, canonical(labels)) {
		for i, at := range part {
			part[i] = members[at]
		}
		m.circles = append(m.circles, m.circle(part))
	}
	m.tidy()
	return nil
}

// similar returns the pairs of communities whose centres are similar enough,
// the most similar first. What the code calls structure is the Jaccard
// coefficient of the centres' neighbours among the centres.
func (m *merger) similar(neighbors [][]int32) []pair {
	centers := make([]int32, len(m.circles))
	for i, c := range m.circles {
		centers[i] = m.ranked(c)[0]
	}
	among := slices.Clone(centers)
	slices.Sort(among)
	near := make([][]int32, len(centers))
	for i, e := range centers {
		for _, v := range neighbors[e] {
			if _, ok := slices.BinarySearch(among, v); ok {
				near[i] = append(near[i], v)
			}
		}
	}
	var pairs []pair
	for a := range centers {
		for b := a + 1; b < len(centers); b++ {
			similarity := m.opts.combine(jaccard(near[a], near[b]), m.between(centers[a], centers[b]))
			if similarity >= m.opts.Threshold {
				pairs = append(pairs, pair{int32(a), int32(b), -similarity})
			}
		}
	}
	slices.SortFunc(pairs, byDistance)
	return pairs
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
