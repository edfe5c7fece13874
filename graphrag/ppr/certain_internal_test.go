// SPDX-License-Identifier: Apache-2.0

package ppr

import (
	"cmp"
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
)

func solved(t *testing.T, g *graph.Graph, damping float64) *Solver {
	t.Helper()
	s, err := New(g, Options{Damping: damping, Tolerance: 1e-12})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// certainGraphs are those with twins and a loop, with communities, and with a hub.
func certainGraphs(t *testing.T) map[string]*graph.Graph {
	t.Helper()
	twins, err := graph.New(12, twinEdges(), graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var edges []graph.Edge
	for u := int32(1); u < 400; u++ {
		edges = append(edges, graph.Edge{From: 0, To: u, Weight: 1}, graph.Edge{From: u, To: u * 7 % 400, Weight: float64(1 + u%5)})
	}
	hub, err := graph.New(400, edges, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]*graph.Graph{"twins": twins, "lfr": graphtest.LFR2333().Graph(), "hub": hub}
}

// From sweep to sweep no value is further from the truth than it may be, and the solution
// goes on as if nobody had looked.
func TestReach(t *testing.T) {
	for name, g := range certainGraphs(t) {
		for _, damping := range []float64{.1, .5, .85} {
			s := solved(t, g, damping)
			for _, seeds := range [][]Seed{{{1, 1}}, {{1, 3}, {2, 1}, {5, 2}, {1, 1}, {11, 1}}} {
				exact, err := s.Solve(t.Context(), seeds, nil)
				if err != nil {
					t.Fatal(err)
				}
				v, err := s.checkReset(seeds)
				if err != nil {
					t.Fatal(err)
				}
				q, x := s.quotient, newQuery(s.quotient)
				values, sweeps := make([]float64, g.N()), 0
				look := func(float64) bool {
					sweeps++
					x.results(q, seeds, v, 0, values)
					s.addLost(seeds, v, 0, values)
					for u, value := range values {
						if reach := x.reach(q) / v.sum * s.strength[u]; math.Abs(value-exact[u]) > reach+1e-12 {
							t.Fatalf("%s, damping %v, sweep %d: node %d has %g, the truth is %g, not within %g", name, damping, sweeps, u, value, exact[u], reach)
						}
					}
					return false
				}
				if err := x.solve(t.Context(), q, seeds, v, s.tolerance, look); err != nil {
					t.Fatal(err)
				}
				x.results(q, seeds, v, 0, values)
				s.addLost(seeds, v, 0, values)
				if sweeps < 3 || !slices.Equal(values, exact) {
					t.Errorf("%s, damping %v: another solution after %d looks", name, damping, sweeps)
				}
			}
		}
	}
}

// The first are those of an exact solution, and in their order.
func TestSolveFirst(t *testing.T) {
	early := 0
	for name, g := range certainGraphs(t) {
		s := solved(t, g, .5)
		for _, from := range []int{0, g.N() / 2} {
			for seed := range int32(10) {
				seeds := []Seed{{seed, 1}, {(seed*37 + 11) % int32(g.N()), 2}}
				exact, err := s.Solve(t.Context(), seeds, nil)
				if err != nil {
					t.Fatal(err)
				}
				exact = exact[from:]
				got, err := s.SolveFirst(t.Context(), seeds, from, 5, nil)
				if err != nil {
					t.Fatal(err)
				}
				if len(got) != len(exact) {
					t.Fatalf("%s: %d values, want %d", name, len(got), len(exact))
				}
				if !slices.Equal(got, exact) {
					early++
				}
				for i, u := range byValue(got)[:5] {
					if want := byValue(exact)[i]; u != want && math.Abs(exact[u]-exact[want]) > 1e-12 {
						t.Errorf("%s, seed %d, from %d: place %d has node %d, want %d", name, seed, from, i, u, want)
					}
				}
			}
		}
	}
	if early == 0 {
		t.Error("no ranking was certain before the values were")
	}
	s := solved(t, graphtest.Ring(30, 5).Unweighted(), .5)
	for _, x := range [][2]int{{-1, 1}, {s.g.N() + 1, 1}, {0, -1}} {
		if _, err := s.SolveFirst(t.Context(), []Seed{{1, 1}}, x[0], x[1], nil); err == nil {
			t.Errorf("no error from %d, the first %d", x[0], x[1])
		}
	}
	if none, err := s.SolveFirst(t.Context(), []Seed{{1, 1}}, s.g.N(), 5, nil); err != nil || len(none) != 0 {
		t.Errorf("%d values of no nodes, %v", len(none), err)
	}
}

func byValue(values []float64) []int {
	order := make([]int, len(values))
	for u := range order {
		order[u] = u
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	return order
}

// What is behind may come before, and two of the first may change places.
func TestCertain(t *testing.T) {
	strength := []float64{1, 1, 10, 1}
	for _, x := range []struct {
		values []float64
		reach  float64
		k      int
		want   bool
	}{
		{[]float64{.4, .3, .1, 0}, .01, 2, true},
		{[]float64{.4, .3, .1, 0}, .02, 2, false}, // the third has .3 at most
		{[]float64{.4, .3, .1, 0}, .02, 1, true},
		{[]float64{.4, .395, .1, 0}, .01, 2, false},
		{[]float64{.4, .4, .1, 0}, 0, 2, false},
		{[]float64{.4, .3, .1, .2}, 0, 4, true},
		{[]float64{.4, .3, .1, .2}, .3, 0, true},
	} {
		if got := new(ranking).certain(x.values, strength, x.reach, x.k); got != x.want {
			t.Errorf("%+v: %v", x, got)
		}
	}
}
