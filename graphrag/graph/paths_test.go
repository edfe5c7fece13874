// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/internal/check"
)

// scored builds a graph whose edges weigh what they score.
func scored(t testing.TB, n int, edges ...graph.Edge) (*graph.Graph, graph.ArcScores) {
	t.Helper()
	g := check.Of(graph.New(n, edges, graph.Options{})).OK(t)
	return g, graph.ArcScores{Scores: g.Weights()}
}

// show writes paths as the nodes that they meet.
func show(g *graph.Graph, paths []graph.Path) string {
	var out []string
	for _, p := range paths {
		s := fmt.Sprint(p.Start)
		for _, a := range p.Arcs {
			s += fmt.Sprint("-", g.Targets()[a])
		}
		out = append(out, fmt.Sprintf("%s %.2f", s, p.Score))
	}
	return strings.Join(out, ", ")
}

func TestSearch(t *testing.T) {
	// A triangle 0 1 2 with a tail 2 3 4, an island 5 6, and a chain 7 to 13.
	g, like := scored(t, 14, graph.Edge{From: 0, To: 1, Weight: .5}, graph.Edge{From: 1, To: 2, Weight: .9}, graph.Edge{From: 0, To: 2, Weight: .1},
		graph.Edge{From: 2, To: 3, Weight: .4}, graph.Edge{From: 3, To: 4}, graph.Edge{From: 5, To: 6, Weight: 1}, graph.Edge{From: 0, To: 0, Weight: 9},
		graph.Edge{From: 7, To: 8, Weight: .1}, graph.Edge{From: 8, To: 9, Weight: .2}, graph.Edge{From: 9, To: 10, Weight: .3},
		graph.Edge{From: 10, To: 11, Weight: .4}, graph.Edge{From: 11, To: 12, Weight: .5}, graph.Edge{From: 12, To: 13, Weight: .6})
	for _, tt := range []struct {
		name   string
		starts []int32
		o      graph.PathOptions
		want   string
	}{
		{"one edge", []int32{0}, graph.PathOptions{Depth: 1}, "0-1 0.50, 0-2 0.10"},
		{"two edges, the mean of them", []int32{0}, graph.PathOptions{Depth: 2}, "0-1-2 0.70, 0-1 0.50, 0-2-1 0.50, 0-2-3 0.25, 0-2 0.10"},
		{"the best three", []int32{0}, graph.PathOptions{Depth: 5, MaxPaths: 3}, "0-1-2 0.70, 0-1-2-3 0.60, 0-1 0.50"},
		{"two starts, one twice", []int32{5, 4, 5}, graph.PathOptions{Depth: 2, MaxPaths: 3}, "5-6 1.00, 4-3-2 0.20, 4-3 0.00"},
		{"one neighbour of each", []int32{2}, graph.PathOptions{MaxNeighbors: 1}, "2-1 0.90"},
		{"two arcs in all", []int32{0}, graph.PathOptions{MaxExpand: 2}, "0-1 0.50, 0-2 0.10"},
		{"five edges of six", []int32{7}, graph.PathOptions{MaxPaths: 1}, "7-8-9-10-11-12 0.30"},
		{"no start", nil, graph.PathOptions{}, ""},
	} {
		paths, err := graph.FindPaths(t.Context(), g, tt.starts, like, tt.o)
		got := show(g, paths)
		check.True(t, err == nil && got == tt.want, "%s: %s, %v, want %s", tt.name, got, err, tt.want)
	}
}

// Parts of a question count once: of a way that says the first part twice and one that
// says both, the second is better, though its arcs score less; and with a cost the
// shorter one of two that say the same.
func TestParts(t *testing.T) {
	g, like := scored(t, 5, graph.Edge{From: 0, To: 1, Weight: .2}, graph.Edge{From: 1, To: 2, Weight: .2}, graph.Edge{From: 1, To: 3, Weight: .1}, graph.Edge{From: 3, To: 4})
	like.Parts, like.Weights = make([]uint64, g.Arcs()), []float64{.6, .4}
	for u := range int32(5) {
		lo, hi := g.Row(u)
		for a := lo; a < hi; a++ {
			if v := g.Targets()[a]; u+v == 1 || u+v == 3 {
				like.Parts[a] = 1
			} else if u+v == 4 {
				like.Parts[a] = 2
			}
		}
	}
	paths, err := graph.FindPaths(t.Context(), g, []int32{0}, like, graph.PathOptions{Cost: .05})
	got, want := show(g, paths), "0-1-3 1.05, 0-1-3-4 0.95, 0-1 0.75, 0-1-2 0.70"
	check.True(t, err == nil && got == want, "%s, %v, want %s", got, err, want)
	// With room for two arcs the second neighbour tried is the one that adds a part.
	paths, err = graph.FindPaths(t.Context(), g, []int32{0}, like, graph.PathOptions{MaxExpand: 2})
	got, want = show(g, paths), "0-1-3 1.15, 0-1 0.80"
	check.True(t, err == nil && got == want, "%s, %v, want %s", got, err, want)
}

