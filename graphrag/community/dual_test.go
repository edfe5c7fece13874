// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
)

// Equation 4 with A (1,0), B (0,1), C (1,1), r1 (.5,0), r2 (0,.5) and the triples
// (A,r1,B), (A,r2,C), (B,r1,C).
func TestEntityVectorsWorked(t *testing.T) {
	entities, relations := []float32{1, 0, 0, 1, 1, 1}, []float32{.5, 0, 0, .5}
	triples := []community.Triple{{0, 0, 1}, {0, 1, 2}, {1, 0, 2}}
	for direction, want := range map[community.Direction][]float32{
		community.Outgoing: {
			1, 0, .25, .25, .5, 1,
			0, 1, .5, 0, 1, 1,
			1, 1, 0, 0, 0, 0,
		},
		community.BothDirections: {
			1, 0, .25, .25, .5, 1,
			.5, .5, .5, 0, .5, 1,
			.5, .5, .25, .25, 1, 1,
		},
	} {
		got, err := community.EntityVectors(entities, 2, relations, triples, community.VectorOptions{Direction: direction})
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("direction %d: %v, %v, want %v", direction, got, err, want)
		}
	}
	got, err := community.EntityVectors(entities, 2, relations, triples, community.VectorOptions{Normalize: true})
	if err != nil {
		t.Fatal(err)
	}
	for e := range 3 {
		length := 0.0
		for _, x := range got[6*e : 6*e+6] {
			length += float64(x) * float64(x)
		}
		if math.Abs(length-1) > 1e-6 {
			t.Errorf("entity %d has length %v², want 1", e, length)
		}
	}
}

func TestInitialClusters(t *testing.T) {
	for n, want := range map[int][2]int{
		2: {2, 1}, 3: {2, 1}, 4: {2, 2}, 29: {2, 2}, 30: {3, 3}, 45: {4, 4}, 100: {10, 10},
		199: {19, 19}, 1999: {199, 199}, 2000: {200, 200}, 100000: {200, 200},
		1: {1, 1}, // the paper's formula says 2, of one entity
	} {
		paper := community.DualOptions{}.InitialClusters(n)
		code := community.DualOptions{Clusters: community.CodeClusters}.InitialClusters(n)
		if got := [2]int{paper, code}; got != want {
			t.Errorf("%d entities: %v clusters, want %v", n, got, want)
		}
	}
}

// toy is the merge example: a is 0 and 1, b 2 and 3, c 4 and 5; relations are
// directed 0, born_in 1, located_in 2.
func toy() (vectors []float32, triples []community.Triple, initial []int32) {
	for e, relations := range [][]int32{{0, 0, 1}, {0}, {2, 2}, {2}, {0, 1}, {0}} {
		for _, r := range relations {
			triples = append(triples, community.Triple{Head: int32(e), Relation: r, Tail: int32(e)})
		}
	}
	return []float32{1, 0, .8, .6, 0, 1, -.6, .8, .6, .8, 1, 0}, triples, []int32{0, 0, 1, 1, 2, 2}
}

