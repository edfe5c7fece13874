// SPDX-License-Identifier: Apache-2.0

package perception

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/cluster"
	"github.com/wildgraph/wildgraph/internal/check"
)

// The relations of the worked examples.
const (
	directed int32 = iota
	bornIn
	spouse
	locatedIn
)

// ties gives an entity relations: triples with an entity that is counted nowhere else, since only outgoing
// relations count.
func ties(e int32, counts map[int32]int) []Triple {
	var triples []Triple
	for relation := directed; relation <= locatedIn; relation++ {
		for range counts[relation] {
			triples = append(triples, Triple{e, relation, e})
		}
	}
	return triples
}

func perceive(t *testing.T, vectors []float32, triples []Triple, opts Options) *perception {
	t.Helper()
	m := check.Of(newMerger(t.Context(), vectors, 2, triples, opts)).OK(t)
	return m.perception
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	check.True(t, math.Abs(got-want) <= 1e-6, "%s = %.6f, want %.6f", what, got, want)
}

// x, y and z form one community with the profile {directed 3, born_in 1, spouse 2}.
func worked() ([]float32, []Triple) {
	triples := ties(0, map[int32]int{directed: 2, bornIn: 1})
	triples = append(triples, ties(1, map[int32]int{directed: 1})...)
	triples = append(triples, ties(2, map[int32]int{spouse: 2})...)
	return []float32{1, 0, .8, .6, 0, 1}, triples
}

func TestRelationSimilarityWorked(t *testing.T) {
	vectors, triples := worked()
	p := perceive(t, vectors, triples, Options{})
	near(t, "S_r", p.relational(p.profiles.of(0), p.group([]int32{0, 1, 2})), .5)
	// For an entity outside of the community: {directed 2, born_in 1} and {directed 1, spouse 2} have 1 in
	// common and 2 + 1 + 2 together.
	near(t, "S_r", p.relational(p.profiles.of(0), p.group([]int32{1, 2})), .2)
}

func TestScoreWorked(t *testing.T) {
	vectors, triples := worked()
	p := perceive(t, vectors, triples, Options{})
	c := p.group([]int32{0, 1, 2})
	for e, want := range []float64{.747409, .996546, .664364} {
		near(t, "S_s", p.cosine(int32(e), c), want)
	}
	for e, want := range []float64{.5, .166667, .333333} {
		near(t, "S_r", p.relational(p.profiles.of(int32(e)), c), want)
	}
	for _, row := range []struct {
		name   string
		opts   Options
		want   [3]float64
		center int32
	}{
		{"λ 1", Options{Lambda: 1}, [3]float64{1.247409, 1.163212, .997697}, 0},
		{"λ .5", Options{Lambda: .5}, [3]float64{.873705, .664940, .665515}, 0},
		{"weights .3 and .7", Options{}, [3]float64{.673187, .747582, .565055}, 1},
	} {
		p := perceive(t, vectors, triples, row.opts)
		c := p.group([]int32{0, 1, 2})
		for e, want := range row.want {
			near(t, row.name, p.score(int32(e), c), want)
		}
		check.Equal(t, c.center, row.center, "%s: centre", row.name)
	}
}

// Equation 7 on the communities a, b and c of TestMergeToy: D(a→c) is -.043326 and D(c→a) .043793,
// D(c→b) .687555 and D(b→c) .720163, both of a and b .814078. The larger one counts.
func TestDivergenceWorked(t *testing.T) {
	var triples []Triple
	for e, counts := range []map[int32]int{{directed: 2, bornIn: 1}, {directed: 1}, {locatedIn: 2}, {locatedIn: 1}, {directed: 1, bornIn: 1}, {directed: 1}} {
		triples = append(triples, ties(int32(e), counts)...)
	}
	m := check.Of(newMerger(t.Context(), []float32{1, 0, .8, .6, 0, 1, -.6, .8, .6, .8, 1, 0}, 2, triples, Options{})).OK(t)
	m.divide([]int32{0, 0, 1, 1, 2, 2})
	near(t, "D(a→c)", m.divergence(m.groups[0], m.groups[2]), -.043326)
	pairs := check.Of(m.candidates(1)).OK(t)
	for i, want := range []pair{{0, 2, .043793}, {1, 2, .720163}, {0, 1, .814078}} {
		near(t, fmt.Sprint("the distance of ", pairs[i].a, " and ", pairs[i].b), pairs[i].distance, want.distance)
	}
}

func TestClusters(t *testing.T) {
	for n, want := range map[int]int{
		2: 2, 3: 2, 4: 2, 29: 2, 30: 3, 45: 4, 100: 10,
		199: 19, 1999: 199, 2000: 200, 100000: 200,
		1: 1, // the paper's formula gives 2 for a single entity
	} {
		m := check.Of(newMerger(t.Context(), []float32{1}, 1, nil, Options{})).OK(t)
		got := m.opts.clusters(n)
		check.Equal(t, got, want, "%d entities: %d clusters", n, got)
	}
}

// K-means has five starts from seed 42; with one start, or another seed, these vectors get other clusters.
func TestStarts(t *testing.T) {
	var vectors []float32
	for i := range 60 {
		vectors = append(vectors, float32(i*i%61), float32(i*i*i%67))
	}
	m := check.Of(newMerger(t.Context(), vectors, 2, nil, Options{})).OK(t)
	got := check.Of(m.kmeans(vectors, 6)).OK(t)
	for o, same := range map[cluster.KMeansOptions]bool{{Seed: 42, Inits: 5}: true, {Seed: 42, Inits: 1}: false, {Seed: 7, Inits: 5}: false} {
		c := check.Of(cluster.KMeans(t.Context(), vectors, 2, 6, o)).OK(t)
		check.True(t, slices.Equal(got, c.Labels) == same, "%+v: the same clusters %t, want %t", o, !same, same)
	}
}

// A centre is compared with its ten nearest of twelve; two communities of fifty merge, and with one member more
// they do not.
func TestNeighbors(t *testing.T) {
	vectors := make([]float32, 24)
	for i := range 12 {
		vectors[2*i], vectors[2*i+1] = float32(math.Cos(float64(i)/8)), float32(math.Sin(float64(i)/8))
	}
	m := check.Of(newMerger(t.Context(), vectors, 2, nil, Options{})).OK(t)
	m.divide([]int32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})
	nearest := check.Of(m.neighbors()).OK(t)
	want := []int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	check.Equal(t, nearest[0], want, "the nearest of 0")
	fifty, more := &group{members: make([]int32, 50)}, &group{members: make([]int32, 51)}
	check.True(t, m.fits(fifty, fifty) && !m.fits(fifty, more), "communities merge up to 100 members")
}

// FromLabels gives the result of ByMembers from a partition in place of k-means.
func FromLabels(ctx context.Context, vectors []float32, dim int, triples []Triple, o Options, labels []int32) (Partition, error) {
	m, err := newMerger(ctx, vectors, dim, triples, o)
	if err != nil {
		return Partition{}, err
	}
	if err := m.byMembers(labels); err != nil {
		return Partition{}, err
	}
	return m.partition(), nil
}