// Whatever the graph, no path meets a node twice or is longer than the depth, and
// with room for all of them they are those of a plain enumeration.
func TestSearchProperties(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 4 + rng.IntN(5)
		var edges []graph.Edge
		for range 2 * n {
			edges = append(edges, graph.Edge{From: int32(rng.IntN(n)), To: int32(rng.IntN(n)), Weight: rng.Float64()})
		}
		g, like := scored(t, n, edges...)
		depth := 1 + rng.IntN(4)
		paths := check.Of(graph.FindPaths(t.Context(), g, []int32{0}, like, graph.PathOptions{Depth: depth, MaxPaths: 1 << 20, MaxExpand: 1 << 20})).OK(t)
		var count func(nodes []int32) int
		count = func(nodes []int32) (sum int) {
			if len(nodes) > depth {
				return 0
			}
			for _, v := range g.Neighbors(nodes[len(nodes)-1]) {
				if !slices.Contains(nodes, v) {
					sum += 1 + count(append(slices.Clone(nodes), v))
				}
			}
			return sum
		}
		check.Equal(t, len(paths), count([]int32{0}), "seed %d: %d paths", seed, len(paths))
		for _, p := range paths {
			nodes := []int32{p.Start}
			for _, a := range p.Arcs {
				lo, hi := g.Row(nodes[len(nodes)-1])
				if next := g.Targets()[a]; slices.Contains(nodes, next) || a < lo || a >= hi {
					t.Errorf("seed %d: %v with arc %d", seed, nodes, a)
				} else {
					nodes = append(nodes, next)
				}
			}
		}
	}
}

// A hub of 100,000 neighbours, each of which leads to all others through it, takes
// no more than the bound, and the arcs are shared out: both sides are met.
func TestHub(t *testing.T) {
	const leaves = 100_000
	edges := []graph.Edge{{From: 0, To: leaves + 1, Weight: .2}, {From: leaves + 1, To: leaves + 2, Weight: .8}}
	for v := int32(1); v <= leaves; v++ {
		edges = append(edges, graph.Edge{From: 0, To: v, Weight: .1 + float64(v)/leaves/10})
	}
	g, like := scored(t, leaves+3, edges...)
	paths, err := graph.FindPaths(t.Context(), g, []int32{0, leaves + 2}, like, graph.PathOptions{MaxPaths: 1 << 20})
	check.Must(t, err == nil && len(paths) <= 5000 && len(paths) >= 150, "%d paths, %v", len(paths), err)
	for i, want := range []string{fmt.Sprintf("%d-%d 0.80", leaves+2, leaves+1), fmt.Sprintf("0-%d-%d 0.50", leaves+1, leaves+2), fmt.Sprintf("%d-%d-0 0.50", leaves+2, leaves+1)} {
		check.Equal(t, show(g, paths[i:i+1]), want, "path %d", i)
	}
}

func TestBadInput(t *testing.T) {
	g, like := scored(t, 2, graph.Edge{From: 0, To: 1, Weight: 1})
	for want, err := range map[string]error{
		"start 2":  second(graph.FindPaths(t.Context(), g, []int32{2}, like, graph.PathOptions{})),
		"start -":  second(graph.FindPaths(t.Context(), g, []int32{-1}, like, graph.PathOptions{})),
		"1 score":  second(graph.FindPaths(t.Context(), g, nil, graph.ArcScores{Scores: like.Scores[:1]}, graph.PathOptions{})),
		"65 parts": second(graph.FindPaths(t.Context(), g, nil, graph.ArcScores{Scores: like.Scores, Weights: make([]float64, 65)}, graph.PathOptions{})),
		"3 parts":  second(graph.FindPaths(t.Context(), g, nil, graph.ArcScores{Scores: like.Scores, Parts: make([]uint64, 3)}, graph.PathOptions{})),
		"Depth":    second(graph.FindPaths(t.Context(), g, nil, like, graph.PathOptions{Depth: -1})),
	} {
		check.True(t, err != nil && strings.Contains(err.Error(), want), "%v, want …%s…", err, want)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(graph.FindPaths(ctx, g, []int32{0}, like, graph.PathOptions{})), context.Canceled, "cancelled")
}

func second[T any](_ T, err error) error { return err }
