// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag"
	"github.com/wildgraph/wildgraph/graphrag/cluster"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// Options are the options of [ByMembers]. The zero value is the paper's algorithm; each field says how details
// are decided that the paper leaves open.
type Options struct {
	// RelationWeight w, from 0 to 1, makes the score φ = w·S_r + (1-w)·S_s. 0 means the 0.3 of the published
	// code, [graphrag.Off] means that relations do not count.
	RelationWeight float64 `source:"its program" default:"0.3"`
	// Lambda λ, if above 0, makes the score φ = S_r + λ·S_s instead.
	Lambda float64 `source:"ours: 0 takes .3 and .7" min:"0"`

	// Merging starts from the clusters of k-means: min(max(2, ⌊n/Beta⌋), MaxClusters) of them, at most n. Beta
	// is the paper's β, MaxClusters its η (0 means its 10 and 200), Seed the seed of k-means (0 means its 42).
	Beta        int    `default:"10" min:"0"`
	MaxClusters int    `default:"200" min:"0"`
	Seed        uint64 `default:"42"`

	// Epsilon ε limits the divergence of communities that are merged, in units of φ; 0 means 0.1.
	Epsilon float64 `source:"ours: the paper gives no value" default:"0.1" min:"0"`
	// MaxSize limits the members of a merged community; 0 means the 100 of the published code, [graphrag.Off]
	// no limit. Clusters of k-means may be larger.
	MaxSize int `source:"its program" default:"100" min:"-1"`
	// MaxCommunities, if above 0, is the largest number of communities: the closest ones are merged until there
	// are no more, whatever their size and divergence. No entity is dropped.
	MaxCommunities int `source:"ours: naming them takes 10,000 tokens at most" min:"0"`
	// Keywords is the number of members that represent a community; 0 means the 5 of the published code.
	Keywords int `source:"its program" default:"5" min:"0"`
}

const (
	// maxPasses limits the passes over the communities.
	maxPasses = 10
	// candidateCount m limits comparisons: two communities are compared only if the center of one is among the
	// m nearest to the center of the other, by cosine.
	candidateCount = 10
)

// ByMembers finds communities of entities by relations and meaning together, as the paper of
// Youtu-GraphRAG has it (arXiv 2508.19855, section 3.2, equations 4 to 7): k-means over the
// vectors, then merging by the dual-perception score
//
//	φ(e,C) = S_r(e,C) ⊕ λ·S_s(e,C)
//
// S_r compares the relations of the entity with the relations of all members of the community (equation 5), S_s
// is the cosine with their centroid (equation 6); an entity counts in its own community. Communities a and b
// are merged if the members of each fit into the other almost as well as into their own: the larger one of
// D(a→b) and D(b→a) is below ε (equation 7, with the mean over the members of one side, which keeps unrelated
// communities apart). vectors has a row of dim components for each entity, of [EntityVectors] or of an
// embedder.
//
// Each entity is in exactly one community. Repeated triples count repeatedly. The error reports
// options, vectors or triples that cannot be used, or the end of ctx. The result depends on the
// arguments alone, not on the order of the triples.
func ByMembers(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options) (Partition, error) {
	m, err := newMerger(ctx, vectors, dim, triples, o)
	if err != nil {
		return Partition{}, err
	}
	labels, err := m.kmeans(m.vectors, m.opts.clusters(m.n))
	if err == nil {
		err = m.byMembers(labels)
	}
	if err != nil {
		return Partition{}, fmt.Errorf("perception: find communities: %w", err)
	}
	return m.partition(), nil
}

// byMembers merges by the divergence of members, pass after pass, until nothing can be merged. It starts from
// the given partition.
func (m *merger) byMembers(labels []int32) error {
	m.divide(labels)
	for m.passes < maxPasses && !m.stable {
		pairs, err := m.candidates(m.opts.Epsilon)
		if err != nil {
			return err
		}
		m.passes++
		m.stable = !m.mergePairs(pairs, m.fits, 0)
	}
	return m.limit()
}

// clusters returns the number of clusters of k-means for n entities.
func (o *Options) clusters(n int) int { return min(max(2, n/o.Beta), o.MaxClusters, n) }

// candidates returns the pairs with neighbouring centers whose divergence, the larger one of both directions,
// is below a limit, the closest pairs first.
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

