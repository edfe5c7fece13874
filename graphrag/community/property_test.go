// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

// oracle computes the quantities in the guarantees by their definitions.
type oracle struct {
	g       *graph.Graph
	gamma   float64 // γ' of the definitions
	weights []float64
}

func newOracle(g *graph.Graph, o community.Options) oracle {
	resolution := max(o.Resolution, 0)
	if resolution == 0 {
		resolution = 1
	}
	orc := oracle{g: g, gamma: resolution, weights: make([]float64, g.N())}
	twice := 0.0
	for u := range orc.weights {
		orc.weights[u] = g.Strength(int32(u))
		twice += orc.weights[u]
	}
	orc.gamma /= twice
	return orc
}

// between returns E(u, C) for each community C.
func (o oracle) between(u int32, labels []int32) map[int32]float64 {
	sums := map[int32]float64{}
	lo, _ := o.g.Row(u)
	for i, v := range o.g.Neighbors(u) {
		if v != u {
			sums[labels[v]] += o.g.Weight(lo + int64(i))
		}
	}
	return sums
}

func (o oracle) totals(labels []int32) map[int32]float64 {
	sums := map[int32]float64{}
	for u, c := range labels {
		sums[c] += o.weights[u]
	}
	return sums
}

const rounding = 1e-9

func (o oracle) checkConnected(t *testing.T, members [][]int32, labels []int32) {
	t.Helper()
	for c, nodes := range members {
		seen := map[int32]bool{nodes[0]: true}
		for queue := []int32{nodes[0]}; len(queue) > 0; queue = queue[1:] {
			lo, _ := o.g.Row(queue[0])
			for i, v := range o.g.Neighbors(queue[0]) {
				if labels[v] == int32(c) && !seen[v] && o.g.Weight(lo+int64(i)) > 0 {
					seen[v] = true
					queue = append(queue, v)
				}
			}
		}
		check.Equal(t, len(seen), len(nodes), "community %d is not connected: %d of %d nodes reached", c, len(seen), len(nodes))
	}
}

// checkSeparated checks that communities are separated: E(C,D) ≤ γ'·w(C)·w(D).
func (o oracle) checkSeparated(t *testing.T, labels []int32) {
	t.Helper()
	totals, links := o.totals(labels), map[[2]int32]float64{}
	for u := range labels {
		for c, w := range o.between(int32(u), labels) {
			links[[2]int32{labels[u], c}] += w
		}
	}
	for pair, w := range links {
		bound := o.gamma * totals[pair[0]] * totals[pair[1]]
		check.True(t, pair[0] == pair[1] || w <= bound+rounding, "communities %v are not separated: %v > %v", pair, w, bound)
	}
}

// checkNodeOptimal checks that no node gains by a move, not even to a community of its own.
func (o oracle) checkNodeOptimal(t *testing.T, labels []int32) {
	t.Helper()
	totals := o.totals(labels)
	for u := range labels {
		k, links := o.weights[u], o.between(int32(u), labels)
		stay := links[labels[u]] - o.gamma*k*(totals[labels[u]]-k)
		check.True(t, stay >= -rounding, "node %d is better off alone by %v", u, -stay)
		for c, w := range links {
			gain := w - o.gamma*k*totals[c] - stay
			check.True(t, c == labels[u] || gain <= rounding, "node %d gains %v by moving to %d", u, gain, c)
		}
	}
}

// checkBuildable checks that communities of up to 13 nodes are γ-connected, by dynamic programming over all
// subsets.
func (o oracle) checkBuildable(t *testing.T, members [][]int32) (checked int) {
	t.Helper()
	for c, nodes := range members {
		if len(nodes) > 13 {
			continue
		}
		checked++
		n := len(nodes)
		row := make([][]float64, n) // weights of the edges between two members
		for i, u := range nodes {
			row[i] = make([]float64, n)
			lo, _ := o.g.Row(u)
			for a, v := range o.g.Neighbors(u) {
				if j := slices.Index(nodes, v); j >= 0 && j != i {
					row[i][j] = o.g.Weight(lo + int64(a))
				}
			}
		}
		inside, total := make([]float64, 1<<n), make([]float64, 1<<n)
		buildable := make([]bool, 1<<n)
		for set := 1; set < 1<<n; set++ {
			low := 0
			for set>>low&1 == 0 {
				low++
			}
			rest := set &^ (1 << low)
			inside[set], total[set] = inside[rest], total[rest]+o.weights[nodes[low]]
			for j := range n {
				if rest>>j&1 == 1 {
					inside[set] += row[low][j]
				}
			}
			buildable[set] = rest == 0
			for s := (set - 1) & set; s > 0 && !buildable[set]; s = (s - 1) & set {
				if other := set &^ s; buildable[s] && buildable[other] {
					buildable[set] = inside[set]-inside[s]-inside[other] >= o.gamma*total[s]*total[other]-rounding
				}
			}
		}
		check.True(t, buildable[1<<n-1], "community %d %v is not γ-connected", c, nodes)
	}
	return checked
}

// randomGraphs are small graphs with loops, parallel edges and edges of weight 0, isolated nodes, and weights
// with many digits.
func randomGraphs(t testing.TB, count int) []*graph.Graph {
	t.Helper()
	rng := rand.New(rand.NewPCG(9, 9))
	var graphs []*graph.Graph
	for i := range count {
		n := 2 + rng.IntN(40)
		var edges []graph.Edge
		for range rng.IntN(4 * n) {
			w := float64(rng.IntN(4))
			if i%2 == 1 {
				w *= rng.Float64()
			}
			edges = append(edges, graph.Edge{From: rng.Int32N(int32(n)), To: rng.Int32N(int32(n)), Weight: w})
		}
		g := check.Of(graph.New(n, edges)).OK(t)
		graphs = append(graphs, g)
	}
	return graphs
}

