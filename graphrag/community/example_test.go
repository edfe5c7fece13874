// SPDX-License-Identifier: Apache-2.0

package community_test

import (
	"context"
	"fmt"

	"github.com/wildgraph/wildgraph/graphrag/community"
	"github.com/wildgraph/wildgraph/graphrag/graph"
)

// twoGroups are two squares with their diagonals, and an edge between them.
func twoGroups() *graph.Graph {
	g, err := graph.New(8, []graph.Edge{
		{From: 0, To: 1, Weight: 1}, {From: 0, To: 2, Weight: 1}, {From: 0, To: 3, Weight: 1},
		{From: 1, To: 2, Weight: 1}, {From: 1, To: 3, Weight: 1}, {From: 2, To: 3, Weight: 1},
		{From: 4, To: 5, Weight: 1}, {From: 4, To: 6, Weight: 1}, {From: 4, To: 7, Weight: 1},
		{From: 5, To: 6, Weight: 1}, {From: 5, To: 7, Weight: 1}, {From: 6, To: 7, Weight: 1},
		{From: 3, To: 4, Weight: 1},
	}, graph.Options{})
	if err != nil {
		panic(err)
	}
	return g
}

func ExampleLeiden() {
	p, err := community.Leiden(context.Background(), twoGroups(), community.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(p.Members())
	fmt.Printf("modularity %.4f\n", p.Quality)
	// Output:
	// [[0 1 2 3] [4 5 6 7]]
	// modularity 0.4231
}

func ExampleHierarchicalLeiden() {
	h, err := community.HierarchicalLeiden(context.Background(), twoGroups(), community.HierarchyOptions{MaxSize: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range h.Communities {
		if len(c.Children) == 0 {
			fmt.Println("level", c.Level, c.Nodes, "unsplittable:", c.Unsplittable)
		}
	}
	// Output:
	// level 0 [0 1 2 3] unsplittable: true
	// level 0 [4 5 6 7] unsplittable: true
}