func dual(t testing.TB, vectors []float32, dim int, triples []community.Triple, o community.DualOptions) community.DualPartition {
	t.Helper()
	p, err := community.Dual(t.Context(), vectors, dim, triples, o)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Relations and members say that a and c belong together, the cosine of centres
// that b and c do.
func TestMergeToy(t *testing.T) {
	vectors, triples, initial := toy()
	members := dual(t, vectors, 2, triples, community.DualOptions{Initial: initial})
	if want := []int32{0, 0, 1, 1, 0, 0}; !slices.Equal(members.Labels, want) || members.Passes != 2 || !members.Stable {
		t.Errorf("by members: %v after %d passes, want %v after 2", members.Labels, members.Passes, want)
	}
	if got := members.Communities[0]; got.Center != 0 || !slices.Equal(got.Keywords, []int32{0, 1, 5, 4}) {
		t.Errorf("centre %d and keywords %v, want 0 and [0 1 5 4]", got.Center, got.Keywords)
	}
	centers := dual(t, vectors, 2, triples, community.DualOptions{Initial: initial, Merge: community.CenterCosine})
	if want := []int32{1, 1, 0, 0, 0, 0}; !slices.Equal(centers.Labels, want) {
		t.Errorf("by centres: %v, want %v", centers.Labels, want)
	}
	one := dual(t, vectors, 2, triples, community.DualOptions{Initial: initial, MaxCommunities: 1})
	if len(one.Communities) != 1 {
		t.Errorf("%d communities, want 1", len(one.Communities))
	}
	apart := dual(t, vectors, 2, triples, community.DualOptions{Initial: initial, MaxCommunitySize: 3})
	if len(apart.Communities) != 3 {
		t.Errorf("%d communities of at most 3, want 3", len(apart.Communities))
	}
}

// A lone entity joins where it fits best, unless it is to stay or fits nowhere.
func TestSingletons(t *testing.T) {
	vectors := []float32{1, 0, 1, .1, 0, 1, .1, 1, .9, .3, -1, -1}
	triples := []community.Triple{{0, 0, 1}, {2, 1, 3}, {4, 0, 0}, {5, 2, 5}}
	o := community.DualOptions{Initial: []int32{0, 0, 1, 1, 2, 3}, Epsilon: 1e-9}
	if got, want := dual(t, vectors, 2, triples, o).Labels, []int32{0, 0, 1, 1, 0, 2}; !slices.Equal(got, want) {
		t.Errorf("adopted: %v, want %v", got, want)
	}
	o.KeepSingletons = true
	if got, want := dual(t, vectors, 2, triples, o).Labels, []int32{0, 0, 1, 1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("kept: %v, want %v", got, want)
	}
}

// entities draws vectors around some centres, each with its own relations.
func entities(n, dim, centers int, seed uint64) (vectors []float32, triples []community.Triple) {
	rng := rand.New(rand.NewPCG(seed, 0))
	middle := make([]float32, centers*dim)
	for i := range middle {
		middle[i] = float32(rng.NormFloat64())
	}
	for e := range n {
		c := e % centers
		for i := range dim {
			vectors = append(vectors, middle[c*dim+i]+float32(.2*rng.NormFloat64()))
		}
	}
	for range 2 * n {
		head := rng.IntN(n)
		tail := head%centers + centers*rng.IntN(n/centers)
		triples = append(triples, community.Triple{Head: int32(head), Relation: int32(head%centers*3 + rng.IntN(3)), Tail: int32(min(tail, n-1))})
	}
	return vectors, triples
}

// Every entity is in exactly one community, under all rules and bounds.
func TestDualIsAPartition(t *testing.T) {
	for _, n := range []int{1, 2, 3, 7, 60, 400} {
		vectors, triples := entities(n, 5, min(n, 6), uint64(n))
		for i, o := range []community.DualOptions{
			{}, {Merge: community.CenterCosine}, {Merge: community.CenterCosine, Clusters: community.CodeClusters, MaxCommunities: 3},
			{Epsilon: 5, MaxCommunitySize: -1}, {MaxCommunities: 2}, {Beta: 2, KeepSingletons: true}, {Beta: 1},
			{Lambda: 2, Relations: community.SetJaccard}, {Relations: community.EuclideanJaccard, Direction: community.Outgoing},
		} {
			p := dual(t, vectors, 5, triples, o)
			seen := make([]int, n)
			for id, c := range p.Communities {
				for _, e := range c.Members {
					seen[e]++
					if p.Labels[e] != int32(id) {
						t.Errorf("%d entities, options %d: entity %d has label %d, is in %d", n, i, e, p.Labels[e], id)
					}
				}
				if !slices.IsSorted(c.Members) || !slices.Contains(c.Members, c.Center) || c.Keywords[0] != c.Center {
					t.Errorf("%d entities, options %d: %+v", n, i, c)
				}
				if len(c.Keywords) != min(5, len(c.Members)) {
					t.Errorf("%d keywords of %d members", len(c.Keywords), len(c.Members))
				}
			}
			if slices.ContainsFunc(seen, func(n int) bool { return n != 1 }) {
				t.Errorf("%d entities, options %d: members %v", n, i, seen)
			}
			if o.MaxCommunities > 0 && len(p.Communities) > o.MaxCommunities {
				t.Errorf("%d entities, options %d: %d communities", n, i, len(p.Communities))
			}
		}
	}
}

// Entities with relations and meaning in common are found: of thirty clusters
// remain about six communities, and none is mixed.
func TestDualFindsGroups(t *testing.T) {
	vectors, triples := entities(300, 8, 6, 3)
	p := dual(t, vectors, 8, triples, community.DualOptions{})
	if len(p.Communities) < 6 || len(p.Communities) > 9 {
		t.Errorf("%d communities, want 6 to 9", len(p.Communities))
	}
	for _, c := range p.Communities {
		for _, e := range c.Members {
			if e%6 != c.Members[0]%6 {
				t.Errorf("%d and %d are together", e, c.Members[0])
			}
		}
	}
}

// The order of triples and the number of processors change nothing.
func TestDualIsDeterministic(t *testing.T) {
	vectors, triples := entities(500, 6, 9, 5)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	want := fmt.Sprint(dual(t, vectors, 6, triples, community.DualOptions{Beta: 5}))
	rng := rand.New(rand.NewPCG(4, 4))
	for procs := range 4 {
		runtime.GOMAXPROCS(procs + 1)
		rng.Shuffle(len(triples), func(i, j int) { triples[i], triples[j] = triples[j], triples[i] })
		if got := fmt.Sprint(dual(t, vectors, 6, triples, community.DualOptions{Beta: 5})); got != want {
			t.Errorf("%d processors: %s, want %s", procs+1, got, want)
		}
	}
}

func TestDualBadInput(t *testing.T) {
	vectors, triples, _ := toy()
	nan := slices.Clone(vectors)
	nan[3] = float32(math.NaN())
	for name, c := range map[string]struct {
		vectors []float32
		dim     int
		triples []community.Triple
		opts    community.DualOptions
		want    error
	}{
		"no dimension":   {vectors, 0, nil, community.DualOptions{}, community.ErrInput},
		"broken row":     {vectors, 5, nil, community.DualOptions{}, community.ErrInput},
		"not a number":   {nan, 2, nil, community.DualOptions{}, community.ErrInput},
		"head":           {vectors, 2, []community.Triple{{6, 0, 0}}, community.DualOptions{}, community.ErrInput},
		"tail":           {vectors, 2, []community.Triple{{0, 0, -1}}, community.DualOptions{}, community.ErrInput},
		"relation":       {vectors, 2, []community.Triple{{0, -1, 0}}, community.DualOptions{}, community.ErrInput},
		"weight":         {vectors, 2, triples, community.DualOptions{RelationWeight: 2}, community.ErrOptions},
		"epsilon":        {vectors, 2, triples, community.DualOptions{Epsilon: math.NaN()}, community.ErrOptions},
		"initial":        {vectors, 2, triples, community.DualOptions{Initial: []int32{1}}, community.ErrOptions},
		"rule":           {vectors, 2, triples, community.DualOptions{Merge: 7}, community.ErrOptions},
		"negative count": {vectors, 2, triples, community.DualOptions{Keywords: -1}, community.ErrOptions},
	} {
		if _, err := community.Dual(t.Context(), c.vectors, c.dim, c.triples, c.opts); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if _, err := community.EntityVectors(vectors, 2, nil, triples, community.VectorOptions{}); !errors.Is(err, community.ErrInput) {
		t.Errorf("relations out of range: %v", err)
	}
	if p := dual(t, nil, 2, nil, community.DualOptions{}); len(p.Communities) != 0 {
		t.Errorf("no entities: %v", p)
	}
	if p := dual(t, make([]float32, 8), 2, nil, community.DualOptions{}); len(p.Labels) != 4 {
		t.Errorf("zeros: %v", p)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := community.Dual(ctx, vectors, 2, triples, community.DualOptions{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}
