// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gonum.org/v1/gonum/graph/simple"
	"gonum.org/v1/gonum/graph/topo"

	"github.com/wildgraph/wildgraph/graphrag/graph"
	"github.com/wildgraph/wildgraph/graphrag/graphragtest"
	"github.com/wildgraph/wildgraph/internal/check"
)

func mustNew(t testing.TB, n int, edges []graph.Edge) *graph.Graph {
	t.Helper()
	return check.Of(graph.New(n, edges)).OK(t)
}

// arcs lists the rows of a graph as they are in memory.
func arcs(g *graph.Graph) [][]graph.Edge {
	rows := make([][]graph.Edge, g.N())
	for u := range int32(g.N()) {
		lo, hi := g.Row(u)
		for a := lo; a < hi; a++ {
			rows[u] = append(rows[u], graph.Edge{From: u, To: g.Targets()[a], Weight: g.Weight(a)})
		}
	}
	return rows
}

func TestParallelEdgesAddUp(t *testing.T) {
	g := mustNew(t, 4, []graph.Edge{{2, 1, .5}, {0, 1, 1}, {1, 2, 1.5}, {3, 3, 2}, {3, 3, 1}, {0, 2, 0}})
	want := [][]graph.Edge{
		{{0, 1, 1}, {0, 2, 0}},
		{{1, 0, 1}, {1, 2, 2}},
		{{2, 0, 0}, {2, 1, 2}},
		{{3, 3, 3}},
	}
	check.Equal(t, arcs(g), want, "rows")
	d, s := g.Degree(3), g.Strength(3)
	check.True(t, d == 2 && s == 6, "a self-loop of weight 3 has degree %d and strength %v, want 2 and 6", d, s)
}

// naive builds the graph by its definition, with a map.
func naive(n int, edges []graph.Edge) [][]graph.Edge {
	type pair struct{ u, v int32 }
	weights := map[pair][]float64{}
	add := func(u, v int32, w float64) {
		weights[pair{u, v}] = append(weights[pair{u, v}], w)
	}
	for _, e := range edges {
		add(e.From, e.To, e.Weight)
		if e.From != e.To {
			add(e.To, e.From, e.Weight)
		}
	}
	rows := make([][]graph.Edge, n)
	for k, ws := range weights {
		slices.Sort(ws)
		sum := 0.0
		for _, w := range ws {
			sum += w
		}
		rows[k.u] = append(rows[k.u], graph.Edge{From: k.u, To: k.v, Weight: sum})
	}
	for _, row := range rows {
		slices.SortFunc(row, func(a, b graph.Edge) int { return int(a.To - b.To) })
	}
	return rows
}

func TestAnyOrderGivesTheSameGraph(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 5, 40, 300} {
		edges := make([]graph.Edge, 2000)
		for i := range edges {
			// Node 0 becomes a hub with a long row.
			edges[i] = graph.Edge{From: rng.Int32N(int32(n)) * rng.Int32N(2), To: rng.Int32N(int32(n)), Weight: rng.ExpFloat64()}
		}
		want := naive(n, edges)
		for range 3 {
			rng.Shuffle(len(edges), func(i, j int) { edges[i], edges[j] = edges[j], edges[i] })
			for i, e := range edges {
				if rng.IntN(2) == 0 {
					edges[i] = graph.Edge{From: e.To, To: e.From, Weight: e.Weight}
				}
			}
			diff := cmp.Diff(want, arcs(mustNew(t, n, edges)))
			check.Must(t, diff == "", "%d nodes (-want +got):\n%s", n, diff)
		}
	}
}

func TestUnusableEdges(t *testing.T) {
	for name, c := range map[string]struct {
		n    int
		edge graph.Edge
	}{
		"node 3": {3, graph.Edge{From: 0, To: 3, Weight: 1}}, "node -1": {3, graph.Edge{From: -1, To: 1, Weight: 1}},
		"no nodes": {0, graph.Edge{}}, "negative": {3, graph.Edge{To: 1, Weight: -1}}, "NaN": {3, graph.Edge{To: 1, Weight: math.NaN()}},
		"infinite": {3, graph.Edge{To: 1, Weight: math.Inf(1)}},
	} {
		check.Is(t, check.Err(graph.New(c.n, []graph.Edge{c.edge})), graph.ErrEdge, "%s", name)
	}
	huge := []graph.Edge{{0, 1, math.MaxFloat64}, {1, 0, math.MaxFloat64}}
	check.Is(t, check.Err(graph.New(2, huge)), graph.ErrEdge, "a sum that overflows")
	check.True(t, check.Err(graph.New(-1, nil)) != nil, "-1 nodes were taken")
}