// The guarantees of Traag et al. (2019), after each pass.
func TestGuarantees(t *testing.T) {
	var graphs []*graph.Graph
	for _, g := range goldens(t) {
		graphs = append(graphs, g.graph)
	}
	graphs = append(graphs, randomGraphs(t, 60)...)
	checked, stable := 0, 0
	for i, g := range graphs {
		for _, o := range []community.Options{
			{}, {Resolution: .4}, {Resolution: 3},
			{Randomness: 5},
		} {
			before := -1.0
			for _, passes := range []int{1, 2, 3, 50} {
				if passes == 50 && g.N() > 1000 && o.Resolution != 0 {
					continue
				}
				o.Seed, o.MaxPasses = uint64(i), passes
				p := leiden(t, g, o)
				if orc := newOracle(g, o); g.Arcs() > 0 {
					orc.checkConnected(t, p.Members(), p.Labels)
					orc.checkSeparated(t, p.Labels)
					checked += orc.checkBuildable(t, p.Members())
					if p.Stable {
						stable++
						orc.checkNodeOptimal(t, p.Labels)
					}
				}
				check.True(t, before < 0 || p.Quality >= before-rounding*max(1, before),
					"pass %d lowers the quality from %v to %v", p.Passes, before, p.Quality)
				before = p.Quality
				check.Must(t, !t.Failed(), "graph %d, options %+v", i, o)
			}
		}
	}
	check.True(t, checked >= 1000 && stable >= 100, "only %d communities and %d stable partitions were checked", checked, stable)
}

// A seed gives the same result on any number of processors.
func TestSameSeedSameResult(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	o := community.Options{Seed: 5, MaxPasses: 2}
	small := graphragtest.LFR2333().Graph()
	// The graph is large enough for a first pass that is a draft.
	l := graphragtest.Planted(140_000, 420_000, 140, .3, 1)
	large := l.Graph()
	rng := rand.New(rand.NewPCG(3, 3))
	for i := range l.Edges {
		l.Edges[i].Weight = rng.Float64()
	}
	fractions := l.Graph()
	type results struct {
		small, large, fractions community.Partition
		hierarchy               community.Hierarchy
	}
	var first results
	for _, procs := range []int{1, 3} {
		runtime.GOMAXPROCS(procs)
		h := check.Of(community.HierarchicalLeiden(t.Context(), small, community.HierarchyOptions{Options: o})).OK(t)
		got := results{leiden(t, small, o), leiden(t, large, o), leiden(t, fractions, o), h}
		if procs == 1 {
			first = got
		} else if !reflect.DeepEqual(got, first) {
			t.Errorf("another result on %d processors", procs)
		}
	}
	o.MaxPasses = 1 // makes no draft
	one := leiden(t, large, o).Quality
	check.True(t, first.large.Quality >= one, "modularity %v after two passes, %v after one", first.large.Quality, one)
	for _, found := range []struct {
		g *graph.Graph
		p community.Partition
	}{{large, first.large}, {fractions, first.fractions}} {
		oracle := newOracle(found.g, o)
		oracle.checkConnected(t, found.p.Members(), found.p.Labels)
		oracle.checkSeparated(t, found.p.Labels)
	}
}

// Names that occur on one page only are twins, which are one node from the start: the result keeps the
// guarantees.
func TestTwins(t *testing.T) {
	const pages, own = 3000, 6
	l, rng := graphragtest.EdgeList{N: pages * own}, rand.New(rand.NewPCG(7, 7))
	for page := range pages {
		names := []int{page * own, rng.IntN(pages) * own, rng.IntN(pages) / 2 * own} // the first names of a page are also on other pages
		for u := 1; u < own; u++ {
			names = append(names, page*own+u)
		}
		for i, u := range names {
			for _, v := range names[:i] {
				if u != v {
					l.Edges = append(l.Edges, graph.Edge{From: int32(u), To: int32(v), Weight: 1})
				}
			}
		}
	}
	g := l.Graph()
	for _, o := range []community.Options{{MaxPasses: 2}, {Resolution: 2}} {
		p := leiden(t, g, o)
		oracle := newOracle(g, o)
		oracle.checkConnected(t, p.Members(), p.Labels)
		oracle.checkSeparated(t, p.Labels)
		oracle.checkBuildable(t, p.Members())
		if p.Stable {
			oracle.checkNodeOptimal(t, p.Labels)
		}
		apart := 0
		for u := range int32(g.N()) {
			if first := u - u%own + 1; u > first && p.Labels[u] != p.Labels[first] {
				apart++
			}
		}
		check.True(t, o.Resolution >= 1.5 || apart <= 0, "%+v: %d nodes apart from their twins", o, apart)
	}
}

// The order and direction of edges change nothing.
func TestEdgeOrder(t *testing.T) {
	l := graphragtest.LFR300()
	want := leiden(t, l.Graph(), community.Options{})
	rng := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		rng.Shuffle(len(l.Edges), func(i, j int) { l.Edges[i], l.Edges[j] = l.Edges[j], l.Edges[i] })
		for i, e := range l.Edges {
			if rng.IntN(2) == 0 {
				l.Edges[i] = graph.Edge{From: e.To, To: e.From, Weight: e.Weight}
			}
		}
		got := leiden(t, l.Graph(), community.Options{})
		check.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "edges in another order: %v, want %v", got, want)
	}
}
