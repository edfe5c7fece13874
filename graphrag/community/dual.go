// SPDX-License-Identifier: Apache-2.0

package community

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
)

// MergeRule says which communities [Dual] merges.
type MergeRule int

const (
	// MemberDivergence, the default, merges a and b if the members of either fit
	// into the other almost as well as into their own: the larger one of
	// D(a→b) and D(b→a) is below Epsilon (equation 7, with the mean over the
	// members of one side, which keeps unrelated communities apart).
	MemberDivergence MergeRule = iota
	// CenterCosine is the rule of the published code: clusters are divided once
	// more, and the parts of one cluster are merged if their centres are alike.
	CenterCosine
)

// ClusterRule is how many clusters the k-means initialisation makes of n
// entities.
type ClusterRule int

const (
	// PaperClusters: min(max(2, ⌊n/β⌋), η), at most n.
	PaperClusters ClusterRule = iota
	// CodeClusters: also at most ⌊n/2⌋, and one for n ≤ 2.
	CodeClusters
)

// The defaults of [DualOptions]. β, η, the number of starts and the seed are
// those of the paper (section 3.2), the weight of the relations, the threshold,
// the largest size and the number of keywords those of the published code; the
// others are ours.
const (
	DefaultRelationWeight   = 0.3
	DefaultBeta             = 10
	DefaultMaxClusters      = 200
	DefaultDualSeed         = 42
	DefaultEpsilon          = 0.1
	DefaultAdoption         = 0.5
	DefaultThreshold        = 0.5
	DefaultMaxIterations    = 10
	DefaultMaxCommunitySize = 100
	DefaultCandidates       = 10
	DefaultKeywords         = 5
)

// DualOptions of [Dual]. The zero value is the paper's algorithm, with what it
// leaves open decided as said at each field.
type DualOptions struct {
	// Relations is how relations are compared, by default [MultisetJaccard].
	Relations RelationSimilarity
	// Direction says which triples make the relations of an entity.
	Direction Direction
	// RelationWeight w makes the score φ = w·S_r + (1-w)·S_s; from 0 to 1, 0
	// means [DefaultRelationWeight].
	RelationWeight float64
	// Lambda λ, if above 0, makes the score φ = S_r + λ·S_s instead.
	Lambda float64

	// Initial is the partition to start from, a label of 0..n-1 for each entity.
	// If nil, k-means makes it.
	Initial []int32
	// Clusters is the rule for their number, Beta its β, MaxClusters its η; 0
	// means [DefaultBeta] and [DefaultMaxClusters].
	Clusters    ClusterRule
	Beta        int
	MaxClusters int
	// Inits is the number of k-means starts; 0 means the paper's 5.
	Inits int
	// Seed of k-means; 0 means [DefaultDualSeed].
	Seed uint64

	// Merge is the rule to merge by, Epsilon ε its bound in units of φ for
	// [MemberDivergence], Threshold the least similarity for [CenterCosine]; 0
	// means [DefaultEpsilon] and [DefaultThreshold].
	Merge     MergeRule
	Epsilon   float64
	Threshold float64
	// MaxIterations bounds the passes over the communities; 0 means
	// [DefaultMaxIterations]. CenterCosine makes one.
	MaxIterations int
	// Candidates m: only those pairs are compared where one centre is among the m
	// nearest, by cosine, of the other; 0 means [DefaultCandidates]. CenterCosine
	// compares all parts of a cluster.
	Candidates int
	// MaxCommunitySize is what no merge may exceed; 0 means
	// [DefaultMaxCommunitySize], -1 no bound. Clusters of k-means may be larger.
	MaxCommunitySize int
	// MaxCommunities, if above 0, has the closest communities merged until there
	// are no more, whatever their size and divergence. No entity is dropped.
	MaxCommunities int
	// KeepSingletons leaves communities of one entity alone. By default, and
	// never with CenterCosine, each joins the candidate where it has the largest
	// φ, if that is Adoption or more; 0 means [DefaultAdoption].
	KeepSingletons bool
	Adoption       float64
	// Keywords is how many members stand for a community; 0 means
	// [DefaultKeywords].
	Keywords int
}

// combine is the ⊕ of equation 5.
func (o *DualOptions) combine(relational, semantic float64) float64 {
	if o.Lambda > 0 {
		return relational + o.Lambda*semantic
	}
	return o.RelationWeight*relational + (1-o.RelationWeight)*semantic
}

// DualCommunity is a community of entities.
type DualCommunity struct {
	// Members in ascending order.
	Members []int32
	// Center is the member with the largest φ, the smaller number of equal ones.
	// With CenterCosine, degree stands in place of S_r.
	Center int32
	// Keywords are the members of largest φ, best first.
	Keywords []int32
}

// DualPartition is a partition of entities. Communities are numbered by
// descending size, equal ones by their smallest member.
type DualPartition struct {
	Labels      []int32
	Communities []DualCommunity
	// Passes over the communities; the last one merged nothing unless Stable is
	// false.
	Passes int
	Stable bool
}

