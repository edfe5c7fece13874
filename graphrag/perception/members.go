// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"context"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// None switches an option off whose zero value stands for a default.
const None = -1

// Options of [ByMembers]. The zero value is the paper's algorithm, with what it
// leaves open decided as described at each field.
type Options struct {
	// Relations is how relations are compared, by default [MultisetJaccard].
	Relations RelationSimilarity
	// Direction says which triples make the relations of an entity.
	Direction Direction
	// RelationWeight w makes the score φ = w·S_r + (1-w)·S_s; from 0 to 1, 0
	// means the 0.3 of the published code, [None] meaning alone.
	RelationWeight float64
	// Lambda λ, if above 0, makes the score φ = S_r + λ·S_s instead.
	Lambda float64

	// Initial is the partition to start from, a label of 0..n-1 for each entity.
	// If nil, k-means makes min(max(2, ⌊n/Beta⌋), MaxClusters) clusters, at most n,
	// with Beta β and MaxClusters η of the paper (0 means its 10 and 200) and Seed
	// (0 means its 42).
	Initial           []int32
	Beta, MaxClusters int
	Seed              uint64

	// Epsilon ε bounds the divergence of communities that are merged, in units of
	// φ; 0 means 0.1.
	Epsilon float64
	// MaxSize is what no merge may exceed; 0 means the 100 of the published code,
	// [None] no bound. Clusters of k-means may be larger.
	MaxSize int
	// MaxCommunities, if above 0, has the closest communities merged until there
	// are no more, whatever their size and divergence. No entity is dropped.
	MaxCommunities int
	// Adoption is the least φ for which a community of one entity joins the
	// candidate where it has the largest; 0 means 0.5, [None] that it stays alone.
	Adoption float64
	// Keywords is how many members stand for a community; 0 means the 5 of the
	// published code.
	Keywords int
}

const (
	// maxPasses bounds the passes over the communities.
	maxPasses = 10
	// candidateCount m: only those pairs are compared where one centre is among
	// the m nearest, by cosine, of the other.
	candidateCount = 10
)

// ByMembers finds communities of entities by relations and meaning together, as
// the paper of Youtu-GraphRAG has it (arXiv 2508.19855, section 3.2, equations 4
// to 7): k-means over the vectors, then merging by the dual-perception score
//
//	φ(e,C) = S_r(e,C) ⊕ λ·S_s(e,C)
//
// S_r compares the relations of the entity with those of all members of the
// community (equation 5), S_s is the cosine with their centroid (equation 6);
// an entity counts in its own community. a and b are merged if the members of
// either fit into the other almost as well as into their own: the larger one of
// D(a→b) and D(b→a) is below ε (equation 7, with the mean over the members of one
// side, which keeps unrelated communities apart). vectors has a row of dim
// components for each entity, of [EntityVectors] or of an embedder.
//
// Each entity is in exactly one community. Triples that are given twice count
// twice. The error reports options, vectors or triples that cannot be used, or
// the end of ctx. The result depends on the arguments alone, not on the order of
// the triples.
func ByMembers(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options) (Partition, error) {
	m, err := newMerger(ctx, vectors, dim, triples, o)
	if err != nil {
		return Partition{}, err
	}
	if err := m.byMembers(); err != nil {
		return Partition{}, failed(err)
	}
	return m.partition(), nil
}

// byMembers merges by the divergence of members, pass after pass, until nothing
// merges.
func (m *merger) byMembers() error {
	labels := m.opts.Initial
	if labels == nil {
		var err error
		if labels, err = m.kmeans(m.vectors, m.opts.clusters(m.n)); err != nil {
			return err
		}
	}
	m.divide(labels)
	for m.passes < maxPasses && !m.stable {
		pairs, err := m.candidates(m.opts.Epsilon)
		if err != nil {
			return err
		}
		m.passes++
		m.stable = !m.mergePairs(pairs, m.fits, 0)
	}
	if m.opts.Adoption >= 0 {
		if err := m.adopt(); err != nil {
			return err
		}
	}
	return m.limit()
}

// clusters is the number of clusters that k-means makes of n entities.
func (o *Options) clusters(n int) int { return min(max(2, n/o.Beta), o.MaxClusters, n) }

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
		a, b := m.groups[p.a], m.groups[p.b]
		if p.distance = max(m.divergence(a, b), m.divergence(b, a)); p.distance < bound {
			kept = append(kept, p)
		}
	}
	slices.SortFunc(kept, byDistance)
	return kept, nil
}

// neighbors returns, for each community, those with the nearest centres.
func (m *merger) neighbors() ([][]int32, error) {
	units := make([]float64, len(m.groups)*m.dim)
	for i, c := range m.groups {
		if length := m.lengths[c.center]; length > 0 {
			for j, x := range m.vector(c.center) {
				units[i*m.dim+j] = float64(x) / length
			}
		}
	}
	near := make([][]int32, len(m.groups))
	var nearest rank.Top[int32]
	var best []rank.Scored[int32]
	for i := range m.groups {
		if err := m.ctx.Err(); err != nil {
			return nil, err
		}
		nearest.Reset(candidateCount)
		unit := units[i*m.dim:][:m.dim]
		for j := range m.groups {
			if i != j {
				nearest.Push(int32(j), dot(unit, units[j*m.dim:][:m.dim]))
			}
		}
		best = nearest.Append(best[:0])
		for _, c := range best {
			near[i] = append(near[i], c.ID)
		}
	}
	return near, nil
}

// adopt lets each community of one join the candidate where it has the largest
// score.
func (m *merger) adopt() error {
	near, err := m.neighbors()
	if err != nil {
		return err
	}
	home := make([]int32, len(m.groups)) // where a community went
	for i := range home {
		home[i] = int32(i)
	}
	for i, list := range near {
		single := m.groups[i]
		if single == nil || len(single.members) > 1 {
			continue
		}
		best, into := m.opts.Adoption, int32(-1)
		for _, j := range list {
			for home[j] != j {
				j = home[j]
			}
			if int(j) == i || !m.fits(single, m.groups[j]) {
				continue
			}
			score := m.score(single.members[0], m.groups[j])
			if score > best || score == best && (into < 0 || j < into) {
				best, into = score, j
			}
		}
		if into >= 0 {
			m.groups[into] = m.join(m.groups[into], single)
			m.groups[i], home[i] = nil, into
		}
	}
	m.compact()
	return nil
}

// limit merges the closest communities until there are MaxCommunities at most.
func (m *merger) limit() error {
	anySize := func(a, b *group) bool { return true }
	for m.opts.MaxCommunities > 0 && len(m.groups) > m.opts.MaxCommunities {
		pairs, err := m.candidates(math.Inf(1))
		if err != nil {
			return err
		}
		m.mergePairs(pairs, anySize, m.opts.MaxCommunities)
	}
	return nil
}
