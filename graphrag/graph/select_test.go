// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/internal/check"
)

// The worked example: a basketball player's family and team.
var (
	curryNodes = []float64{.80, .60, .35, .10, .30, .20, .05}
	curryEdges = []float64{.55, .70, .15, .70, .25, .15}
	curry      = []Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3}, {From: 0, To: 4}, {From: 0, To: 5}, {From: 5, To: 6}}
)

func TestSubgraphWorkedExample(t *testing.T) {
	for _, c := range []struct {
		name             string
		k, edgesK        int
		cost             float64
		prizes           []float64
		effective, worth float64
		nodes, edges     []int32
	}{
		{"row 1", 3, 3, .5, []float64{1.485, 1.5, 0, 1.5, 1, 0}, .5, 9.485, []int32{0, 1, 2, 4, 5}, []int32{0, 1, 3, 4}},
		{"row 2", 3, 5, .5, []float64{1.98, 2, .5, 2, 1.9602, .5}, .5, 11.9402, []int32{0, 1, 2, 4, 5}, []int32{0, 1, 3, 4}},
		{"row 3", 3, 0, .5, []float64{0, 0, 0, 0, 0, 0}, .5, 5, []int32{0, 1, 2}, []int32{0, 1}},
		{"row 4", 3, 3, 1, []float64{1.485, 1.5, 0, 1.5, 1, 0}, 1, 7.485, []int32{0, 1, 2, 4}, []int32{0, 1, 3}},
		{"row 5", 3, 3, 3, []float64{1.485, 1.5, 0, 1.5, 1, 0}, 1.4925, 6.0075, []int32{0, 1, 2, 4}, []int32{0, 1, 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nodes, edges := NodePrizes(curryNodes, c.k), EdgePrizes(curryEdges, c.edgesK)
			check.Equal(t, nodes, []float64{3, 2, 1, 0, 0, 0, 0}, "node prizes")
			for e := range edges {
				if math.Abs(edges[e]-c.prizes[e]) > 1e-9 {
					t.Errorf("edge prizes %v, want %v", edges, c.prizes)
					break
				}
			}
			cost := EdgeCost(c.cost, edges)
			check.True(t, math.Abs(cost-c.effective) <= 1e-12, "an edge costs %v, want %v", cost, c.effective)
			got := check.Of(Subgraph(t.Context(), curry, nodes, edges, c.cost)).OK(t)
			check.Equal(t, gocmp.Diff(&Selection{Nodes: c.nodes, Edges: c.edges}, got), "")
			w := worth(got, nodes, edges, cost)
			check.True(t, math.Abs(w-c.worth) <= 1e-9, "worth %v, want %v", w, c.worth)
			top := bestSelection(curry, nodes, edges, cost)
			check.True(t, math.Abs(top-c.worth) <= 1e-9, "the best of all is worth %v, want %v", top, c.worth)
		})
	}
}

func worth(s *Selection, nodes, edges []float64, cost float64) float64 {
	sum := 0.0
	for _, u := range s.Nodes {
		sum += nodes[u]
	}
	for _, e := range s.Edges {
		sum += edges[e] - cost
	}
	return sum
}

// bestSelection tries all connected sets of edges, and single nodes.
func bestSelection(list []Edge, nodes, edges []float64, cost float64) float64 {
	top := slices.Max(nodes)
	for set := 1; set < 1<<len(list); set++ {
		seen := make([]bool, len(nodes))
		var chosen Selection
		for e := range list {
			if set>>e&1 == 1 {
				chosen.Edges = append(chosen.Edges, int32(e))
			}
		}
		first := list[chosen.Edges[0]].From
		seen[first] = true
		for range list {
			for _, e := range chosen.Edges {
				if u, v := list[e].From, list[e].To; seen[u] || seen[v] {
					seen[u], seen[v] = true, true
				}
			}
		}
		connected := true
		for _, e := range chosen.Edges {
			connected = connected && seen[list[e].From]
		}
		for u, yes := range seen {
			if yes {
				chosen.Nodes = append(chosen.Nodes, int32(u))
			}
		}
		if connected {
			top = max(top, worth(&chosen, nodes, edges, cost))
		}
	}
	return top
}

