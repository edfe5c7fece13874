// SPDX-License-Identifier: Apache-2.0

package ppr_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/internal/check"
)

func mustGraph(t testing.TB, n int, edges []graph.Edge) *graph.Graph {
	t.Helper()
	return check.Of(graph.New(n, edges)).OK(t)
}

func solver(t testing.TB, g *graph.Graph, opts ppr.Options) *ppr.Solver {
	t.Helper()
	return check.Of(ppr.New(g, opts)).OK(t)
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	check.Must(t, len(got) == len(want), "%s: %d values, want %d", what, len(got), len(want))
	for i := range want {
		check.True(t, math.Abs(got[i]-want[i]) <= tolerance, "%s: value %d is %.12f, want %.12f", what, i, got[i], want[i])
	}
}

// awkward are graphs with stars, many components, loops, weights of 0 and very different weights, isolated
// nodes, and twins.
func awkward(t *testing.T) map[string]*graph.Graph {
	star := make([]graph.Edge, 0, 500)
	for i := range int32(500) {
		star = append(star, graph.Edge{From: 0, To: i + 1, Weight: float64(i%7) * 1e-3})
	}
	pieces := graphragtest.Planted(400, 200, 100, 0, 3)
	for i := range pieces.Edges {
		pieces.Edges[i].Weight = math.Pow(10, float64(i%21-10))
		if i%5 == 0 {
			pieces.Edges[i].To = pieces.Edges[i].From
		}
	}
	var twins []graph.Edge // neighbours of nodes 0 and 1 with edges of one weight, a third of which are joined to each other
	for u := int32(2); u < 40; u++ {
		twins = append(twins, graph.Edge{From: 0, To: u, Weight: float64(1 + u%3)}, graph.Edge{From: 1, To: u, Weight: 1})
		for v := int32(4); v < u && u%3 == 1; v += 3 {
			twins = append(twins, graph.Edge{From: v, To: u, Weight: 4})
		}
	}
	return map[string]*graph.Graph{
		"twins":   mustGraph(t, 41, twins),
		"star":    mustGraph(t, 510, star),
		"pieces":  mustGraph(t, 400, pieces.Edges),
		"lfr":     graphragtest.LFR2333().Graph(),
		"ring":    graphragtest.Ring(30, 5).Graph(),
		"one":     mustGraph(t, 1, nil),
		"loop":    mustGraph(t, 1, []graph.Edge{{From: 0, To: 0, Weight: 2}}),
		"nothing": mustGraph(t, 5, []graph.Edge{{From: 1, To: 2}}),
	}
}

// uniform returns seeds of equal weight.
func uniform(nodes ...int32) []ppr.Seed {
	seeds := make([]ppr.Seed, len(nodes))
	for i, u := range nodes {
		seeds[i] = ppr.Seed{Node: u, Weight: 1}
	}
	return seeds
}

func TestConcurrent(t *testing.T) {
	g := graphragtest.LFR2333().Graph()
	s := solver(t, g, ppr.Options{})
	seeds := uniform(1, 2, 3)
	want := check.Of(s.Solve(t.Context(), seeds, nil)).OK(t)
	var wait sync.WaitGroup
	for i := range 8 {
		wait.Go(func() {
			for j := range 10 {
				if _, err := s.Solve(t.Context(), uniform(int32(i*100+j)), nil); err != nil {
					t.Error(err)
				}
				x, err := s.Solve(t.Context(), seeds, nil)
				check.True(t, err == nil && slices.Equal(x, want),
					"another result beside other queries: %v", err)
			}
		})
	}
	wait.Wait()
}

