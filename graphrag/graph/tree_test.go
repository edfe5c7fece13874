// SPDX-License-Identifier: Apache-2.0

package graph

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wildgraph/wildgraph/internal/check"
)

func build(t testing.TB, n int, edges []Edge) *Graph {
	t.Helper()
	return check.Of(New(n, edges)).OK(t)
}

// path returns the path 0-1-2-… with the given costs.
func path(costs ...float64) []Edge {
	var edges []Edge
	for i, c := range costs {
		edges = append(edges, Edge{From: int32(i), To: int32(i + 1), Weight: c})
	}
	return edges
}

// Facts from the tests of pcst_fast.
func TestSolverFacts(t *testing.T) {
	for _, c := range []struct {
		name   string
		edges  []Edge
		prizes []float64
		want   []int32
	}{
		{"path of four, strong pruning", path(.8, 1.8, 2.8), []float64{1, 1, 1, 1}, []int32{0, 1}},
		{"path of three", path(3, 4), []float64{0, 5, 6}, []int32{1, 2}},
		{"one rich node", path(100, 2), []float64{10, 3, 3}, []int32{0}},
	} {
		check.Equal(t, check.Of(FindTree(t.Context(), build(t, len(c.prizes), c.edges), c.prizes)).OK(t).Nodes, c.want, "%s", c.name)
	}
}

// best returns the highest worth of a tree by trying all sets of nodes: the cheapest tree of a set is a minimum
// spanning tree.
func best(n int, edges []Edge, prizes []float64) float64 {
	sorted := slices.Clone(edges)
	slices.SortFunc(sorted, func(a, b Edge) int {
		switch {
		case a.Weight < b.Weight:
			return -1
		case a.Weight > b.Weight:
			return 1
		}
		return 0
	})
	top := math.Inf(-1)
	group := make([]int32, n)
	for set := uint(1); set < 1<<n; set++ {
		worth, missing := 0.0, bits.OnesCount(set)-1
		for u := range n {
			group[u] = int32(u)
			if set>>u&1 == 1 {
				worth += prizes[u]
			}
		}
		for _, e := range sorted {
			if set>>e.From&1 == 0 || set>>e.To&1 == 0 || group[e.From] == group[e.To] {
				continue
			}
			worth -= e.Weight
			missing--
			from, to := group[e.From], group[e.To]
			for u := range group {
				if group[u] == from {
					group[u] = to
				}
			}
		}
		if missing == 0 {
			top = max(top, worth)
		}
	}
	return top
}

// checkTree checks that a result is a tree of the graph and that its sums are right.
func checkTree(t *testing.T, n int, edges []Edge, prizes []float64, got *Tree) {
	t.Helper()
	check.Must(t, len(got.Nodes) == len(got.Edges)+1 && slices.IsSorted(got.Nodes), "nodes %v, edges %v: no tree", got.Nodes, got.Edges)
	group := make([]int32, n)
	for u := range group {
		group[u] = int32(u)
	}
	prize, cost := 0.0, 0.0
	for _, e := range got.Edges {
		if !slices.Contains(edges, e) || !slices.Contains(got.Nodes, e.From) || !slices.Contains(got.Nodes, e.To) {
			t.Fatalf("edge %v is not of the graph, or its ends are not of the tree %v", e, got.Nodes)
		}
		cost += e.Weight
		from, to := group[e.From], group[e.To]
		check.Must(t, from != to, "edges %v: a cycle", got.Edges)
		for u := range group {
			if group[u] == from {
				group[u] = to
			}
		}
	}
	for _, u := range got.Nodes {
		prize += prizes[u]
	}
	check.Must(t, math.Abs(prize-got.Prize) <= 1e-9 && math.Abs(cost-got.Cost) <= 1e-9, "prize %v, cost %v, want %v and %v", got.Prize, got.Cost, prize, cost)
}

// compare compares a result with the best one: costs plus prizes left out are at most 2-1/(n-1) times the least
// possible.
func compare(t *testing.T, n int, edges []Edge, prizes []float64) (optimal bool) {
	t.Helper()
	got := check.Of(FindTree(t.Context(), build(t, n, edges), prizes)).OK(t)
	checkTree(t, n, edges, prizes, got)
	all := 0.0
	for _, p := range prizes {
		all += p
	}
	least := all - best(n, edges, prizes)
	ratio := 1.0
	if n > 2 {
		ratio = 2 - 1/float64(n-1)
	}
	if loss := all - (got.Prize - got.Cost); loss > ratio*least+1e-9 || loss < least-1e-9 {
		t.Fatalf("n=%d edges %v prizes %v: costs and prizes left out %v, the least is %v", n, edges, prizes, loss, least)
	} else {
		return loss <= least+1e-9
	}
	return false
}