// Parallel edges and loops: every selection is connected and its worth is at most the best one.
func TestSubgraphOfMultigraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 1))
	optimal, rounds := 0, 400
	for range rounds {
		n := 2 + rng.IntN(4)
		list := make([]Edge, 1+rng.IntN(9))
		nodes, edges := make([]float64, n), make([]float64, len(list))
		for e := range list {
			list[e] = Edge{From: int32(rng.IntN(n)), To: int32(rng.IntN(n))}
			if rng.IntN(2) == 0 && list[e].From != list[e].To {
				edges[e] = 2 * rng.Float64()
			}
		}
		for u := range nodes {
			nodes[u] = float64(rng.IntN(3))
		}
		nodes[0] = 1
		got := check.Of(Subgraph(t.Context(), list, nodes, edges, 1)).OK(t)
		cost := EdgeCost(1, edges)
		for _, e := range got.Edges {
			check.Must(t, slices.Contains(got.Nodes, list[e].From) && slices.Contains(got.Nodes, list[e].To) &&
				list[e].From != list[e].To, "edge %d of %v without its ends in %v", e, list, got.Nodes)
		}
		w, top := worth(got, nodes, edges, cost), bestSelection(list, nodes, edges, cost)
		check.Must(t, w <= top+1e-9, "worth %v, the best is %v: it does not hang together\n%v\n%v", w, top, list, got)
		if w > top-1e-9 {
			optimal++
		}
	}
	check.True(t, optimal >= rounds*9/10, "%d of %d are optimal, fewer than nine in ten", optimal, rounds)
}

func TestSubgraphWithoutPrizesIsEmpty(t *testing.T) {
	got, err := Subgraph(t.Context(), curry, NodePrizes(curryNodes, 0), EdgePrizes(curryEdges, 0), .5)
	check.True(t, err == nil && len(got.Nodes) == 0 && len(got.Edges) == 0, "%v %v", got, err)
}

// A node or edge without any similarity to the question has no prize, even if nothing else has one.
func TestNoPrizeForNothing(t *testing.T) {
	check.Equal(t, NodePrizes([]float64{0, .4, -.1, .5}, 3), []float64{0, 1, 0, 2})
	check.Equal(t, EdgePrizes([]float64{0, .4, .4, -.1}, 5), []float64{0, .5, .5, 0})
}

func TestNodePrizesTies(t *testing.T) {
	check.Equal(t, NodePrizes([]float64{.1, .5, .5, .5}, 2), []float64{0, 2, 1, 0})
	check.Equal(t, NodePrizes([]float64{.9, .2}, 5), []float64{2, 1}, "fewer nodes than prizes")
}

func TestSubgraphRefuses(t *testing.T) {
	for name, f := range map[string]func() error{
		"prizes": func() error { _, err := Subgraph(t.Context(), curry, curryNodes, nil, 1); return err },
		"cost": func() error {
			_, err := Subgraph(t.Context(), curry, curryNodes, curryEdges, math.NaN())
			return err
		},
		"edge prize": func() error {
			_, err := Subgraph(t.Context(), curry[:1], curryNodes, []float64{-1}, 1)
			return err
		},
		"edge": func() error {
			_, err := Subgraph(t.Context(), []Edge{{From: 0, To: 9}}, curryNodes, []float64{1}, 1)
			return err
		},
	} {
		check.True(t, f() != nil, "%s: no error", name)
	}
}

func ExampleSubgraph() {
	// The similarities of the nodes and edges of a small graph to a question.
	nodes := NodePrizes([]float64{.8, .6, .35, .1}, 2)
	edges := []Edge{{From: 0, To: 1}, {From: 1, To: 2}, {From: 2, To: 3}}
	s, err := Subgraph(context.Background(), edges, nodes, EdgePrizes([]float64{.1, .7, .2}, 1), .5)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("nodes", s.Nodes, "edges", s.Edges)
	// Output: nodes [0 1 2] edges [0 1]
}

// The order of edges equals a sort by their ends, and of edges between the same nodes the first one with the
// highest prize is kept.
func TestCheapest(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for range 200 {
		n := 1 + rng.IntN(12)
		edges, prizes, list := make([]Edge, rng.IntN(60)), make([]float64, 60), []int32(nil)
		for e := range edges {
			edges[e] = Edge{From: int32(rng.IntN(n)), To: int32(rng.IntN(n))}
			prizes[e] = float64(rng.IntN(3))
			if rng.IntN(5) > 0 {
				list = append(list, int32(e))
			}
		}
		ends := func(e int32) [2]int32 { return [2]int32{lower(edges[e]), upper(edges[e])} }
		want := slices.Clone(list)
		slices.SortFunc(want, func(a, b int32) int {
			u, v := ends(a), ends(b)
			return cmp.Or(slices.Compare(u[:], v[:]), cmp.Compare(prizes[b], prizes[a]), cmp.Compare(a, b))
		})
		want = slices.CompactFunc(want, func(a, b int32) bool { return ends(a) == ends(b) })
		got := cheapest(inOrder(list, edges, int32(n)), edges, prizes)
		check.Must(t, slices.Equal(got, want), "%v of %v with prizes %v, want %v", got, edges, prizes, want)
	}
}