func TestRefused(t *testing.T) {
	g := graphragtest.Karate().Graph()
	s := solver(t, g, ppr.Options{})
	for name, seeds := range map[string][]ppr.Seed{
		"none": nil, "zero": {{3, 0}}, "negative": {{1, 2}, {3, -1}}, "NaN": {{3, math.NaN()}}, "infinite": {{3, math.Inf(1)}},
		"too large": {{3, math.MaxFloat64}, {4, math.MaxFloat64}}, "too small": {{3, 5e-324}},
		"node 34": {{34, 1}}, "node -1": {{-1, 1}},
	} {
		check.Is(t, check.Err(s.Solve(t.Context(), seeds, nil)), ppr.ErrReset, "%s: solve", name)
	}
	check.True(t, check.Err(ppr.New(g, ppr.Options{Damping: 1, Tolerance: math.NaN()})) != nil, "bad options were taken")
	wide := mustGraph(t, 4, []graph.Edge{{From: 0, To: 1, Weight: 1e200}, {From: 2, To: 3, Weight: 1e-200}})
	check.Is(t, check.Err(ppr.New(wide, ppr.Options{})), ppr.ErrWeights, "weights far apart")
	check.Is(t, check.Err(solver(t, mustGraph(t, 0, nil), ppr.Options{}).Solve(t.Context(), nil, nil)), ppr.ErrReset, "empty graph")
}

func TestCancelled(t *testing.T) {
	s := solver(t, graphragtest.LFR2333().Graph(), ppr.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(s.Solve(ctx, uniform(1), nil)), context.Canceled, "solve")
}

func TestNoAllocations(t *testing.T) {
	s := solver(t, graphragtest.LFR2333().Graph(), ppr.Options{})
	seeds := uniform(1, 2, 3)
	x := check.Of(s.Solve(t.Context(), seeds, nil)).OK(t)
	ctx := t.Context()
	// The least number counts: a garbage collection, or the race detector, may empty the pool.
	least := math.Inf(1)
	for range 30 {
		least = min(least, testing.AllocsPerRun(1, func() { x, _ = s.Solve(ctx, seeds, x) }))
	}
	check.Equal(t, least, 0, "allocations a query")
}

// The first query on a graph prepares it: that can be cancelled, and the next query repeats it.
func TestFirstQueryLooksAtTheContext(t *testing.T) {
	edges := make([]graph.Edge, 1<<18)
	for i := range edges {
		edges[i] = graph.Edge{From: int32(i), To: int32(i + 1), Weight: 1}
	}
	s := solver(t, mustGraph(t, len(edges)+1, edges), ppr.Options{})
	seeds := uniform(7)
	for looks := range 12 {
		ctx := check.NewCountdown(looks)
		_, err := s.Solve(ctx, seeds, nil)
		check.Must(t, errors.Is(err, context.Canceled) && ctx.Looks() <= 3, "%d looks: %v after %d further looks", looks, err, ctx.Looks())
	}
	check.OK(t, check.Err(s.Solve(t.Context(), seeds, nil)))
}

// On the path 0–1–2 a walk from node 0 with damping ½ is at the nodes with
// probabilities 7/12, 1/3 and 1/12.
func Example() {
	g, err := graph.New(3, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}})
	if err != nil {
		panic(err)
	}
	s, err := ppr.New(g, ppr.Options{Damping: .5})
	if err != nil {
		panic(err)
	}
	ctx := context.Background()
	x, err := s.Solve(ctx, []ppr.Seed{{Node: 0, Weight: 1}}, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%.6f\n", x)
	// Output:
	// [0.583333 0.333333 0.083333]
}

type golden struct {
	Name    string
	Nodes   int
	Edges   [][3]float64
	Reset   []float64
	Damping float64
	First   int // node with the first value of X
	X       []float64
}

func (c golden) graph(t *testing.T) *graph.Graph {
	t.Helper()
	var edges []graph.Edge
	for _, e := range c.Edges {
		edges = append(edges, graph.Edge{From: int32(e[0]), To: int32(e[1]), Weight: e[2]})
	}
	return mustGraph(t, c.Nodes, edges)
}