func TestStats(t *testing.T) {
	g := mustNew(t, 6, []graph.Edge{{0, 1, 1}, {1, 2, 1}, {1, 0, 1}, {3, 3, 1}})
	want := graph.Stats{Nodes: 6, Edges: 3, AverageDegree: 1, MaxDegree: 2, Isolated: 2, IsolatedShare: 2. / 6}
	check.Equal(t, g.Stats(), want, "stats")
	var zero graph.Graph
	diff := cmp.Diff(graph.Stats{}, zero.Stats())
	check.True(t, diff == "" && zero.N() == 0, "the zero graph has nodes: %s", diff)
	// Zachary's club: the member of most friendships has 17.
	s := graphragtest.Karate().Graph().Stats()
	check.True(t, s.Edges == 78 && s.MaxDegree == 17 && s.IsolatedShare == 0, "karate: %+v", s)
}

func TestComponents(t *testing.T) {
	g := mustNew(t, 7, []graph.Edge{{5, 1, 1}, {2, 6, 1}, {6, 4, 0}, {3, 3, 1}})
	component, count, err := g.Components(t.Context())
	check.OK(t, err)
	diff := cmp.Diff([]int32{0, 1, 2, 3, 2, 1, 2}, component)
	check.True(t, diff == "" && count == 4, "%d components (-want +got):\n%s", count, diff)
	l := graphragtest.Planted(2000, 1500, 100, .3, 5)
	g = l.Graph()
	other := simple.NewUndirectedGraph()
	for u := range g.N() {
		other.AddNode(simple.Node(u))
	}
	for e := range g.Edges() {
		if e.From != e.To {
			other.SetEdge(simple.Edge{F: simple.Node(e.From), T: simple.Node(e.To)})
		}
	}
	_, count, err = g.Components(t.Context())
	check.True(t, err == nil && count == len(topo.ConnectedComponents(other)), "%d components, gonum finds another number", count)
}

func TestComponentsLookAtTheContext(t *testing.T) {
	edges := make([]graph.Edge, 1<<17)
	for i := range edges {
		edges[i] = graph.Edge{From: int32(i), To: int32(i + 1), Weight: 1}
	}
	g := mustNew(t, len(edges)+1, edges)
	ctx := check.NewCountdown(3) // cancels at the third of 8 checks
	_, _, err := g.Components(ctx)
	check.True(t, errors.Is(err, context.Canceled) && ctx.Looks() <= 2, "%v after %d further looks", err, ctx.Looks())
}

// An edge list gives the same graph on any number of processors.
func TestProcessors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []struct{ nodes, edges int }{{1, 3}, {50, 400}, {3_000, 140_000}, {200_000, 140_000}, {300_000, 20}} {
		edges := make([]graph.Edge, size.edges)
		for i := range edges {
			u := rng.IntN(size.nodes)
			v := min(u+rng.IntN(1+size.nodes/4), size.nodes-1) // many parallel edges, and loops at the last node
			edges[i] = graph.Edge{From: int32(u), To: int32(v), Weight: rng.Float64()}
			if i%2 == 1 {
				edges[i].From, edges[i].To = edges[i].To, edges[i].From
			}
		}
		want := naive(size.nodes, edges)
		for _, procs := range []int{1, 2, 5} {
			runtime.GOMAXPROCS(procs)
			check.True(t, slices.EqualFunc(arcs(mustNew(t, size.nodes, edges)), want, slices.Equal[[]graph.Edge]),
				"%d nodes, %d edges, %d processors: not the graph of the definition", size.nodes, size.edges, procs)
		}
	}
}

// An error names the first invalid edge of a list; the weights of parallel edges must not overflow.
func TestListErrors(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(3))
	edges := make([]graph.Edge, 300_000)
	for i := range edges {
		edges[i] = graph.Edge{From: int32(i % 100_000), To: int32(i / 3), Weight: 1}
	}
	edges[7].Weight, edges[200_005].Weight = math.MaxFloat64, math.MaxFloat64
	edges[200_005].From, edges[200_005].To = edges[7].To, edges[7].From
	_, err := graph.New(100_000, edges)
	check.True(t, errors.Is(err, graph.ErrEdge) && strings.Contains(err.Error(), "edge 2–7:"), "too heavy together: %v", err)
	edges[150_000].To, edges[290_000].From = 100_000, -1
	_, err = graph.New(100_000, edges)
	check.True(t, errors.Is(err, graph.ErrEdge) && strings.Contains(err.Error(), "edge 150000:"), "unusable: %v", err)
}

// Nodes 1 to 3 are twins, joined by edges of one weight; 4 to 6 are twins without edges between them; 7 and 8
// have different weights, and 9 has a loop: these are none.
func twinEdges() []graph.Edge {
	var edges []graph.Edge
	join := func(u, v int32, w float64) { edges = append(edges, graph.Edge{From: u, To: v, Weight: w}) }
	for u := int32(1); u < 10; u++ {
		join(0, u, []float64{0, 2, 2, 2, 3, 3, 3, 1, 5, 3}[u])
		join(u, 10, 1)
	}
	join(1, 2, 4)
	join(1, 3, 4)
	join(2, 3, 4)
	join(7, 8, 1)
	join(9, 9, 1)
	return edges
}

