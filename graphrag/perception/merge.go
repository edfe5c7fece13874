// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
	"github.com/wildgraph/wildgraph/graphrag/internal/opt"
)

// Community is a community of entities.
type Community struct {
	// Members in ascending order.
	Members []int32
	// Center is the member with the largest φ, the smaller number of equal ones.
	Center int32
	// Keywords are the members of largest φ, best first.
	Keywords []int32
}

// Partition is a partition of entities. Communities are numbered by descending
// size, equal ones by their smallest member.
type Partition struct {
	Labels      []int32
	Communities []Community
	// Passes over the communities; the last one merged nothing unless Stable is
	// false.
	Passes int
	Stable bool
}

// merger merges communities of entities.
type merger struct {
	*perception
	ctx    context.Context
	groups []*group
	passes int
	stable bool
}

// newMerger checks the arguments and fills in the defaults.
func newMerger(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options) (*merger, error) {
	n, err := checkVectors("vectors", vectors, dim)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(o.resolve(n), checkTriples(triples, n, math.MaxInt32)); err != nil {
		return nil, err
	}
	return &merger{perception: newPerception(vectors, dim, triples, o), ctx: ctx, stable: n == 0}, nil
}

func failed(err error) error { return fmt.Errorf("perception: %w", err) }

// Check reports everything that is wrong with the options, whatever the vectors.
func (o Options) Check() error {
	checks := opt.Checks{Of: "perception"}
	o.check(&checks)
	return checks.Err()
}

func (o *Options) check(checks *opt.Checks) {
	opt.Range(checks, "Direction", o.Direction, BothDirections, Outgoing)
	opt.Range(checks, "Relations", o.Relations, MultisetJaccard, EuclideanJaccard)
	if o.RelationWeight != None {
		opt.Range(checks, "RelationWeight", o.RelationWeight, 0, 1)
	}
	opt.Min(checks, "Lambda", o.Lambda, 0)
	opt.Min(checks, "Epsilon", o.Epsilon, 0)
	if o.Adoption != None {
		opt.Min(checks, "Adoption", o.Adoption, 0)
	}
	opt.Min(checks, "Beta", o.Beta, 0)
	opt.Min(checks, "MaxClusters", o.MaxClusters, 0)
	opt.Min(checks, "MaxSize", o.MaxSize, None)
	opt.Min(checks, "MaxCommunities", o.MaxCommunities, 0)
	opt.Min(checks, "Keywords", o.Keywords, 0)
}

// resolve reports everything that is wrong and fills in the defaults.
func (o *Options) resolve(n int) error {
	checks := opt.Checks{Of: "perception"}
	o.check(&checks)
	if o.Initial != nil {
		checks.Want(len(o.Initial) == n, "Initial", fmt.Sprintf("%d labels", len(o.Initial)), fmt.Sprintf("%d, one for each entity", n))
		if i := slices.IndexFunc(o.Initial, func(label int32) bool { return label < 0 || int(label) >= n }); i >= 0 {
			checks.Want(false, fmt.Sprintf("Initial[%d]", i), o.Initial[i], fmt.Sprintf("a label of 0..%d", n-1))
		}
	}
	o.RelationWeight = max(0, cmp.Or(o.RelationWeight, 0.3))
	o.Beta = cmp.Or(o.Beta, 10)
	o.MaxClusters = cmp.Or(o.MaxClusters, 200)
	o.Seed = cmp.Or(o.Seed, 42)
	o.Epsilon = cmp.Or(o.Epsilon, 0.1)
	o.MaxSize = cmp.Or(o.MaxSize, 100)
	o.Adoption = cmp.Or(o.Adoption, 0.5)
	o.Keywords = cmp.Or(o.Keywords, 5)
	return checks.Err()
}

// kmeans divides vectors into k clusters, by the paper's five starts.
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

// membersOf lists the positions of each label, by the smallest position.
func membersOf(labels []int32) [][]int32 {
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
	return out
}

// divide makes a community of each label, in the order of the smallest member.
func (m *merger) divide(labels []int32) {
	for _, members := range membersOf(labels) {
		m.groups = append(m.groups, m.group(members))
	}
}

// compact drops communities that were merged away and orders the others by their
// smallest member.
func (m *merger) compact() {
	m.groups = slices.DeleteFunc(m.groups, func(c *group) bool { return c == nil })
	slices.SortFunc(m.groups, func(a, b *group) int { return cmp.Compare(a.members[0], b.members[0]) })
}

// fits reports whether a merge stays within MaxSize.
func (m *merger) fits(a, b *group) bool {
	return m.opts.MaxSize < 0 || len(a.members)+len(b.members) <= m.opts.MaxSize
}

// pair is two communities, a < b, and how far apart they are.
type pair struct {
	a, b     int32
	distance float64
}

func byDistance(x, y pair) int {
	return cmp.Or(cmp.Compare(x.distance, y.distance), cmp.Compare(x.a, y.a), cmp.Compare(x.b, y.b))
}

// mergePairs merges pairs in their order, each community once at most, as long
// as there are more communities than the floor, and reports whether any did.
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
	m.compact()
	return count < before
}

// partition is the result of the merging.
func (m *merger) partition() Partition {
	slices.SortFunc(m.groups, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.members[0], b.members[0]))
	})
	out := Partition{Labels: make([]int32, m.n), Passes: m.passes, Stable: m.stable}
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