// The vectors were computed with igraph's prpack for the worked examples of
// HippoRAG, HippoRAG 2 and LinearRAG.
func TestGolden(t *testing.T) {
	data := check.Of(os.ReadFile("testdata/golden.json")).OK(t)
	var cases []golden
	check.OK(t, json.Unmarshal(data, &cases))
	check.Must(t, len(cases) == 27, "%d cases, want 27", len(cases))
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			s := solver(t, c.graph(t), ppr.Options{Damping: c.Damping, Tolerance: 1e-12})
			seeds := sparse(c.Reset)
			x := check.Of(s.Solve(t.Context(), seeds, nil)).OK(t)
			near(t, "solve", x[c.First:c.First+len(c.X)], c.X, 1e-9)
		})
	}
}

// Tables of igraph 0.10.2, damping 0.85.
func TestIgraph(t *testing.T) {
	edges := func(pairs ...[2]int32) []graph.Edge {
		var list []graph.Edge
		for _, p := range pairs {
			list = append(list, graph.Edge{From: p[0], To: p[1], Weight: 1})
		}
		return list
	}
	multi := edges([2]int32{0, 1}, [2]int32{0, 1}, [2]int32{1, 2}, [2]int32{2, 3}, [2]int32{3, 0}, [2]int32{3, 4})
	loop := edges([2]int32{0, 1}, [2]int32{1, 2}, [2]int32{2, 2})
	for _, c := range []struct {
		name  string
		n     int
		edges []graph.Edge
		seeds []ppr.Seed
		nodes []int
		want  []float64
	}{
		{"karate", 34, graphragtest.Karate().Edges, []ppr.Seed{{0, 3}, {33, 1}}, []int{0, 33, 1, 2, 32, 3, 13, 5},
			[]float64{.211827259, .105309468, .056756828, .052959224, .047483842, .039373788, .031958651, .030031385}},
		{"parallel/4", 6, multi, []ppr.Seed{{4, 1}}, nil, []float64{.173753063, .153786646, .130180180, .305672814, .236607297, 0}},
		{"parallel/0", 6, multi, []ppr.Seed{{0, 1}}, nil, []float64{.352442673, .255044091, .130180180, .204415368, .057917688, 0}},
		{"parallel/isolated", 6, multi, []ppr.Seed{{0, .5}, {5, .5}}, nil, []float64{.306471889, .221777471, .113200157, .177752494, .050363207, .130434783}},
		{"parallel/alone", 6, multi, []ppr.Seed{{5, 1}}, nil, []float64{0, 0, 0, 0, 0, 1}},
		{"loop", 3, loop, []ppr.Seed{{0, 1}}, nil, []float64{.300159872, .353317346, .346522782}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, scale := range []float64{1, 1. / 3} { // values exact in float32 and only in float64
				edges := slices.Clone(c.edges)
				for i := range edges {
					edges[i].Weight *= scale
				}
				g := check.Of(graph.New(c.n, edges)).OK(t)
				x := check.Of(solver(t, g, ppr.Options{Tolerance: 1e-12}).Solve(t.Context(), c.seeds, nil)).OK(t)
				if c.nodes != nil {
					var picked []float64
					for _, u := range c.nodes {
						picked = append(picked, x[u])
					}
					x = picked
				}
				near(t, fmt.Sprint("weights times ", scale), x, c.want, 1e-9)
			}
		})
	}
}

// power iterates the definition in float64 until nothing changes.
func power(g *graph.Graph, v []float64, d float64) []float64 {
	x := make([]float64, g.N())
	for moved := 1.; moved >= 1e-13; {
		x, moved = walked(g, x, v, d)
	}
	return x
}

// walked makes one step of the iteration, and returns the L1 norm of the change.
func walked(g *graph.Graph, x, v []float64, d float64) (next []float64, change float64) {
	n := g.N()
	next = make([]float64, n)
	sum, lost := 0.0, 0.0
	for u := range n {
		sum += v[u]
		strength := g.Strength(int32(u))
		if strength == 0 {
			lost += x[u]
			continue
		}
		lo, hi := g.Row(int32(u))
		for a := lo; a < hi; a++ {
			t, w := g.Targets()[a], g.Weight(a)
			if int(t) == u {
				w *= 2
			}
			next[t] += d * x[u] * w / strength
		}
	}
	for u := range n {
		next[u] += (1 - d + d*lost) * v[u] / sum
		change += math.Abs(next[u] - x[u])
	}
	return next, change
}