// Dual finds communities of entities by relations and meaning together, as
// Youtu-GraphRAG does (arXiv 2508.19855, section 3.2, equations 4 to 7): k-means
// over the vectors, then merging by the dual-perception score
//
//	φ(e,C) = S_r(e,C) ⊕ λ·S_s(e,C)
//
// S_r compares the relations of the entity with those of all members of the
// community (equation 5), S_s is the cosine with their centroid (equation 6);
// an entity counts in its own community. vectors has a row of dim components for
// each entity, of [EntityVectors] or of an embedder.
//
// Each entity is in exactly one community. Triples that are given twice count
// twice. The error reports options ([ErrOptions]), vectors or triples
// ([ErrInput]) that cannot be used, or the end of ctx. The result depends on the
// arguments alone, not on the order of the triples.
func Dual(ctx context.Context, vectors []float32, dim int, triples []Triple, opts DualOptions) (DualPartition, error) {
	n, err := checkVectors("vectors", vectors, dim)
	if err != nil {
		return DualPartition{}, err
	}
	opts, err = opts.resolve(n)
	if err := errors.Join(err, checkTriples(triples, n, math.MaxInt32)); err != nil {
		return DualPartition{}, err
	}
	if n == 0 {
		return DualPartition{Stable: true}, nil
	}
	m := &merger{perception: newPerception(vectors, dim, triples, opts), ctx: ctx}
	if opts.Merge == CenterCosine {
		err = m.byCenters(triples)
	} else {
		err = m.byMembers()
	}
	if err != nil {
		return DualPartition{}, fmt.Errorf("community: dual perception: %w", err)
	}
	return m.partition(), nil
}

// InitialClusters returns k, the number of clusters that n entities are divided
// into by the rule and the parameters of the options.
func (o DualOptions) InitialClusters(n int) int {
	o.fill()
	k := min(max(2, n/o.Beta), o.MaxClusters, n)
	if o.Clusters == CodeClusters {
		k = min(k, max(1, n/2))
	}
	return k
}

// fill fills in the defaults.
func (o *DualOptions) fill() {
	o.RelationWeight = cmp.Or(o.RelationWeight, DefaultRelationWeight)
	o.Beta = cmp.Or(o.Beta, DefaultBeta)
	o.MaxClusters = cmp.Or(o.MaxClusters, DefaultMaxClusters)
	o.Inits = cmp.Or(o.Inits, cluster.DefaultInits)
	o.Seed = cmp.Or(o.Seed, DefaultDualSeed)
	o.Epsilon = cmp.Or(o.Epsilon, DefaultEpsilon)
	o.Threshold = cmp.Or(o.Threshold, DefaultThreshold)
	o.MaxIterations = cmp.Or(o.MaxIterations, DefaultMaxIterations)
	o.Candidates = cmp.Or(o.Candidates, DefaultCandidates)
	o.MaxCommunitySize = cmp.Or(o.MaxCommunitySize, DefaultMaxCommunitySize)
	o.Adoption = cmp.Or(o.Adoption, DefaultAdoption)
	o.Keywords = cmp.Or(o.Keywords, DefaultKeywords)
}

// resolve fills in the defaults and reports everything that is wrong.
func (o DualOptions) resolve(n int) (DualOptions, error) {
	errs := []error{o.Direction.check()}
	require := func(ok bool, name string, value any, want string) {
		if !ok {
			errs = append(errs, fmt.Errorf("community: %s is %v: it must be %s: %w", name, value, want, ErrOptions))
		}
	}
	finite := func(name string, x float64) {
		require(x >= 0 && !math.IsInf(x, 1), name, x, "a finite number of 0 or more")
	}
	o.fill()
	require(o.Relations >= MultisetJaccard && o.Relations <= EuclideanJaccard, "Relations", o.Relations, "one of the constants")
	require(o.Clusters == PaperClusters || o.Clusters == CodeClusters, "Clusters", o.Clusters, "one of the constants")
	require(o.Merge == MemberDivergence || o.Merge == CenterCosine, "Merge", o.Merge, "one of the constants")
	require(o.RelationWeight >= 0 && o.RelationWeight <= 1, "RelationWeight", o.RelationWeight, "from 0 to 1")
	finite("Lambda", o.Lambda)
	finite("Epsilon", o.Epsilon)
	finite("Threshold", o.Threshold)
	finite("Adoption", o.Adoption)
	require(o.Beta > 0, "Beta", o.Beta, "0 or more")
	require(o.MaxClusters > 0, "MaxClusters", o.MaxClusters, "0 or more")
	require(o.Inits > 0, "Inits", o.Inits, "0 or more")
	require(o.MaxIterations > 0, "MaxIterations", o.MaxIterations, "0 or more")
	require(o.Candidates > 0, "Candidates", o.Candidates, "0 or more")
	require(o.MaxCommunitySize >= -1, "MaxCommunitySize", o.MaxCommunitySize, "-1 or more")
	require(o.MaxCommunities >= 0, "MaxCommunities", o.MaxCommunities, "0 or more")
	require(o.Keywords > 0, "Keywords", o.Keywords, "0 or more")
	if o.Initial != nil {
		if err := checkLabels(o.Initial, n); err != nil {
			errs = append(errs, fmt.Errorf("community: Initial: %w: %w", err, ErrOptions))
		}
	}
	return o, errors.Join(errs...)
}

// partition is the result of the merging.
func (m *merger) partition() DualPartition {
	slices.SortFunc(m.circles, func(a, b *circle) int {
		return cmp.Or(cmp.Compare(len(b.members), len(a.members)), cmp.Compare(a.members[0], b.members[0]))
	})
	out := DualPartition{Labels: make([]int32, m.n), Passes: m.passes, Stable: m.stable}
	for id, c := range m.circles {
		for _, e := range c.members {
			out.Labels[e] = int32(id)
		}
		best := m.ranked(c)
		out.Communities = append(out.Communities, DualCommunity{
			Members:  c.members,
			Center:   best[0],
			Keywords: best[:min(m.opts.Keywords, len(best))],
		})
	}
	return out
}
