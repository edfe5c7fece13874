// SPDX-License-Identifier: Apache-2.0

package ppr_test

import (
	"math"
	"slices"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graph/graphtest"
	"github.com/wildgraph/wildgraph/graphrag/ppr"
	"github.com/wildgraph/wildgraph/graphrag/rank"
)

// A push is never above the truth, and short of it by no more than it says.
func TestPush(t *testing.T) {
	for name, g := range awkward(t) {
		if name == "pieces" {
			continue // its mean weight says nothing about its degrees
		}
		for _, d := range []float64{.5, .85} {
			s := solver(t, g, ppr.Options{Damping: d, Tolerance: 1e-12})
			seeds := ppr.Uniform(0, int32(g.N()-1), int32(g.N()/2))
			x, err := s.Solve(t.Context(), seeds, nil)
			if err != nil {
				t.Fatal(err)
			}
			scores, bound, err := s.Push(t.Context(), seeds, 1e-4, nil)
			if err != nil {
				t.Fatal(err)
			}
			short := 1.0
			for _, score := range scores {
				short -= score.Score
				if score.Score > x[score.ID]+1e-10 {
					t.Errorf("%s, %v: node %d has %v, more than %v", name, d, score.ID, score.Score, x[score.ID])
				}
			}
			if math.Abs(short-bound) > 1e-10 {
				t.Errorf("%s, %v: values fall short by %v, bound %v", name, d, short, bound)
			}
		}
	}
}

func TestTop(t *testing.T) {
	g := graphtest.LFR2333().Graph(graph.Float32)
	s := solver(t, g, ppr.Options{Damping: .5})
	for _, set := range graphtest.Resets(g, 50, 9) {
		seeds := ppr.Uniform(set...)
		x, err := s.Solve(t.Context(), seeds, nil)
		if err != nil {
			t.Fatal(err)
		}
		top, err := s.Top(t.Context(), seeds, 20, 1e-9, nil)
		if err != nil {
			t.Fatal(err)
		}
		sorted := slices.Sorted(slices.Values(x))
		slices.Reverse(sorted)
		if len(top) != 20 {
			t.Fatalf("%d nodes, want 20", len(top))
		}
		for i, score := range top {
			if x[score.ID] < sorted[19]-1e-9 {
				t.Errorf("node %d (%.9f) has the place of one with %.9f", score.ID, x[score.ID], sorted[19])
			}
			if math.Abs(x[score.ID]-sorted[i]) > 1e-5 {
				t.Errorf("place %d is node %d (%.9f), want one with %.9f", i, score.ID, x[score.ID], sorted[i])
			}
		}
	}
	if top, err := s.Top(t.Context(), ppr.Uniform(0), 0, 0, nil); err != nil || len(top) != 0 {
		t.Errorf("top 0: %v, %v", top, err)
	}
}

// Where pushes would go through most of the graph again and again, the ranking is that of
// a solution, with the seeds that lead nowhere in it.
func TestTopOfDenseGraph(t *testing.T) {
	l := graphtest.Planted(20_000, 200_000, 20, .3, 1)
	g, err := graph.New(20_001, l.Edges, graph.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s := solver(t, g, ppr.Options{Damping: .95})
	seeds := append(ppr.Uniform(7, 11_000, 19_999), ppr.Seed{Node: 20_000, Weight: 2})
	exact, err := s.Solve(t.Context(), seeds, nil)
	if err != nil {
		t.Fatal(err)
	}
	var want []rank.Scored[int32]
	for u, x := range exact {
		want = append(want, rank.Scored[int32]{ID: int32(u), Score: x})
	}
	want = rank.Best(want, 50)
	got, err := s.Top(t.Context(), seeds, 50, 0, nil)
	if err != nil || len(got) != 50 {
		t.Fatal(len(got), err)
	}
	if !slices.ContainsFunc(got, func(x rank.Scored[int32]) bool { return x.ID == 20_000 }) {
		t.Error("the seed without an edge is missing")
	}
	least := want[49].Score
	for i, x := range got {
		if e := exact[x.ID]; e < least*(1-1e-3) || math.Abs(e-x.Score) > 1e-3*e {
			t.Errorf("place %d: node %d has %g, exactly %g; the last of the first 50 has %g", i, x.ID, x.Score, e, least)
		}
	}
}