// All graphs of up to four nodes with costs of 1 and 2, and several prizes.
func TestGuaranteeOnAllSmallGraphs(t *testing.T) {
	for n := 1; n <= 4; n++ {
		var pairs []Edge
		for u := range n {
			for v := range u {
				pairs = append(pairs, Edge{From: int32(v), To: int32(u)})
			}
		}
		for code := range pow(3, len(pairs)) {
			var edges []Edge
			for i, rest := 0, code; i < len(pairs); i, rest = i+1, rest/3 {
				if rest%3 > 0 {
					edges = append(edges, Edge{From: pairs[i].From, To: pairs[i].To, Weight: float64(rest % 3)})
				}
			}
			for worth := range pow(3, n) {
				prizes := make([]float64, n)
				for u, rest := 0, worth; u < n; u, rest = u+1, rest/3 {
					prizes[u] = []float64{0, .7, 1.5}[rest%3]
				}
				compare(t, n, edges, prizes)
			}
		}
	}
}

func pow(base, exponent int) int {
	p := 1
	for range exponent {
		p *= base
	}
	return p
}

func TestGuaranteeOnRandomGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 1))
	optimal, all := 0, 0
	for range 6000 {
		n := 2 + rng.IntN(7)
		density, whole := rng.Float64(), rng.IntN(2) == 0
		number := func(top float64) float64 {
			if whole { // whole numbers give many ties
				return float64(rng.IntN(int(top) + 1))
			}
			return top * rng.Float64()
		}
		var edges []Edge
		for u := range n {
			for v := range u {
				if rng.Float64() < density {
					edges = append(edges, Edge{From: int32(v), To: int32(u), Weight: number(5)})
				}
			}
		}
		prizes := make([]float64, n)
		for u := range prizes {
			if rng.IntN(3) > 0 {
				prizes[u] = number(4)
			}
		}
		all++
		if compare(t, n, edges, prizes) {
			optimal++
		}
	}
	check.True(t, optimal >= all*9/10, "%d of %d are optimal, fewer than nine in ten", optimal, all)
}

// The moats solve the dual linear program, so their sum is a lower bound, by which the guarantee is checked on
// graphs too large for other methods.
func TestGuaranteeOnLargeGraphs(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 2))
	for _, every := range []int{1, 3, 40} {
		for _, whole := range []bool{false, true} {
			const n, m = 2000, 7000
			list := make([]Edge, m)
			for i := range list {
				list[i] = Edge{From: int32(rng.IntN(n)), To: int32(rng.IntN(n)), Weight: .1 + rng.Float64()}
				if whole {
					list[i].Weight = float64(1 + rng.IntN(3))
				}
			}
			prizes := make([]float64, n)
			for u := 0; u < n; u += every {
				prizes[u] = 1.5 * rng.Float64() * float64(1+rng.IntN(every))
			}
			grown := check.Of(grow(t.Context(), build(t, n, list), prizes)).OK(t)
			dual := 0.0
			for _, c := range grown.clusters {
				dual += c.end - c.start
			}
			got := check.Of(prune(t.Context(), grown.forest, prizes)).OK(t)
			checkTree(t, n, grown.edges, prizes, got)
			loss := got.Cost - got.Prize
			for _, p := range prizes {
				loss += p
			}
			check.True(t, loss >= dual-1e-6 && loss <= (2-1/float64(n-1))*dual+1e-6,
				"prizes at every %d, whole numbers %t: costs and prizes left out %v, the moats %v", every, whole, loss, dual)
			check.True(t, len(got.Nodes) >= 3, "prizes at every %d: only %d nodes", every, len(got.Nodes))
		}
	}
}

func TestDegenerateGraphs(t *testing.T) {
	empty, err := FindTree(t.Context(), build(t, 0, nil), nil)
	check.True(t, err == nil && len(empty.Nodes) == 0, "no nodes: %v %v", empty, err)
	loop, err := FindTree(t.Context(), build(t, 1, []Edge{{From: 0, To: 0, Weight: 1}}), []float64{0})
	check.True(t, err == nil && cmp.Diff(&Tree{Nodes: []int32{0}}, loop) == "", "one node with a loop: %v %v", loop, err)
	apart, err := FindTree(t.Context(), build(t, 3, nil), []float64{1, 3, 3})
	check.True(t, err == nil && cmp.Diff(&Tree{Nodes: []int32{1}, Prize: 3}, apart) == "", "no edges: %v %v", apart, err)
	free, err := FindTree(t.Context(), build(t, 3, path(0, 0)), []float64{1, 0, 1})
	check.True(t, err == nil && free.Prize-free.Cost == 2 && len(free.Nodes) == 3, "edges for nothing: %v %v", free, err)
	large, err := FindTree(t.Context(), build(t, 2, path(math.MaxFloat64)), []float64{1e300, 1e307})
	check.True(t, err == nil && slices.Equal(large.Nodes, []int32{1}), "large numbers: %v %v", large, err)
}

