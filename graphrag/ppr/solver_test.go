// SPDX-License-Identifier: Apache-2.0

package ppr_test

import (
	"context"
	"errors"
	"fmt"
	"math"
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
	g := check.Of(graph.New(n, edges, graph.Options{})).OK(t)
	return g
}

func solver(t testing.TB, g *graph.Graph, opts ppr.Options) *ppr.Solver {
	t.Helper()
	s := check.Of(ppr.New(g, opts)).OK(t)
	return s
}

func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	check.Must(t, len(got) == len(want), "%s: %d values, want %d", what, len(got), len(want))
	for i := range want {
		check.True(t, math.Abs(got[i]-want[i]) <= tolerance, "%s: value %d is %.12f, want %.12f", what, i, got[i], want[i])
	}
}

// awkward graphs: stars, many components, self-loops, weights of 0, weights far
// apart, nodes without an edge, twins.
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
	var twins []graph.Edge // of node 0 and 1: those of one weight, of which a third are joined to each other
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
		"ring":    graphragtest.Ring(30, 5).Unweighted(),
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
	g := graphragtest.LFR2333().Unweighted()
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
	// A collection may empty the pool, and the race detector does so at random: the fewest
	// count.
	least := math.Inf(1)
	for range 30 {
		least = min(least, testing.AllocsPerRun(1, func() { x, _ = s.Solve(ctx, seeds, x) }))
	}
	check.Equal(t, least, 0, "allocations a query")
}

// The first query on a graph folds it: that can be cancelled, and the next query repeats it.
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
	g, err := graph.New(3, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}}, graph.Options{})
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
