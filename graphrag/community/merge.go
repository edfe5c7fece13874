// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
)

// merger merges communities of entities.
type merger struct {
	*perception
	ctx     context.Context
	circles []*circle
	passes  int
	stable  bool
}

// pair is two communities, a < b, and how far apart they are.
type pair struct {
	a, b     int32
	distance float64
}

func byDistance(x, y pair) int {
	return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
}

// byMembers merges by the divergence of members, pass after pass, until nothing
// merges.
func (m *merger) byMembers() error {
	labels, err := m.initial()
	if err != nil {
		return err
	}
	m.divide(labels)
	for m.passes < m.opts.MaxIterations && !m.stable {
		pairs, err := m.candidates(m.opts.Epsilon)
		if err != nil {
			return err
		}
		m.passes++
		m.stable = !m.mergePairs(pairs, m.fits, 0)
	}
	if !m.opts.KeepSingletons {
		if err := m.adopt(); err != nil {
			return err
		}
	}
	return m.limit()
}

// initial returns the partition to start from.
func (m *merger) initial() ([]int32, error) {
	if m.opts.Initial != nil {
		return m.opts.Initial, nil
	}
	return m.kmeans(m.vectors)
}

func (m *merger) kmeans(vectors []float32) ([]int32, error) {
	n := len(vectors) / m.dim
	c, err := cluster.KMeans(m.ctx, vectors, m.dim, m.opts.InitialClusters(n), cluster.KMeansOptions{Seed: m.opts.Seed, Inits: m.opts.Inits})
	if err != nil {
		return nil, err
	}
	return c.Labels, nil
}

// divide makes a community of each label, in order of the smallest member.
func (m *merger) divide(labels []int32) {
	labels = slices.Clone(labels)
	count := canonical(labels)
	for _, members := range membersOf(labels, count) {
		m.circles = append(m.circles, m.circle(members))
	}
	m.tidy()
}

// tidy drops communities that were merged away and orders the others by their
// smallest member.
func (m *merger) tidy() {
	m.circles = slices.DeleteFunc(m.circles, func(c *circle) bool { return c == nil })
	slices.SortFunc(m.circles, func(a, b *circle) int { return cmp.Compare(a.members[0], b.members[0]) })
}

// fits reports whether a merge stays within MaxCommunitySize.
func (m *merger) fits(a, b *circle) bool {
	return m.opts.MaxCommunitySize < 0 || len(a.members)+len(b.members) <= m.opts.MaxCommunitySize
}

// candidates returns the pairs with neighbouring centres whose divergence, the
// larger one of both directions, is below a bound, the closest first.
func (m *merger) candidates(bound float64) ([]pair, error) {
	near, err := m.neighbors()
	if err != nil {
		return nil, err
	}
	var pairs []pair
	for a, list := range near {
		for _, b := range list {
			pairs = append(pairs, pair{a: min(int32(a), b), b: max(int32(a), b)})
		}
	}
	slices.SortFunc(pairs, byDistance)
	pairs = slices.Compact(pairs)
	kept := pairs[:0]
	for _, p := range pairs {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		a, b := m.circles[p.a], m.circles[p.b]
		if p.distance = max(m.divergence(a, b), m.divergence(b, a)); p.distance < bound {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, byDistance)
	return kept, nil
}

// neighbors returns, for each community, those with the nearest centres.
func (m *merger) neighbors() ([][]int32, error) {
	units := make([]float64, len(m.circles)*m.dim)
	for i, c := range m.circles {
		if length := m.lengths[c.center]; length > 0 {
			for j, x := range m.vector(c.center) {
				units[i*m.dim+j] = float64(x) / length
			}
		}
	}
	near := make([][]int32, len(m.circles))
	best := make([]pair, 0, m.opts.Candidates+1)
	for i := range m.circles {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		best = best[:0]
		unit := units[i*m.dim:][:m.dim]
		for j := range m.circles {
			if i == j {
				continue
			}
			p := pair{b: int32(j), distance: -dot(unit, units[j*m.dim:][:m.dim])}
			if len(best) == m.opts.Candidates && byDistance(p, best[len(best)-1]) >= 0 {
				continue
			}
			at, _ := slices.BinarySearchFunc(best, p, byDistance)
			if best = slices.Insert(best, at, p); len(best) > m.opts.Candidates {
				best = best[:m.opts.Candidates]
			}
		}
		for _, p := range best {
			near[i] = append(near[i], p.b)
		}
	}
	return near, nil
}

// mergePairs merges pairs in their order, each community once at most, as long
// as there are more communities than the floor, and reports whether any did.
func (m *merger) mergePairs(pairs []pair, allowed func(a, b *circle) bool, floor int) bool {
	merged := make([]bool, len(m.circles))
	count, before := len(m.circles), len(m.circles)
	for _, p := range pairs {
		if count <= floor || merged[p.a] || merged[p.b] || !allowed(m.circles[p.a], m.circles[p.b]) {
			continue
		}
		m.circles[p.a] = m.join(m.circles[p.a], m.circles[p.b])
		m.circles[p.b] = nil
		merged[p.a], merged[p.b] = true, true
		count--
	}
	m.tidy()
	return count < before
}

// adopt lets each community of one join the candidate where it has the largest
// score.
func (m *merger) adopt() error {
	near, err := m.neighbors()
	if err != nil {
		return err
	}
	home := make([]int32, len(m.circles)) // where a community went
	singletons(home)
	for i, list := range near {
		single := m.circles[i]
		if single == nil || len(single.members) > 1 {
			continue
		}
		best, into := m.opts.Adoption, int32(-1)
		for _, j := range list {
			for home[j] != j {
				j = home[j]
			}
			if int(j) == i || !m.fits(single, m.circles[j]) {
				continue
			}
			score := m.score(single.members[0], m.circles[j])
			if score > best || score == best && (into < 0 || j < into) {
				best, into = score, j
			}
		}
		if into >= 0 {
			m.circles[into] = m.join(m.circles[into], single)
			m.circles[i], home[i] = nil, into
		}
	}
	m.tidy()
	return nil
}

// limit merges the closest communities until there are MaxCommunities at most.
func (m *merger) limit() error {
	anySize := func(a, b *circle) bool { return true }
	for m.opts.MaxCommunities > 0 && len(m.circles) > m.opts.MaxCommunities {
		pairs, err := m.candidates(math.Inf(1))
		if err != nil {
			return err
		}
		m.mergePairs(pairs, anySize, m.opts.MaxCommunities)
	}
	return nil
}