func TestFindRefuses(t *testing.T) {
	g := build(t, 2, path(1))
	for _, c := range []struct {
		prizes []float64
		want   string
	}{
		{[]float64{1}, "1 prizes for 2 nodes"},
		{[]float64{1, -1}, "node 1 has the prize -1"},
		{[]float64{math.NaN(), 1}, "node 0 has the prize NaN"},
		{[]float64{1, math.Inf(1)}, "node 1 has the prize +Inf"},
		{[]float64{math.MaxFloat64, math.MaxFloat64}, "scale prizes"},
	} {
		check.Fails(t, check.Err(FindTree(t.Context(), g, c.prizes)), c.want)
	}
	check.Is(t, check.Err(FindTree(t.Context(), g, []float64{1, -1})), ErrPrize)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	check.Is(t, check.Err(FindTree(ctx, g, []float64{1, 1})), context.Canceled)
}

func ExampleFindTree() {
	// Two nodes with high prizes and one with a low prize between them, and one too far away.
	g, err := New(4, []Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: 1}, {From: 2, To: 3, Weight: 5}})
	if err != nil {
		fmt.Println(err)
		return
	}
	t, err := FindTree(context.Background(), g, []float64{3, 0, 3, 2})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(t.Nodes, t.Prize, t.Cost)
	// Output: [0 1 2] 6 2
}

// Costs near 0 end in finite time; sums that overflow a float64 are refused.
func TestExtremeNumbers(t *testing.T) {
	least := math.SmallestNonzeroFloat64
	for _, cost := range []float64{least, 3 * least, 1e-310} {
		got, err := FindTree(t.Context(), build(t, 3, path(cost, cost)), []float64{1, 0, 1})
		check.True(t, err == nil && len(got.Nodes) == 3, "a cost of %g: %v, %v", cost, got, err)
		got, err = FindTree(t.Context(), build(t, 3, path(cost, cost)), []float64{least, least, least})
		check.True(t, err == nil && len(got.Nodes) != 0, "a cost of %g and tiny prizes: %v, %v", cost, got, err)
	}
	got, err := FindTree(t.Context(), build(t, 3, path(1e307, math.MaxFloat64)), []float64{2e307, 2e307, 1})
	check.True(t, err == nil && len(got.Nodes) == 2, "great costs: %v, %v", got, err)
	check.Is(t, check.Err(FindTree(t.Context(), build(t, 2, path(1)), []float64{1e308, 0})), ErrPrize, "prizes of 1e308")
}

func TestFindLooksAtTheContext(t *testing.T) {
	costs := make([]float64, 1<<17)
	prizes := make([]float64, len(costs)+1)
	for i := range costs {
		costs[i], prizes[i] = 1, float64(i%3)
	}
	g := build(t, len(prizes), path(costs...))
	for looks := 0; looks < 128; looks += 12 {
		ctx := check.NewCountdown(looks)
		_, err := FindTree(ctx, g, prizes)
		check.Must(t, errors.Is(err, context.Canceled) && ctx.Looks() <= 64, "%d looks: %v after %d further looks", looks, err, ctx.Looks())
	}
}

// A cluster stops growing when it has all prizes it can reach, and two prizes whose union is worth as much as
// one of them are not joined, whatever the numbers of the nodes.
func TestNoMoreThanPays(t *testing.T) {
	costs, prizes := make([]float64, 1000), make([]float64, 1001)
	for i := range costs {
		costs[i] = 1
	}
	prizes[500], prizes[502] = 900, 900
	grown, err := grow(t.Context(), build(t, len(prizes), path(costs...)), prizes)
	check.True(t, err == nil && len(grown.forest) <= 4, "%d edges for two prizes two apart, %v", len(grown.forest), err)
	star := build(t, 3, []Edge{{From: 0, To: 1, Weight: 1}, {From: 0, To: 2, Weight: 1}})
	got, err := FindTree(t.Context(), star, []float64{0, 2, 2})
	check.True(t, err == nil && slices.Equal(got.Nodes, []int32{1}), "got %v, %v", got, err)
}