// neighbors returns, for each community, the communities with the nearest centers.
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

// limit merges the closest communities until there are at most MaxCommunities.
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

// Community is a community of entities.
type Community struct {
	// Members are in ascending order.
	Members []int32
	// Center is the member with the largest φ, the smallest number of several.
	Center int32
	// Keywords are the members with the largest φ, best first.
	Keywords []int32
}

// Partition is a partition of entities. Communities are numbered by descending size, equal sizes by the
// smallest member.
type Partition struct {
	Labels      []int32
	Communities []Community
}

// merger merges communities of entities.
type merger struct {
	*perception
	ctx    context.Context
	groups []*group
	passes int
	stable bool
}

// newMerger checks the arguments and applies the defaults.
func newMerger(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options) (*merger, error) {
	n, err := checkVectors("vectors", vectors, dim)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.fill(), checkTriples(triples, n, math.MaxInt32)); err != nil {
		return nil, err
	}
	o.RelationWeight = max(0, o.RelationWeight)
	return &merger{perception: newPerception(vectors, dim, triples, o), ctx: ctx, stable: n == 0}, nil
}

// Check reports all errors that do not depend on the vectors.
func (o Options) Check() error { return o.fill() }

// fill replaces zero values by their defaults and checks the options.
func (o *Options) fill() error {
	checks := opt.Checks{Of: "perception"}
	if o.RelationWeight != graphrag.Off {
		opt.Range(&checks, "RelationWeight", o.RelationWeight, 0, 1)
	}
	checks.Fill(o)
	return checks.Err()
}

// kmeans divides vectors into k clusters, the best of the paper's five starts.
func (m *merger) kmeans(vectors []float32, k int) ([]int32, error) {
	if len(vectors) == 0 {
		return nil, nil
	}
	c, err := cluster.KMeans(m.ctx, vectors, m.dim, k, cluster.KMeansOptions{Seed: m.opts.Seed, Inits: 5})
	if err != nil {
		return nil, err
	}
	return c.Labels, nil
}

// divide makes a community for each label, in the order of the smallest members.
func (m *merger) divide(labels []int32) {
	var out [][]int32
	at := make(map[int32]int)
	for i, label := range labels {
		g, ok := at[label]
		if !ok {
			g = len(out)
			at[label] = g
			out = append(out, nil)
		}
		out[g] = append(out[g], int32(i))
	}
	for _, nodes := range out {
		m.groups = append(m.groups, m.group(nodes))
	}
}

// fits reports whether a merged community would be within MaxSize.
func (m *merger) fits(a, b *group) bool {
	return m.opts.MaxSize < 0 || len(a.members)+len(b.members) <= m.opts.MaxSize
}

// pair is two communities, a < b, and their distance.
type pair struct {
	a, b     int32
	distance float64
}

func byDistance(x, y pair) int {
	return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
}

// mergePairs merges pairs in their order, each community at most once, as long as there are more communities
// than floor, and reports whether it merged any.
func (m *merger) mergePairs(pairs []pair, allowed func(a, b *group) bool, floor int) bool {
	merged := make([]bool, len(m.groups))
	count, before := len(m.groups), len(m.groups)
	for _, p := range pairs {
		if count <= floor || merged[p.a] || merged[p.b] || !allowed(m.groups[p.a], m.groups[p.b]) {
			continue
		}
		m.groups[p.a] = m.join(m.groups[p.a], m.groups[p.b])
		m.groups[p.b] = nil
		merged[p.a], merged[p.b] = true, true
		count--
	}
	m.groups = slices.DeleteFunc(m.groups, func(c *group) bool { return c == nil })
	slices.SortFunc(m.groups, func(a, b *group) int { return cmp.Compare(a.members[0], b.members[0]) })
	return count < before
}

// partition returns the communities after merging.
func (m *merger) partition() Partition {
	slices.SortFunc(m.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.members[0], b.members[0]))
	})
	out := Partition{Labels: make([]int32, m.n)}
	for id, c := range m.groups {
		for _, e := range c.members {
			out.Labels[e] = int32(id)
		}
		best := ranked(c, func(e int32) float64 { return m.score(e, c) })
		out.Communities = append(out.Communities, Community{
			Members: c.members, Center: best[0], Keywords: best[:min(m.opts.Keywords, len(best))],
		})
	}
	return out
}