func TestAgainstDefinition(t *testing.T) {
	for name, g := range awkward(t) {
		for _, d := range []float64{.1, .5, .85, .99} {
			s := solver(t, g, ppr.Options{Damping: d, Tolerance: 1e-12})
			v := make([]float64, g.N())
			for u := range v {
				if u%7 == 0 {
					v[u] = float64(1 + u%3)
				}
			}
			want := power(g, v, d)
			x := check.Of(s.Solve(t.Context(), sparse(v), nil)).OK(t, "%s, %v", name, d)
			near(t, fmt.Sprintf("%s, damping %v", name, d), x, want, 1e-10)
			_, r := walked(g, x, v, d)
			check.True(t, r <= 2e-12, "%s, damping %v: residual %.3g", name, d, r)
		}
	}
}

// The residual is below every tolerance, for sparse and dense reset vectors.
func TestTolerance(t *testing.T) {
	g := graphragtest.LFR2333().Graph()
	for _, tolerance := range []float64{1e-3, 1e-6, 1e-9, 1e-10, 1e-12} {
		s := solver(t, g, ppr.Options{Tolerance: tolerance})
		for _, nodes := range [][]int32{{7}, {1, 500, 2000}} {
			x := check.Of(s.Solve(t.Context(), uniform(nodes...), nil)).OK(t)
			v := make([]float64, g.N())
			for _, u := range nodes {
				v[u] = 1
			}
			_, r := walked(g, x, v, .85)
			check.True(t, r <= tolerance*(1+1e-3), "tolerance %g: residual %g", tolerance, r)
		}
	}
}

// Multiplying all weights by a power of two, or the reset vector by any number, changes no bit; other factors
// change no digit.
func TestScaling(t *testing.T) {
	l := graphragtest.LFR300()
	g, scaled := l.Graph(), slices.Clone(l.Edges)
	for i := range scaled {
		scaled[i].Weight *= 0x1p900
	}
	h := mustGraph(t, l.N, scaled)
	x := check.Of(solver(t, g, ppr.Options{}).Solve(t.Context(), []ppr.Seed{{3, 1}, {90, 2}}, nil)).OK(t)
	y := check.Of(solver(t, h, ppr.Options{}).Solve(t.Context(), []ppr.Seed{{3, 1e300}, {90, 2e300}}, nil)).OK(t)
	near(t, "scaled", y, x, 1e-15)
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	check.True(t, math.Abs(sum-1) <= 1e-9, "the values sum to %.12f", sum)
	for _, scale := range []float64{0x1p1010, 0x1p-730, 0x1p-1040, math.SmallestNonzeroFloat64} {
		for i := range scaled {
			scaled[i].Weight = scale
		}
		check.Is(t, check.Err(ppr.New(mustGraph(t, l.N, scaled), ppr.Options{})), ppr.ErrWeights, "weights of %g", scale)
	}
	for i := range scaled {
		scaled[i].Weight = 0x1p-700
	}
	y = check.Of(solver(t, mustGraph(t, l.N, scaled), ppr.Options{}).Solve(t.Context(), []ppr.Seed{{3, 1}}, y)).OK(t)
	for i := range scaled {
		scaled[i].Weight = 1
	}
	x = check.Of(solver(t, mustGraph(t, l.N, scaled), ppr.Options{}).Solve(t.Context(), []ppr.Seed{{3, 1}}, x)).OK(t)
	near(t, "tiny weights", y, x, 1e-15)
}

// sparse returns the nonzero entries of a dense reset vector.
func sparse(reset []float64) []ppr.Seed {
	var seeds []ppr.Seed
	for u, w := range reset {
		if w != 0 {
			seeds = append(seeds, ppr.Seed{Node: int32(u), Weight: w})
		}
	}
	return seeds
}
