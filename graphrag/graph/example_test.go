// SPDX-License-Identifier: Apache-2.0

package graph_test

import (
	"context"
	"fmt"
	"log"

	"github.com/wildgraph/wildgraph/graphrag/graph"
)

func Example() {
	g, err := graph.New(4, []graph.Edge{{From: 0, To: 1, Weight: 1}, {From: 1, To: 2, Weight: .5}, {From: 2, To: 1, Weight: .5}}, graph.Options{})
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

// Where was the builder of the Fram born? One edge speaks of the building, one of the
// birth; the path over both is the best.
func ExampleFindPaths() {
	names := []string{"Fram", "Colin Archer", "Larvik", "Nansen"}
	const built, born = 1, 2
	said := map[[2]int32]uint64{{0, 1}: built, {1, 2}: born, {0, 3}: 0}
	var edges []graph.Edge
	for ends := range said {
		edges = append(edges, graph.Edge{From: ends[0], To: ends[1]})
	}
	g, err := graph.New(len(names), edges, graph.Options{Unweighted: true})
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