func TestTwins(t *testing.T) {
	g := check.Of(graph.New(12, twinEdges())).OK(t)
	c := check.Of(g.Twins(t.Context())).OK(t)
	want := []int32{0, 1, 1, 1, 4, 4, 4, 7, 8, 9, 10, 11}
	check.Equal(t, c.First, want, "classes")
	check.True(t, c.Size[1] == 3 && c.Inside[1] == 4 && c.Size[4] == 3 && c.Inside[4] == 0, "sizes %v, weights inside %v", c.Size, c.Inside)
}

func Example() {
	g, err := graph.New(4, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: .5}, {From: 2, To: 1, Weight: .5}})
	if err != nil {
		panic(err)
	}
	s := g.Stats()
	fmt.Printf("%d nodes, %d edges, average degree %.1f, isolated %.2f\n", s.Nodes, s.Edges, s.AverageDegree, s.IsolatedShare)
	component, count, err := g.Components(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(count, "components", component)
	// Output:
	// 4 nodes, 2 edges, average degree 1.0, isolated 0.25
	// 2 components [0 0 0 1]
}

// Where was the builder of the Fram born? One edge is about the building, one about the birth; the path over
// both has the best score.
func ExampleFindPaths() {
	names := []string{"Fram", "Colin Archer", "Larvik", "Nansen"}
	const built, born = 1, 2
	said := map[[2]int32]uint64{{0, 1}: built, {1, 2}: born, {0, 3}: 0}
	var edges []graph.Edge
	for ends := range said {
		edges = append(edges, graph.Edge{From: ends[0], To: ends[1]})
	}
	g, err := graph.New(len(names), edges)
	if err != nil {
		panic(err)
	}
	like := graph.ArcScores{Scores: make([]float64, g.Arcs()), Parts: make([]uint64, g.Arcs()), Weights: []float64{.5, .5}}
	for u := range int32(len(names)) {
		lo, hi := g.Row(u)
		for a := lo; a < hi; a++ {
			v := g.Targets()[a]
			like.Parts[a] = said[[2]int32{min(u, v), max(u, v)}]
		}
	}
	paths, err := graph.FindPaths(context.Background(), g, []int32{0}, like, graph.PathOptions{Cost: .1})
	if err != nil {
		panic(err)
	}
	for _, p := range paths {
		fmt.Print(names[p.Start])
		for _, a := range p.Arcs {
			fmt.Print(" – ", names[g.Targets()[a]])
		}
		fmt.Printf("  %.1f\n", p.Score)
	}
	// Output:
	// Fram – Colin Archer – Larvik  0.8
	// Fram – Colin Archer  0.4
	// Fram – Nansen  -0.1
}

// The father of Stephen Curry, and when he started college: triples 1, 3 and 4.
func ExampleBeam() {
	triples := curry()
	chains, err := graph.Beam(context.Background(), triples, []int32{1}, graph.BeamOptions{Width: 2, Length: 3, Diversity: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range chains {
		fmt.Printf("%v %.3f\n", c.Triples, c.Score)
	}
	fmt.Println(graph.FlattenChains(chains))
	// Output:
	// [1 2 7] 1.221
	// [1 3 4] 0.922
	// [1 2 3 7 4]
}

// scored builds a graph in which each edge has its own score.
func scored(t testing.TB, n int, edges ...graph.Edge) (*graph.Graph, graph.ArcScores) {
	t.Helper()
	g := check.Of(graph.New(n, edges)).OK(t)
	return g, graph.ArcScores{Scores: g.Weights()}
}

// show writes paths as their nodes.
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
	// A triangle 0 1 2 with a tail 2 3 4, a component 5 6, and a chain 7 to 13.
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

// Each part of a question counts once: a path that covers both parts is better than one that covers the first
// part twice, although its arcs have lower scores; with a cost, the shorter of two paths that cover the same is
// better.
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
	// If two arcs are allowed, the second neighbour tried is the one that adds a part.
	paths, err = graph.FindPaths(t.Context(), g, []int32{0}, like, graph.PathOptions{MaxExpand: 2})
	got, want = show(g, paths), "0-1-3 1.15, 0-1 0.80"
	check.True(t, err == nil && got == want, "%s, %v, want %s", got, err, want)
}

// In any graph, a path contains no node twice and is not longer than the depth; if all are allowed, the paths
// are those of a complete enumeration.
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

// A hub of 100,000 neighbours, each with all others as neighbours, costs at most the bound, and both sides get
// a share of the arcs, so that they meet.
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
